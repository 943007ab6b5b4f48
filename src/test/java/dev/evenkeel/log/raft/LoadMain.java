package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.protocol.RefusedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * A node in a JVM of its own that appends without end where it leads, 64 entries in flight, and
 * prints a line for each answer: {@code ack ENTRY} or {@code refused ENTRY REFUSAL}; after a
 * failure {@code failed CAUSE} and an exit with status 3, once every append has its answer.
 *
 * <p>Arguments: home, port, prefix of the entries. In a cluster: home, {@code ID=PORT,...}, prefix,
 * and the id of this node.
 */
final class LoadMain {
  private static final int IN_FLIGHT = 64;

  private LoadMain() {}

  public static void main(String[] args) throws Exception {
    TestNode node = args.length > 3 ? member(args) : alone(args);
    String prefix = args[2];
    LogGroup group = node.d0();
    Semaphore room = new Semaphore(IN_FLIGHT);
    for (int i = 0; !node.node.failure().isDone(); i++) {
      while (args.length > 3 && !group.leadership().ready()) {
        Thread.sleep(10);
      }
      room.acquire();
      String entry = prefix + "-" + i + "-" + "x".repeat(i % 3000);
      int number = i;
      TestNode.append(group, entry)
          .whenComplete(
              (reply, failure) -> {
                if (failure == null) {
                  say("ack " + prefix + "-" + number);
                } else {
                  RefusedException refused = (RefusedException) failure;
                  say("refused " + prefix + "-" + number + " " + refused.refusal());
                }
                room.release();
              });
    }
    Throwable cause = node.node.failure().join();
    room.acquire(IN_FLIGHT);
    boolean ready = group.leadership().ready();
    say("failed " + cause.getMessage() + " ready=" + ready);
    Runtime.getRuntime().halt(3);
  }

  private static TestNode alone(String[] args) throws LogStartException {
    return TestNode.alone(Path.of(args[0]), Integer.parseInt(args[1])).awaitReady();
  }

  private static TestNode member(String[] args) throws LogStartException {
    Path home = Path.of(args[0]);
    return new TestNode(
        TestNode.settings(args[3], home, peers(args[1]), 1, 2_000), TestNode.live(home));
  }

  /** From {@code ID=PORT,...}. */
  static List<LogSettings.Peer> peers(String list) {
    List<LogSettings.Peer> peers = new ArrayList<>();
    for (String each : list.split(",")) {
      String[] parts = each.split("=");
      peers.add(TestNode.peer(parts[0], Integer.parseInt(parts[1])));
    }
    return peers;
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
