package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a node must not start with. After each refusal the directory can be opened again. */
class StartRefusalTest {
  private static final int ENTRIES = 20;

  private static final int PORT = TestNode.freePort();

  @TempDir static Path used;
  private static Path groupInUsed;

  @TempDir Path home;
  private final int port = PORT;
  private Path groupDirectory;
  private boolean untouched = true;

  @BeforeAll
  static void aNodeThatWasUsed() throws Exception {
    try (TestNode node = TestNode.alone(used, PORT).awaitReady()) {
      times(ENTRIES, i -> TestNode.append(node.d0(), "entry " + i).get());
      groupInUsed = used.toAbsolutePath().relativize(node.groupDirectory("d0"));
    }
  }

  @BeforeEach
  void itsDirectory() throws Exception {
    each(List.of("log", "live", "bodies"), part -> copy(used.resolve(part), home.resolve(part)));
    groupDirectory = home.resolve(groupInUsed);
  }

  @Test
  void anotherNodeId() throws Exception {
    assertThat(refused(settings("b", List.of(TestNode.peer("b", port)), 0)))
        .contains("belongs to node 'a'")
        .contains("start it as node a");
  }

  @Test
  void anotherSetOfPeers() throws Exception {
    assertThat(refused(settings("a", List.of(TestNode.peer("a", port), TestNode.peer("b", 1)), 0)))
        .contains("cluster of the nodes [a], not of [a, b]");
  }

  @Test
  void anotherNumberOfDataGroups() throws Exception {
    assertThat(refused(settings("a", List.of(TestNode.peer("a", port)), 7)))
        .contains("was made with 1 data groups, not 7");
  }

  @Test
  void aNodeThatIsNotAmongItsPeers() throws Exception {
    assertThat(refused(settings("c", List.of(TestNode.peer("a", port)), 0)))
        .contains("'c', is not in the list of peers");
  }

  @Test
  void aBusyPort() throws Exception {
    try (ServerSocket busy = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      assertThat(busy.isBound()).isTrue();
      assertThat(refusedAlone()).contains("port " + port).contains("another port");
    }
  }

  @Test
  void aDirectoryInUse() throws Exception {
    try (TestNode first = TestNode.alone(home, port)) {
      LogSettings second = settings("a", List.of(TestNode.peer("a", TestNode.freePort())), 0);
      String message =
          catchThrowableOfType(
                  LogStartException.class, () -> new TestNode(second, home.resolve("other-live")))
              .getMessage();
      assertThat(message).contains("in use by another process").contains("another data directory");
      first.awaitReady();
    }
  }

  @Test
  void aMissingGroup() throws Exception {
    DurableFiles.deleteTree(groupDirectory);
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("is missing");
    assertThat(groupDirectory).doesNotExist();
  }

  @Test
  void anEmptyGroup() throws Exception {
    DurableFiles.deleteTree(groupDirectory);
    Files.createDirectories(groupDirectory);
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("is empty");
  }

  @Test
  void aLogWithoutItsFiles() throws Exception {
    for (Path file : DurableFiles.list(groupDirectory.resolve("current"))) {
      if (file.getFileName().toString().startsWith("log_")) {
        Files.delete(file);
      }
    }
    DurableFiles.deleteTree(groupDirectory.resolve("sm"));
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("no log file");
  }

