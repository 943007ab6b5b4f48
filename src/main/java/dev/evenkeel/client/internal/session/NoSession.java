package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.TlsInstead;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.tls.TlsFailures;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;

/** UNAVAILABLE: an address did not answer as the client port of a node does. */
final class NoSession extends RefusedException {
  private static final long serialVersionUID = 1L;

  /** What to do if something else answers. */
  static final Told RIGHT_PORT =
      Told.text(
          "name the base port of a node, by default %s, and not a port after it or the HTTP port; if"
              + " the node has TLS, give the file with the certificate of its authority with %s",
          ClusterDefaults.PORT, ClientOptions.setter("ca"));

  /** What is there. */
  enum Found {
    /** Nothing, or a node that does not take this client now. */
    NO_ANSWER,
    /** Perhaps another port of a node, or a node that starts or stops. */
    STRANGE,
    /** A node that knows no user with these credentials. */
    UNAUTHENTICATED,
    /** The TLS options of this program do not suit the node. Trying again does not help. */
    TLS,
    /** Something else than the client port of a node. */
    ANOTHER
  }

  private final Found found;

  /**
   * @param what may be {@link Told}
   */
  private NoSession(HostPort address, Object what, Found found) {
    super(Refusal.UNAVAILABLE, "%s %s", address, what);
    this.found = found;
  }

  Found found() {
    return found;
  }

  /** The connection was not made, or what came is no WELCOME. */
  static NoSession failed(HostPort address, Throwable cause) {
    if (cause instanceof TlsInstead) {
      return new NoSession(
          address,
          Told.text(
              "speaks TLS: give the file with the certificate of its authority with %s",
              ClientOptions.setter("ca")),
          Found.TLS);
    }
    if (cause instanceof RefusedException malformed) {
      return new NoSession(address, "sent " + malformed.getMessage(), Found.ANOTHER);
    }
    if (Causes.include(SSLException.class, cause)) {
      boolean otherwise =
          TlsFailures.isPlainText(cause)
              || TlsFailures.isAboutCertificate(cause) && !TlsFailures.isAboutTime(cause);
      return new NoSession(address, tls(cause), otherwise ? Found.TLS : Found.NO_ANSWER);
    }
    String what =
        cause instanceof ConnectException
            ? "takes no connections"
            : cause instanceof UnknownHostException
                ? "is an unknown host"
                : "cannot be reached: " + cause;
    return new NoSession(address, what, Found.NO_ANSWER);
  }

  private static Object tls(Throwable cause) {
    String reason = TlsFailures.reason(cause);
    if (TlsFailures.isAboutTime(cause)) {
      return "cannot be trusted: " + reason + ": renew it, or correct the clock here";
    }
    if (TlsFailures.isAlert(cause)) {
      return "refused to begin TLS ("
          + reason
          + "): the certificate here may have expired, or be of an authority that the node does not"
          + " know; the node's log says why";
    }
    return Told.text(
        TlsFailures.isAboutCertificate(cause)
            ? "shows a certificate that is not trusted (%s): give the file with the certificate of"
                + " its authority with %s"
            : "does not answer with TLS (%s): leave out %s if the node has no TLS",
        reason,
        ClientOptions.setter("ca"));
  }

  static NoSession refused(HostPort address, SessionFrame goodbye) {
    return new NoSession(address, "refused: " + goodbye.reason(), Found.NO_ANSWER);
  }

  static NoSession unauthenticated(HostPort address, RefusedException refused) {
    return new NoSession(address, "refused: " + refused.words(), Found.UNAUTHENTICATED);
  }

  /** It was not asked, since others could read the token. */
  static NoSession clearText(HostPort address) {
    return new NoSession(
        address,
        Told.text(
            "would get the token in clear text over the network: give the file with the"
                + " certificate of its authority with %s",
            ClientOptions.setter("ca")),
        Found.TLS);
  }

  static NoSession noToken(HostPort address, Throwable failure) {
    if (failure instanceof NoSession known) {
      return known;
    }
    return new NoSession(address, "was not asked: " + failure.getMessage(), Found.UNAUTHENTICATED);
  }

  static NoSession closed(HostPort address) {
    return new NoSession(address, "closed the connection instead of a WELCOME", Found.STRANGE);
  }

  /** The connection was made, and failed before the node's WELCOME. */
  static NoSession broken(HostPort address, Throwable cause) {
    return cause instanceof IOException && !Causes.include(SSLException.class, cause)
        ? new NoSession(
            address,
            "broke the connection instead of a WELCOME (" + cause.getMessage() + ")",
            Found.STRANGE)
        : failed(address, cause);
  }

  static NoSession silent(HostPort address, long millis) {
    return new NoSession(address, "sent no WELCOME within " + millis + " ms", Found.STRANGE);
  }
}
