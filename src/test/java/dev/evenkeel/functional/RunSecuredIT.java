package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.cli.CommandInJvm;
import io.vertx.core.json.JsonObject;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code evenkeel run} with a cluster that has users and certificates. */
class RunSecuredIT {
  private static final Path NODES = TestCertificates.OURS.resolve("nodes");
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");
  private static final String CA = CLIENTS.resolve("ca.crt").toString();
  private static final String VERTICLE = "examples.GreetingVerticle";
  private static final String TESTS = Path.of("target/test-classes").toAbsolutePath().toString();

  @TempDir Path directory;

  private Path user(String name, String may) throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String users = directory.resolve("users.json").toString();
    assertThat(CommandInJvm.run(out, err, "user", "add", users, name, "--may", may)).isZero();
    return Files.writeString(directory.resolve(name), out.toString());
  }

  private Node node(String name, String... more) {
    return new Node(directory.resolve(name))
        .with("--tls", CLIENTS.toString(), "--peer-tls", NODES.resolve("n1").toString())
        .with("--users", directory.resolve("users.json").toString())
        .with(more);
  }

  private Jar.Running run(Node node, String name, String... more) throws Exception {
    Path conf = directory.resolve("greeting.json");
    Files.writeString(conf, new JsonObject().put("text", "hello").encode());
    List<String> args = new ArrayList<>(List.of("run", VERTICLE, "--classpath", TESTS));
    args.addAll(List.of("--conf", conf.toString(), "--cluster", node.cluster()));
    args.addAll(List.of(more));
    return Jar.start(directory, name, args.toArray(String[]::new));
  }

  private static void greets(Jar.Running running) {
    Wait.until(
        "greeted", () -> running.out().contains("evenkeel running") || !running.process.isAlive());
    assertThat(running.out()).as(running.err()).contains("greeted at offset");
    running.stopWell();
  }

  private static void fails(Jar.Running running, String... expected) {
    Jar.Result ended = running.await();
    assertThat(ended.status()).as(ended.toString()).isEqualTo(1);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).contains(expected).doesNotContain("\tat ");
  }

  /** Who the program is says what it may do; a member of the event bus is trusted like a node. */
  @Test
  void aSessionIsAUserAndAMemberHasACertificate() throws Exception {
    Path operator = user("operator", "view:*,admin:*");
    Path shop = user("shop", "produce:greetings,view:*");
    Path other = user("other", "produce:others,view:*");
    try (Node node = node("open", "--allow-bus-members").start()) {
      String url = node.url().replace("http:", "https:");
      StringWriter out = new StringWriter();
      String[] create = {
        "topic",
        "create",
        "greetings",
        "--shards",
        "1",
        "--http",
        url,
        "--ca",
        CA,
        "--token-file",
        operator.toString()
      };
      assertThat(CommandInJvm.run(out, out, create)).as(out.toString()).isZero();

      try (Jar.Running running = run(node, "shop", "--ca", CA, "--token-file", shop.toString())) {
        greets(running);
      }
      String[] foreign = {"--ca", CA, "--token-file", other.toString()};
      try (Jar.Running running = run(node, "other", foreign)) {
        fails(
            running,
            "evenkeel run: cannot deploy " + VERTICLE,
            "the user 'other' needs the permission produce:greetings");
      }
      String certificate = NODES.resolve("n2").toString();
      try (Jar.Running running = run(node, "member", "--member", "--peer-tls", certificate)) {
        greets(running);
      }
      try (Jar.Running running = run(node, "bare", "--member")) {
        fails(running, "if nodes have --peer-tls, give --peer-tls DIR, too");
      }
      String stranger = TestCertificates.FOREIGN.resolve("nodes/n2").toString();
      try (Jar.Running running = run(node, "stranger", "--member", "--peer-tls", stranger)) {
        fails(running, "the nodes need --allow-bus-members");
      }
    }
  }
}
