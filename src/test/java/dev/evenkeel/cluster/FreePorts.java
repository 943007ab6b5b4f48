package dev.evenkeel.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports of the loopback interface that nobody uses, below the range from which the kernel takes
 * those of connections. They are given one after another, and not again before all were: a test
 * that starts a node anew finds its port free, and what a former test left behind does not find a
 * node there. Test JVMs that run beside each other have ranges of their own.
 */
public final class FreePorts {
  private static final int SIZE = 5_000;
  private static final int FROM = 12_000 + SIZE * (Integer.getInteger("evenkeel.fork", 0) % 4);

  /** Begins anywhere in the range: other builds may run on this machine, too. */
  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(SIZE));

  private FreePorts() {}

  /** The first of three free ports in a row. */
  public static int base() {
    return take(3);
  }

  /** The first of so many free ports in a row. */
  public static int take(int count) {
    for (int attempt = 0; attempt < SIZE; attempt++) {
      int place = Math.floorMod(NEXT.getAndAdd(count), SIZE);
      if (place + count <= SIZE && areFree(FROM + place, count)) {
        return FROM + place;
      }
    }
    throw new AssertionError("no " + count + " free ports in a row from " + FROM);
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
