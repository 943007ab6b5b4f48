package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The nodes a, b and c of a cluster with one data group, each of which a test starts and stops. */
final class ThreeTestNodes implements AutoCloseable {
  static final List<String> IDS = List.of("a", "b", "c");

  /** Those that run. A test that stops one takes it out. */
  final Map<String, TestNode> running = new TreeMap<>();

  private final Supplier<Path> homes;
  private final List<LogSettings.Peer> peers =
      IDS.stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();

  /**
   * @param homes the directory of the directories of the nodes
   */
  ThreeTestNodes(Supplier<Path> homes) {
    this.homes = homes;
  }

  Path home(String id) {
    return homes.get().resolve(id);
  }

  void start(String id) throws LogStartException {
    LogSettings settings = TestNode.settings(id, home(id), peers, 1, 1_000_000);
    running.put(id, new TestNode(settings, TestNode.live(home(id))));
  }

  /** Starts those that do not run. */
  void startAll() throws LogStartException {
    for (String id : IDS) {
      if (!running.containsKey(id)) {
        start(id);
      }
    }
  }

  void stop(String id) {
    running.remove(id).close();
  }

  LogGroup d0(String id) {
    return running.get(id).d0();
  }

  /** Waits for a leader of d0 that is ready. */
  String leader() {
    return TestNode.leader(running);
  }

  /** One that does not lead. */
  String follower() {
    String leader = leader();
    return running.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
  }

  @Override
  public void close() {
    running.values().forEach(TestNode::close);
  }
}
