package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.cluster.HostPort;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.net.ConnectException;
import java.net.UnknownHostException;

/** UNAVAILABLE: an address did not answer as the client port of a node does. */
final class NoSession extends RefusedException {
  private static final long serialVersionUID = 1L;

  private static final String RIGHT =
      "the client port is P of 'serve --port P', by default "
          + ClusterDefaults.PORT
          + "; the ports after it are for nodes alone, and HTTP has its own";

  private final boolean hopeless;

  private NoSession(HostPort address, String what, boolean hopeless) {
    super(Refusal.UNAVAILABLE, address + ": " + what);
    this.hopeless = hopeless;
  }

  /** Whether something else than Evenkeel listens there: trying again makes no sense. */
  boolean hopeless() {
    return hopeless;
  }

  /** The connection was not made, or it failed before the node's WELCOME. */
  static NoSession failed(HostPort address, Throwable cause) {
    if (cause instanceof NoSession same) {
      return same;
    }
    if (cause instanceof RefusedException malformed) {
      return notANode(address, "sent " + malformed.getMessage());
    }
    String what =
        cause instanceof ConnectException
            ? "nobody listens there"
            : cause instanceof UnknownHostException ? "unknown host" : String.valueOf(cause);
    return new NoSession(address, what, false);
  }

  /** What answers is no node, or not its client port. */
  static NoSession notANode(HostPort address, String what) {
    return new NoSession(address, "it " + what + ": " + RIGHT, true);
  }

  static NoSession refused(HostPort address, SessionFrame goodbye) {
    return new NoSession(address, "the node refused: " + goodbye.reason(), false);
  }

  /** Closed before the WELCOME: so do other ports of a node, but also a node that is stopping. */
  static NoSession closed(HostPort address) {
    return new NoSession(
        address, "it closed the connection instead of sending " + welcome() + RIGHT, false);
  }

  static NoSession silent(HostPort address, long millis) {
    return new NoSession(
        address, "within " + millis + " ms it sent no " + welcome() + RIGHT, false);
  }

  private static String welcome() {
    return FrameKind.WELCOME + ": ";
  }
}
