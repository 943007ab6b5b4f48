package dev.evenkeel.gateway;

import io.netty.util.NetUtil;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Connections of which nobody knows yet whose they are. There is always room for another one: when
 * there are too many, one of those has to go that come from the address with the most, and of these
 * the one that came or was used first. So whoever opens many loses their own.
 *
 * <p>Safe for use from any thread.
 *
 * @param <C> connections
 */
public final class Strangers<C> {
  /** How many of an address are looked at for one that may go. */
  private static final int LOOKS_MAX = 64;

  /** The first half of an IPv6 address: whoever has one address usually has the other half, too. */
  private static final int NETWORK_BYTES = 8;

  private final int max;
  private final Predicate<C> mayGo;
  private final Map<C, String> sources = new HashMap<>();

  /** By address, in the order in which they came or were used. */
  private final Map<String, Set<C>> bySource = new LinkedHashMap<>();

  /**
   * @param max most of them
   * @param mayGo whether a connection may be closed now
   */
  public Strangers(int max, Predicate<C> mayGo) {
    this.max = max;
    this.mayGo = mayGo;
  }

  /** What counts as the address that a connection comes from; null: none is known. */
  public static String source(InetAddress address) {
    if (address == null) {
      return "";
    }
    byte[] bytes = address.getAddress();
    if (bytes.length <= NETWORK_BYTES) {
      return address.getHostAddress();
    }
    StringBuilder network = new StringBuilder();
    for (int i = 0; i < NETWORK_BYTES; i++) {
      network.append("%02x".formatted(bytes[i]));
    }
    return network.toString();
  }

  /** The same of the other end of a connection; null: it is not known. */
  public static String source(SocketAddress remote) {
    String host = remote == null ? null : remote.hostAddress();
    return source(host == null ? null : NetUtil.createInetAddressFromIpAddressString(host));
  }

  /**
   * Counts a connection.
   *
   * @param source see {@link #source}
   * @return the one that has to be closed, and counts no more; null: none. It is {@code connection}
   *     itself if no other may go
   */
  public synchronized C came(C connection, String source) {
    C goes = null;
    if (sources.size() >= max) {
      goes = evict();
      if (goes == null) {
        return connection;
      }
    }
    sources.put(connection, source);
    bySource.computeIfAbsent(source, any -> new LinkedHashSet<>()).add(connection);
    return goes;
  }

  /** The one that has to go first, which counts no more; null: none may go. */
  public synchronized C evict() {
    C goes = victim();
    if (goes != null) {
      left(goes);
    }
    return goes;
  }

  private C victim() {
    Set<C> most = Set.of();
    for (Set<C> each : bySource.values()) {
      most = each.size() > most.size() ? each : most;
    }
    C found = first(most);
    if (found != null) {
      return found;
    }
    for (Set<C> each : bySource.values()) {
      found = first(each);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private C first(Set<C> all) {
    int looks = 0;
    for (C each : all) {
      if (mayGo.test(each)) {
        return each;
      }
      looks++;
      if (looks == LOOKS_MAX) {
        break;
      }
    }
    return null;
  }

  /** A connection is used just now. Does nothing if it is not counted. */
  public synchronized void used(C connection) {
    String source = sources.get(connection);
    if (source != null) {
      Set<C> all = bySource.get(source);
      all.remove(connection);
      all.add(connection);
    }
  }

  /** A connection has closed, or says whose it is. Does nothing if it is not counted. */
  public synchronized void left(C connection) {
    String source = sources.remove(connection);
    if (source != null) {
      bySource.computeIfPresent(
          source, (any, all) -> all.remove(connection) && all.isEmpty() ? null : all);
    }
  }

  /** How many are counted. */
  public synchronized int count() {
    return sources.size();
  }
}
