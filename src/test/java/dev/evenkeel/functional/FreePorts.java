package dev.evenkeel.functional;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives ports of the loopback interface, one after the other out of a range of their own: below
 * those from which the system takes ports for connections, and others than those of the tests that
 * run beside these. What was given is not given again before the whole range was.
 */
final class FreePorts {
  private static final int SIZE = 2_000;

  /** Of this JVM, which begins anywhere in the range: other builds may run on this machine, too. */
  static final FreePorts OF_TESTS =
      new FreePorts(
          12_000 + SIZE * (Integer.getInteger("evenkeel.fork", 0) % 8),
          ThreadLocalRandom.current().nextInt(SIZE));

  private final int from;
  private final AtomicInteger next;

  FreePorts(int from, int start) {
    this.from = from;
    this.next = new AtomicInteger(start);
  }

  /** The first of {@code count} neighbouring ports that are free now. */
  int take(int count) {
    for (int attempt = 0; attempt < SIZE; attempt++) {
      int place = Math.floorMod(next.getAndAdd(count), SIZE);
      if (place + count <= SIZE && areFree(from + place, count)) {
        return from + place;
      }
    }
    throw new AssertionError("no free ports from " + from + " to " + (from + SIZE));
  }

  private static boolean areFree(int first, int count) {
    for (int port = first; port < first + count; port++) {
      try {
        new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }
}
