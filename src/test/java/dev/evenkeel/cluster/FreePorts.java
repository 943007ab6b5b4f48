package dev.evenkeel.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports of the loopback interface that nobody uses, below the range that the kernel gives out. */
public final class FreePorts {
  private static final int FROM = 15_000;
  private static final int SPAN = 15_000;

  private FreePorts() {}

  /** The first of three free ports in a row. */
  public static int base() {
    for (int attempt = 0; attempt < 200; attempt++) {
      int port = FROM + (int) (Math.random() * SPAN);
      if (free(port) && free(port + 1) && free(port + 2)) {
        return port;
      }
    }
    throw new UncheckedIOException(new IOException("no three free ports in a row"));
  }

  private static boolean free(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
