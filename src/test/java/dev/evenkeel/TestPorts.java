package dev.evenkeel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives ports of the loopback interface, one after the other out of a range of their own: below
 * those from which the system takes ports for connections, and others than those of the test JVMs
 * that run beside this one. What was given is not given again before the whole range was: a test
 * that starts a node anew finds its port free, and what a former test left behind does not find a
 * node there.
 */
public final class TestPorts {
  private static final int SIZE = 2_000;

  /** Of this JVM, which begins anywhere in the range: other builds may run on this machine, too. */
  private static final TestPorts OF_THIS_JVM =
      new TestPorts(
          // Maven gives each JVM that runs tests a number from 1.
          12_000 + SIZE * (Integer.parseInt(System.getProperty("evenkeel.fork", "0")) % 8),
          ThreadLocalRandom.current().nextInt(SIZE));

  private final int from;
  private final AtomicInteger next;

  TestPorts(int from, int start) {
    this.from = from;
    this.next = new AtomicInteger(start);
  }

  /** The first of {@code count} neighbouring ports that are free now. */
  public static int take(int count) {
    return OF_THIS_JVM.next(count);
  }

  int next(int count) {
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
