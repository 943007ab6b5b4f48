package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that dies, or whose disk does, loses nothing that it has acknowledged. */
class CrashTest {
  /** The log from its beginning, and then behind one snapshot and more. */
  private static final int ROUNDS = Math.max(5, 3 * Integer.getInteger("evenkeel.rounds", 1));

  @TempDir Path temp;
  private final int port = TestNode.freePort();

  @Test
  @Tag("full")
  void killedUnderLoadItHasEverythingAcknowledgedAfterwards() throws Exception {
    Path home = temp.resolve("home");
    List<String> acknowledged = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      try (ForkedNode forked = new ForkedNode(home, port, "r" + round, List.of())) {
        int enough = 100 + 300 * (round % 4);
        Wait.until(() -> forked.acknowledged().size() >= enough);
        forked.kill();
        acknowledged.addAll(forked.acknowledged());
      }
      try (TestNode node = TestNode.alone(home, port).awaitReady()) {
        assertNothingMissing(acknowledged, node);
        if (round % 2 == 0) {
          node.d0().copy().snapshot().get();
        }
      }
    }
  }

  @Test
  void aDiskThatCannotWriteIsNeverTakenForOneThatDid() throws Exception {
    Path home = temp.resolve("home");
    Path flag = temp.resolve("fail");
    var options = List.of("-javaagent:" + agent(), "-D" + FailingForceAgent.FLAG + "=" + flag);
    List<String> acknowledged;
    try (ForkedNode forked = new ForkedNode(home, port, "f", options)) {
      Wait.until(() -> forked.acknowledged().size() >= 300);
      Files.createFile(flag);
      assertThat(forked.process.waitFor(TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(forked.await()).isEqualTo(3);
      acknowledged = forked.acknowledged();
      List<String> lines = forked.lines();
      List<String> refused = lines.stream().filter(line -> line.startsWith("refused")).toList();
      assertThat(refused).isNotEmpty();
      // What was under way when the disk failed may have got there; what came later did not.
      assertThat(refused).anyMatch(line -> line.endsWith("INDETERMINATE"));
      assertThat(refused)
          .allMatch(line -> line.endsWith("INDETERMINATE") || line.endsWith("UNAVAILABLE"));
      String last = lines.get(lines.size() - 1);
      assertThat(last).startsWith("failed").contains("injected").endsWith("ready=false");
    }
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      assertNothingMissing(acknowledged, node);
      TestNode.append(node.d0(), "and on").get();
    }
  }

  private static void assertNothingMissing(List<String> acknowledged, TestNode node) {
    List<String> missing = new ArrayList<>(acknowledged);
    missing.removeAll(entriesOf(node));
    assertThat(missing).isEmpty();
  }

  private static Set<String> entriesOf(TestNode node) {
    Set<String> names = new HashSet<>();
    for (String entry : node.state("d0").entries()) {
      String[] parts = entry.split("-");
      if (parts.length >= 2) {
        assertThat(names.add(parts[0] + "-" + parts[1])).as("%s only once", entry).isTrue();
      }
    }
    return names;
  }

  /** A jar with nothing but a manifest: the agent's class is on the class path. */
  private Path agent() throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", FailingForceAgent.class.getName());
    manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    Path jar = temp.resolve("agent.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream agent = new JarOutputStream(out, manifest)) {
      agent.finish();
    }
    return jar;
  }
}
