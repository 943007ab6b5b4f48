package dev.evenkeel.bus;

import io.vertx.core.MultiMap;

/**
 * Who sends a request, as the node says that has taken it from a client. A client cannot set the
 * headers in which that stands.
 *
 * @param user name of the user; null: the cluster has no users, or a node asks
 * @param connection the connection by which the request came; null: by none, for example over HTTP,
 *     or a node asks
 */
public record Asker(String user, String connection) {
  /** A node, for itself. */
  public static final Asker NODE = new Asker(null, null);

  /** Who sends a request with these headers. */
  public static Asker of(MultiMap headers) {
    if (headers == null || headers.isEmpty()) {
      return NODE;
    }
    String user = headers.get(Frames.USER);
    String connection = headers.get(Frames.CONNECTION);
    return user == null && connection == null ? NODE : new Asker(user, connection);
  }

  /** The same user at another place: the looks of each place of a user take turns. */
  public Asker at(String place) {
    return new Asker(user, place);
  }
}
