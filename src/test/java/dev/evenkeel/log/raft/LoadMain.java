package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.RefusedException;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/**
 * A lone node in a JVM of its own that appends without end, 64 entries in flight, and prints a line
 * for each answer: {@code ack ENTRY} or {@code refused ENTRY REFUSAL}; after a failure {@code
 * failed CAUSE} and an exit with status 3, once every append has its answer.
 */
final class LoadMain {
  private static final int IN_FLIGHT = 64;

  private LoadMain() {}

  public static void main(String[] args) throws Exception {
    TestNode node = TestNode.alone(Path.of(args[0]), Integer.parseInt(args[1])).awaitReady();
    String prefix = args[2];
    LogGroup group = node.d0();
    Semaphore room = new Semaphore(IN_FLIGHT);
    for (int i = 0; !node.node.failure().isDone(); i++) {
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

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
