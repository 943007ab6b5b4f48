package dev.evenkeel.gateway.http;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.netty.util.NetUtil;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The names by which callers may address the node in the header {@code Host}: its configured names,
 * {@code localhost}, names that end in {@code .localhost}, and any IP address.
 *
 * <p>Other names are refused because of DNS rebinding: a foreign page can let its own name lead to
 * the address of a node, and a browser then takes the node for a part of that page. The name in
 * {@code Host} is still that of the page.
 */
public final class HostNames {
  private static final Pattern NAME = Pattern.compile("[\\w-]+(\\.[\\w-]+)*\\.?");
  private static final int NAME_CHARS_MAX = 253;
  private static final String LOCAL = "localhost";

  private final Set<String> names;

  /**
   * @param names of this node, without ports
   * @throws RefusedException INVALID if one is no host name
   */
  public HostNames(Collection<String> names) {
    this.names = names.stream().map(HostNames::checked).collect(Collectors.toUnmodifiableSet());
  }

  private static String checked(String name) {
    if (!isValid(name)) {
      throw Refusal.INVALID.error(
          "'%s' is not a host name: write names without scheme and port, such as queue.example.com",
          name);
    }
    return plain(name);
  }

  /** Whether it is a host name or an IP address, without a port. */
  public static boolean isValid(String name) {
    return name.length() <= NAME_CHARS_MAX && NAME.matcher(name).matches()
        || NetUtil.isValidIpV6Address(name);
  }

  /**
   * @param host from the header {@code Host}, without the port; an IPv6 address is in brackets
   */
  boolean allow(String host) {
    if (host.startsWith("[") && host.endsWith("]")) {
      return NetUtil.isValidIpV6Address(host.substring(1, host.length() - 1));
    }
    String name = plain(host);
    return NetUtil.isValidIpV4Address(name)
        || name.equals(LOCAL)
        || name.endsWith("." + LOCAL)
        || names.contains(name);
  }

  /** In lower case, and without the dot that marks a full name. */
  private static String plain(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }
}
