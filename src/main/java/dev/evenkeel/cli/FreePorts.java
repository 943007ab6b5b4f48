package dev.evenkeel.cli;

import dev.evenkeel.protocol.NodePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Finds free ports for nodes that this program starts for itself. */
public final class FreePorts {
  /** The address of these nodes. */
  public static final String HOST = "127.0.0.1";

  /** Below the ephemeral ports: a connection could take one of those while the node is starting. */
  private static final int FROM = 28_000;

  private static final int TO = 32_000;

  private FreePorts() {}

  /**
   * Finds adjacent free ports for each node; gives the first ones.
   *
   * @throws CommandFailure if there are too few
   */
  public static List<Integer> find(int count) {
    List<ServerSocket> held = new ArrayList<>();
    List<Integer> firsts = new ArrayList<>();
    try {
      for (int attempt = 0; attempt < 1_000 && firsts.size() < count; attempt++) {
        List<ServerSocket> adjacent = new ArrayList<>();
        try {
          int first = ThreadLocalRandom.current().nextInt(FROM, TO - NodePorts.COUNT);
          while (adjacent.size() < NodePorts.COUNT) {
            adjacent.add(new ServerSocket(first + adjacent.size(), 1, InetAddress.getByName(HOST)));
          }
          firsts.add(first);
        } catch (IOException taken) {
          // One of them is in use: try elsewhere.
          continue;
        } finally {
          held.addAll(adjacent);
        }
      }
    } finally {
      held.forEach(FreePorts::closeQuietly);
    }
    if (firsts.size() < count) {
      throw CommandFailure.failed("no free ports for " + count + " nodes on " + HOST);
    }
    return firsts;
  }

  private static void closeQuietly(ServerSocket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
