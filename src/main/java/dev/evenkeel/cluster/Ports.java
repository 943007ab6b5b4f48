package dev.evenkeel.cluster;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;

/** What can be said about ports by trying them. Blocks for up to its time limits. */
final class Ports {
  private static final int PROBE_TIMEOUT_MILLIS = 500;

  private Ports() {}

  /**
   * Refuses, in words that a user can act on, if nothing can listen there. It is asked before
   * Hazelcast tries, which would print a stack trace and name no remedy.
   *
   * @throws RefusedException INVALID
   */
  static void checkFree(String host, int port) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new RefusedException(
          Refusal.INVALID, "unknown host '" + host + "': give a name or address of this machine");
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException e) {
      throw new RefusedException(
          Refusal.INVALID,
          isLocal(address.getAddress())
              ? "port " + port + " on " + host + " is in use: choose another one"
              : "cannot listen on " + host + ": it is not an address of this machine");
    }
  }

  private static boolean isLocal(InetAddress address) {
    try {
      return address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return false;
    }
  }

  /** Our own address as seen on a connection to {@code target}, or null if nobody answers there. */
  static String probe(HostPort target) {
    InetSocketAddress address = new InetSocketAddress(target.host(), target.port());
    if (address.isUnresolved()) {
      return null;
    }
    try (Socket socket = new Socket()) {
      socket.connect(address, PROBE_TIMEOUT_MILLIS);
      return socket.getLocalAddress().getHostAddress();
    } catch (IOException e) {
      return null;
    }
  }
}
