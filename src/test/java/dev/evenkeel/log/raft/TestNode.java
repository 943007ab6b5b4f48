package dev.evenkeel.log.raft;

import static org.awaitility.Awaitility.await;

import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A log node with states on disk, for tests: {@code <home>/log}, {@code <home>/live/<group>} and
 * {@code <home>/bodies/<group>}.
 */
final class TestNode implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  final Map<String, RocksState> states = new ConcurrentHashMap<>();
  final RaftLogNode node;
  private final Path directory;
  private final RocksShared shared = new RocksShared();

  /** A new node of several starts as if all had agreed before. */
  TestNode(LogSettings settings, Path live) throws LogStartException {
    this(settings, live, TestLines.of(settings.peers()).line(settings.nodeId()));
  }

  TestNode(LogSettings settings, Path live, TestLines.Line line) throws LogStartException {
    directory = settings.directory();
    if (!line.asksOthers() && settings.peers().size() > 1) {
      agree(settings);
    }
    try {
      node =
          RaftLogNode.start(
              settings,
              group -> states.computeIfAbsent(group, g -> new RocksState(live.resolve(g), shared)),
              line);
    } catch (InterruptedException e) {
      shared.close();
      throw new AssertionError(e);
    } catch (LogStartException | RuntimeException e) {
      shared.close();
      throw e;
    }
  }

  static void agree(LogSettings settings) {
    List<String> peers = ClusterFile.ids(settings);
    try {
      if (Files.exists(settings.directory().resolve(ClusterFile.NAME))) {
        return;
      }
      Files.createDirectories(settings.directory());
      new ClusterFile(
              new NodeInfo(
                  settings.nodeId(),
                  "0a",
                  NodeInfo.Stage.OPENING,
                  UUID.nameUUIDFromBytes(peers.toString().getBytes(StandardCharsets.UTF_8))
                      .toString(),
                  peers.stream().map(peer -> VoterId.of(peer, "0a")).toList(),
                  peers,
                  ClusterFile.dataGroups(settings)))
          .write(settings.directory());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A lone node with one data group. */
  static TestNode alone(Path home, int port) throws LogStartException {
    return new TestNode(settings("a", home, List.of(peer("a", port)), 1, 1_000_000), live(home));
  }

  static Path live(Path home) {
    return home.resolve("live");
  }

  static LogSettings settings(
      String id, Path home, List<LogSettings.Peer> peers, int dataGroups, long snapshotEvery) {
    return new LogSettings(
        id, home.resolve("log"), peers, dataGroups, snapshotEvery, 1L << 40, 1L << 40);
  }

  static LogSettings.Peer peer(String id, int port) {
    return new LogSettings.Peer(id, "localhost", port);
  }

  static int freePort() {
    return TestPorts.take(1);
  }

  /** Waits for a leader of d0 that is ready, and returns its id. */
  static String leader(Map<String, TestNode> nodes) {
    return await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(
            () ->
                nodes.keySet().stream()
                    .filter(id -> nodes.get(id).d0().leadership().ready())
                    .findFirst()
                    .orElse(null),
            Objects::nonNull);
  }

  TestNode awaitReady() {
    Wait.until(() -> node.meta().leadership().ready());
    node.data().forEach(group -> Wait.until(() -> group.leadership().ready()));
    return this;
  }

  LogGroup d0() {
    return node.data().get(0);
  }

  RocksState state(String group) {
    return states.get(group);
  }

  /** Where the engine keeps the log and the snapshots of a group. */
  Path groupDirectory(String group) {
    return directory.resolve("raft").resolve(log(group).id().getUuid().toString());
  }

  RaftLogGroup log(String group) {
    return node.groups().stream().filter(log -> log.name().equals(group)).findFirst().orElseThrow();
  }

  /**
   * Takes snapshots until the log of d0 begins behind that entry. The engine drops what a snapshot
   * covers only after it has told of the snapshot.
   */
  void purgeBehind(long index) {
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(
            () -> {
              d0().copy().snapshot().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
              return DurableFiles.list(groupDirectory("d0").resolve("current")).stream()
                  .map(file -> SEGMENT.matcher(file.getFileName().toString()))
                  .filter(Matcher::matches)
                  .allMatch(segment -> Long.parseLong(segment.group(1)) > index);
            });
  }

  /** Appends a text, one half as the head and the other as the body; one of a letter has none. */
  static CompletableFuture<ByteBuffer> append(LogGroup group, String text) {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    int half = (bytes.remaining() + 1) / 2;
    int rest = bytes.remaining() - half;
    ByteBuffer head =
        ByteBuffer.allocate(1 + half).put(rest == 0 ? RocksState.ALONE : RocksState.WITH_BODY);
    head.put(bytes.slice(0, half)).flip();
    // In two parts, of which the engine may make one.
    return group.append(
        head,
        rest == 0
            ? List.of()
            : List.of(bytes.slice(half, rest / 2), bytes.slice(half + rest / 2, rest - rest / 2)));
  }

  /** What a request is refused with, or null if it is not. */
  static RefusedException refused(CompletableFuture<?> answer) {
    try {
      answer.get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return (RefusedException) Refusals.unwrap(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }

  @Override
  public void close() {
    node.close();
    shared.close();
  }
}
