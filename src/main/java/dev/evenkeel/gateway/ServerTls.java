package dev.evenkeel.gateway;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFailures;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.TrustOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate that a port shows, and the authorities of the certificates that it takes. It
 * looks for changed files every 2 s until {@link #close}.
 */
public final class ServerTls {
  private static final String CERTIFICATES = "all certificates";
  private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);
  private static final long LOOK_MILLIS = 2_000;
  private static final int HANDSHAKE_SECONDS_MAX = 5;

  /** Most connections of a port that begin TLS at a time. */
  private static final int BEGINNING_MAX = 2_000;

  private final Vertx vertx;
  private final String port;
  private final TlsIdentity identity;
  private final MeterScope scope;
  private final LogLimiter strangers = new LogLimiter();
  private final long timer;

  private ServerTls(Vertx vertx, String port, TlsIdentity identity) {
    this.vertx = vertx;
    this.port = port;
    this.identity = identity;
    scope = Meters.of(vertx).scope("tls-" + port);
    scope.gauge(
        "evenkeel.tls." + port + ".expires.seconds",
        "Time until the certificate of this port expires",
        () -> Duration.between(Instant.now(), identity.expires()).toSeconds());
    scope.gauge(
        "evenkeel.tls." + port + ".broken",
        "1: new certificate files cannot be used, and the former ones stay in force",
        () -> identity.problem() == null ? 0 : 1);
    identity.onRefused(this::certificateRefused);
    timer = vertx.setPeriodic(LOOK_MILLIS, tick -> vertx.executeBlocking(this::look, false));
  }

  /**
   * Looks for changes of an identity that is in use.
   *
   * @param port its name in metrics and in the log, one word
   */
  public static ServerTls watch(Vertx vertx, String port, TlsIdentity identity) {
    return new ServerTls(vertx, port, identity);
  }

  /**
   * Reads the files of a port.
   *
   * @param directory with {@code tls.crt}, {@code tls.key} and {@code ca.crt}; null: no TLS
   * @return null without TLS. Fails with {@code RefusedException} INVALID if a file cannot be used
   */
  public static Future<ServerTls> open(Vertx vertx, String port, String directory) {
    if (directory == null) {
      return Future.succeededFuture();
    }
    return vertx
        .executeBlocking(
            () -> {
              try {
                return TlsIdentity.open(TlsFiles.in(Path.of(directory)));
              } catch (TlsException e) {
                throw Refusal.INVALID.error("TLS: " + e.getMessage());
              }
            },
            false)
        .map(identity -> watch(vertx, port, identity));
  }

  private Void look() {
    String before = identity.problem();
    if (identity.look()) {
      LOG.info(
          "{}: new certificate from {}, valid until {}",
          port,
          identity.files().certificate(),
          identity.expires());
    } else if (identity.problem() != null && !identity.problem().equals(before)) {
      LOG.error("{}: the former certificate stays in force: {}", port, identity.problem());
    }
    return null;
  }

  /** Encrypts all connections. A client may show a certificate, and need not. */
  public void applyTo(NetServerOptions options) {
    options
        .setSsl(true)
        .setSslEngineOptions(new NamingTlsEngine(BEGINNING_MAX, this::handshakeFailed))
        .setKeyCertOptions(KeyCertOptions.wrap(identity.keyManager()))
        .setTrustOptions(TrustOptions.wrap(identity.trustManager()))
        .setSslHandshakeTimeout(HANDSHAKE_SECONDS_MAX)
        .setSslHandshakeTimeoutUnit(TimeUnit.SECONDS);
    if (options instanceof HttpServerOptions http) {
      http.setClientAuth(ClientAuth.REQUEST).setUseAlpn(false);
    } else {
      options.setClientAuth(ClientAuth.REQUEST);
    }
  }

  /**
   * Logs, at most once a minute for each source, that a connection has not begun TLS. That a
   * connection has just ended is no reason to log anything.
   */
  void handshakeFailed(String source, Throwable failure) {
    if (Causes.include(SSLException.class, failure)
        && strangers.mayLog(source, MonotonicClock.millis())) {
      LOG.warn(
          "{}: a connection from {} has not begun TLS: {}",
          port,
          source,
          TlsFailures.reason(failure));
    }
  }

  /**
   * Logs, at most once a minute, that a certificate was refused. Not every port can say from which
   * address a connection came, and whoever comes chooses the subject.
   */
  private void certificateRefused(String subject, String why) {
    if (strangers.mayLog(CERTIFICATES, MonotonicClock.millis())) {
      LOG.warn("{}: refused a certificate for {}: {}", port, subject, why);
    }
  }

  public void close() {
    vertx.cancelTimer(timer);
    scope.close();
  }
}
