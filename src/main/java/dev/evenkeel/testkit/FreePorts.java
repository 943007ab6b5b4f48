package dev.evenkeel.testkit;

import dev.evenkeel.protocol.NodePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds neighbouring ports of the loopback interface for a node. */
final class FreePorts {
  /** Below the ports that systems give to connections. */
  private static final int FROM = 20_000;

  private static final int TO = 32_000;
  private static final int TRIES = 1_000;

  private FreePorts() {}

  /**
   * The base of ports that are free now.
   *
   * @throws IllegalStateException if there are none
   */
  static int take() {
    for (int i = 0; i < TRIES; i++) {
      int base = ThreadLocalRandom.current().nextInt(FROM, TO);
      if (areFree(base)) {
        return base;
      }
    }
    throw new IllegalStateException("no free ports from " + FROM + " to " + TO);
  }

  static boolean areFree(int base) {
    for (int port = base; port < base + NodePorts.COUNT; port++) {
      try (ServerSocket socket = new ServerSocket()) {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }
}
