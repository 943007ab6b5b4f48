package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.DataDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Nodes that are started for a load: each in a JVM of its own, by the same jar, with its data in a
 * directory that is removed at the end. They listen at the loopback interface.
 */
final class OwnNodes implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final int PORTS_EACH = 3;

  /**
   * Below the ports from which systems take one for a connection: one of those could be taken while
   * the node that is to listen there still starts.
   */
  private static final int PORTS_FROM = 28_000;

  private static final int PORTS_TO = 32_000;

  private final Path directory;
  private final List<OwnNode> nodes = new ArrayList<>();
  private final Thread onExit = new Thread(this::end, "bench-end");
  private boolean ended;

  private OwnNodes(Path directory) {
    this.directory = directory;
  }

  /** Starts so many as the options say, and waits until all can serve. */
  static OwnNodes start(BenchOptions options) {
    OwnNodes own;
    try {
      Files.createDirectories(options.data());
      own = new OwnNodes(Files.createTempDirectory(options.data(), "evenkeel-bench-"));
    } catch (IOException e) {
      throw CommandFailure.failed("cannot keep data in " + options.data() + ": " + e, e);
    }
    Runtime.getRuntime().addShutdownHook(own.onExit);
    try {
      List<Integer> ports = freePorts(options.nodes());
      List<String> peers = new ArrayList<>();
      for (int i = 0; i < ports.size(); i++) {
        peers.add("n" + (i + 1) + "@" + HOST + ":" + ports.get(i));
      }
      for (int i = 0; i < ports.size(); i++) {
        String id = "n" + (i + 1);
        own.nodes.add(
            new OwnNode(
                id, ports.get(i), peers, own.directory.resolve(id), options.nodeJvmOptions()));
      }
      own.nodes.forEach(OwnNode::begin);
      own.nodes.forEach(OwnNode::awaitReady);
      return own;
    } catch (RuntimeException e) {
      own.close();
      throw e;
    }
  }

  int count() {
    return nodes.size();
  }

  List<String> seeds() {
    return nodes.stream().map(node -> HOST + ":" + node.port()).toList();
  }

  /** Of all of them, garbage included; NaN if one does not tell. */
  double heapBytes() {
    return nodes.stream().mapToDouble(OwnNode::heapBytes).sum();
  }

  OwnNode node(String id) {
    return nodes.stream().filter(node -> node.id().equals(id)).findFirst().orElseThrow();
  }

  /** The first of three neighbouring ports for each node. */
  static List<Integer> freePorts(int count) {
    List<ServerSocket> held = new ArrayList<>();
    List<Integer> firsts = new ArrayList<>();
    try {
      for (int attempt = 0; attempt < 1_000 && firsts.size() < count; attempt++) {
        List<ServerSocket> three = new ArrayList<>();
        try {
          int first = ThreadLocalRandom.current().nextInt(PORTS_FROM, PORTS_TO - PORTS_EACH);
          while (three.size() < PORTS_EACH) {
            three.add(new ServerSocket(first + three.size(), 1, InetAddress.getByName(HOST)));
          }
          firsts.add(first);
        } catch (IOException taken) {
          // One of the three is another's: try elsewhere.
          continue;
        } finally {
          held.addAll(three);
        }
      }
    } finally {
      held.forEach(OwnNodes::closeQuietly);
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

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(onExit);
    } catch (IllegalStateException e) {
      // The program is ending already, by way of this very hook.
      return;
    }
  }

  private synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    // Their data is thrown away: there is nothing to end in good order.
    nodes.forEach(OwnNode::kill);
    DataDirectory.remove(directory);
  }
}
