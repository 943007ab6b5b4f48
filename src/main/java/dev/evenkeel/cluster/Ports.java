package dev.evenkeel.cluster;

import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;

/** Checks ports by binding them. Blocks. */
final class Ports {
  private static final int CONNECT_MILLIS_MAX = 2_000;

  private Ports() {}

  /**
   * Refuses if nothing can listen there, and says what to do. Call it before Hazelcast tries to
   * listen, which would print a stack trace without a remedy.
   *
   * @throws RefusedException INVALID
   */
  static void checkFree(String host, int port) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw Refusal.INVALID.error(
          "unknown host '" + host + "': give a name or address of this machine");
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException e) {
      throw Refusal.INVALID.error(
          isLocal(address.getAddress())
              ? "port " + port + " on " + host + " is in use: choose another one"
              : "cannot listen on " + host + ": it is not an address of this machine");
    }
  }

  /**
   * The address by which this machine reaches a node. Connects to it.
   *
   * @throws RefusedException UNAVAILABLE if nothing listens there
   */
  static String localAddressTo(HostPort node) {
    InetSocketAddress address = new InetSocketAddress(node.host(), node.port());
    if (address.isUnresolved()) {
      throw Refusal.UNAVAILABLE.error("unknown host '" + node.host() + "'");
    }
    try (Socket socket = new Socket()) {
      socket.connect(address, CONNECT_MILLIS_MAX);
      // Without the name of the interface, which an address of IPv6 may end with.
      return socket.getLocalAddress().getHostAddress().replaceFirst("%.*", "");
    } catch (IOException e) {
      throw Refusal.UNAVAILABLE.error(
          "no node answers at " + node + ", the port of Hazelcast (" + e.getMessage() + ")");
    }
  }

  private static boolean isLocal(InetAddress address) {
    try {
      return address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return false;
    }
  }
}