  @Test
  void aLogThatEndsBeforeItsState() throws Exception {
    Path before = home.resolve("before");
    copy(groupDirectory, before);
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      TestNode.append(node.d0(), "not in the old copy of the log").get();
    }
    DurableFiles.deleteTree(groupDirectory);
    Files.move(before, groupDirectory);
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("had been written to disk");
  }

  /** Without the mark, the engine would take it for a write that a crash had torn. */
  @Test
  void aLogThatIsCutOff() throws Exception {
    Path marks = home.resolve("log").resolve("applied");
    Path snapshots = home.resolve("snapshots");
    copy(groupDirectory.resolve("sm"), snapshots);
    try (TestNode node = TestNode.alone(home, port).awaitReady()) {
      TestNode.append(node.d0(), "the entry to lose").get();
      String reached = " " + node.state("d0").appliedIndex();
      Wait.until(
          () ->
              Files.exists(marks)
                  && Files.readAllLines(marks).stream()
                      .anyMatch(line -> line.startsWith("d0 ") && line.endsWith(reached)));
    }
    List<Path> segments =
        DurableFiles.list(groupDirectory.resolve("current")).stream()
            .filter(f -> f.getFileName().toString().startsWith("log_"))
            .toList();
    for (Path segment : segments) {
      int at =
          indexOf(
              Files.readAllBytes(segment),
              "the entry".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      if (at >= 0) {
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
          channel.truncate(at);
        }
      }
    }
    // As if killed: no snapshot taken when it stopped, no live state. Only the mark can tell.
    DurableFiles.deleteTree(groupDirectory.resolve("sm"));
    Files.move(snapshots, groupDirectory.resolve("sm"));
    DurableFiles.deleteTree(TestNode.live(home));
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("had been written to disk");
  }

  @Test
  void aDamagedEntry() throws Exception {
    DurableFiles.deleteTree(groupDirectory.resolve("sm"));
    Path segment =
        DurableFiles.list(groupDirectory.resolve("current")).stream()
            .filter(f -> f.getFileName().toString().startsWith("log_"))
            .findFirst()
            .orElseThrow();
    byte[] content = Files.readAllBytes(segment);
    int at = indexOf(content, "entr".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThat(at).isNotNegative();
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {'E'}), at);
    }
    untouched = false;
    assertThat(refusedAlone()).contains("group 'd0'").contains("had been written to disk");
  }

  @Test
  void logsWithoutTheFileThatTellsWhoseTheyAre() throws Exception {
    Files.delete(home.resolve("log").resolve(ClusterFile.NAME));
    untouched = false;
    assertThat(refusedAlone()).contains("does not belong to this cluster");
  }

  @Test
  void anUnreadableClusterFile() throws Exception {
    Files.writeString(home.resolve("log").resolve(ClusterFile.NAME), "{\"format\": 3}");
    untouched = false;
    assertThat(refusedAlone()).contains("cluster.json").contains("clusterId");
  }

  @Test
  void aClusterFileOfAnotherFormat() throws Exception {
    Path file = home.resolve("log").resolve(ClusterFile.NAME);
    String written = Files.readString(file);
    untouched = false;
    for (int format : new int[] {2, 4}) {
      Files.writeString(file, written.replace("\"format\": 3", "\"format\": " + format));
      assertThat(refusedAlone()).contains("format " + format).contains("reads format 3 only");
    }
  }

  @org.junit.jupiter.api.AfterEach
  void theDirectoryWasNotTouched() throws Exception {
    if (untouched) {
      try (TestNode node = TestNode.alone(home, port).awaitReady()) {
        assertThat(node.state("d0").entries()).hasSizeGreaterThanOrEqualTo(ENTRIES);
      }
    }
  }

  private LogSettings settings(String id, List<LogSettings.Peer> peers, int dataGroups) {
    return TestNode.settings(id, home, peers, dataGroups, 1_000_000);
  }

  private String refusedAlone() throws IOException {
    return refused(settings("a", List.of(TestNode.peer("a", port)), 0));
  }

  private String refused(LogSettings settings) throws IOException {
    LogStartException refusal =
        catchThrowableOfType(
            LogStartException.class, () -> new TestNode(settings, TestNode.live(home)).close());
    assertThat(refusal).isNotNull();
    assertThat(refusal.getMessage()).doesNotContain("\n");
    return refusal.getMessage();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      each(paths.toList(), path -> Files.copy(path, to.resolve(from.relativize(path))));
    }
  }

  private static int indexOf(byte[] content, byte[] text) {
    for (int i = 0; i <= content.length - text.length; i++) {
      if (java.util.Arrays.equals(content, i, i + text.length, text, 0, text.length)) {
        return i;
      }
    }
    return -1;
  }
}
