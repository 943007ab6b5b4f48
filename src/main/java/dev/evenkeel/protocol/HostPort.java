package dev.evenkeel.protocol;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * An address as users and engines write it: {@code HOST:PORT}, with an IPv6 address in brackets.
 * This is the only place that takes such texts apart and puts them together.
 *
 * @param host name or address without brackets, never empty
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
    int port = colon < 1 ? -1 : port(text.substring(colon + 1).trim());
    if (isIpv6(host) && !isBracketed(host)) {
      throw new RefusedException(
          Refusal.INVALID,
          "bad address '" + text + "': write an IPv6 address in brackets, such as [::1]:5701");
    }
    if (host.isEmpty() || port < 1 || port > PORT_MAX) {
      throw new RefusedException(
          Refusal.INVALID,
          "bad address '" + text + "': write HOST:PORT, such as 127.0.0.1:5701 or [::1]:5701");
    }
    return new HostPort(host(host), port);
  }

  /**
   * A host as users write it, without the brackets of an IPv6 address.
   *
   * @throws RefusedException INVALID if it looks like an IPv6 address and is none
   */
  public static String host(String text) {
    String host = isBracketed(text) ? text.substring(1, text.length() - 1) : text;
    if ((isIpv6(text) || isBracketed(text)) && !isAddress(host)) {
      throw new RefusedException(
          Refusal.INVALID, "bad address '" + text + "': this is no IPv6 address, such as ::1");
    }
    return host;
  }

  /**
   * Whether a host is this machine, which it need not be if its name cannot be looked up. May
   * block.
   */
  public static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static boolean isBracketed(String host) {
    return host.startsWith("[") && host.endsWith("]");
  }

  private static boolean isIpv6(String host) {
    return host.indexOf(':') >= 0;
  }

  /** Nobody is asked for a name with a colon. Whether this machine has the zone is left open. */
  private static boolean isAddress(String host) {
    try {
      return isIpv6(host) && InetAddress.getByName(host.split("%", 2)[0]) != null;
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** Where Hazelcast listens on the node with this base port. */
  public HostPort hazelcast() {
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
    return (isIpv6(host) ? "[" + host + "]" : host) + ":" + port;
  }
}
