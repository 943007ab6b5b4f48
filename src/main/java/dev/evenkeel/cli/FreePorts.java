package dev.evenkeel.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Finds a busy port before an engine does, which would say it in its own many words. */
final class FreePorts {
  private FreePorts() {}

  static void check(NodeConfig config) {
    check(config.host(), config.port(), "Hazelcast", "--port " + config.port());
    check(config.host(), config.eventBusPort(), "the event bus", "--port " + config.port());
    check(config.host(), config.raftPort(), "Raft", "--port " + config.port());
    if (config.has("web") && config.httpPort() != 0) {
      check(config.httpHost(), config.httpPort(), "HTTP", "--http-port " + config.httpPort());
    }
  }

  /**
   * @throws CommandFailure if nothing can listen there
   */
  static void check(String host, int port, String what, String option) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw CommandFailure.failed("unknown host '" + host + "': name an address of this machine");
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException e) {
      throw CommandFailure.failed(
          "cannot listen at "
              + host
              + ":"
              + port
              + " for "
              + what
              + " ("
              + e.getMessage()
              + "): choose another than "
              + option,
          e);
    }
  }
}
