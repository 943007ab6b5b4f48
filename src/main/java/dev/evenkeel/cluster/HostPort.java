package dev.evenkeel.cluster;

import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayList;
import java.util.List;

/**
 * An address as users write it: {@code HOST:PORT}, with an IPv6 address in brackets.
 *
 * @param host name or address, never empty
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
  public static final int PORT_MAX = 65_535;

  /**
   * @throws RefusedException INVALID, with a message that says how to write it
   */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 1 ? "" : text.substring(0, colon).trim();
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    } else if (host.indexOf(':') >= 0) {
      host = "";
    }
    int port = colon < 1 ? -1 : port(text.substring(colon + 1).trim());
    if (host.isEmpty() || port < 1 || port > PORT_MAX) {
      throw new RefusedException(
          Refusal.INVALID, "bad address '" + text + "': write HOST:PORT, such as 127.0.0.1:5701");
    }
    return new HostPort(host, port);
  }

  /** Where Hazelcast listens on the node with this base port. */
  HostPort hazelcast() {
    return new HostPort(host, NodePorts.hazelcast(port));
  }

  /** Parses several addresses. */
  public static List<HostPort> parseAll(List<String> texts) {
    List<HostPort> all = new ArrayList<>(texts.size());
    texts.forEach(text -> all.add(parse(text)));
    return List.copyOf(all);
  }

  private static int port(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
