package dev.evenkeel.cli;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.tls.CertificateNames;
import dev.evenkeel.protocol.tls.TlsException;
import dev.evenkeel.protocol.tls.TlsFiles;
import dev.evenkeel.protocol.tls.TlsIdentity;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The certificates of a node: reads them at the start, and looks for new ones while it runs. */
final class NodeTls {
  private static final Logger LOG = LoggerFactory.getLogger(NodeTls.class);
  private static final long LOOK_MILLIS = 2_000;

  private NodeTls() {}

  /**
   * The identity that a node shows to other nodes.
   *
   * @param directory null: none
   * @throws CommandFailure if the files cannot be used, or are another node's
   */
  static TlsIdentity ofPeers(Path directory, String node) {
    if (directory == null) {
      return null;
    }
    TlsIdentity identity;
    try {
      identity = TlsIdentity.open(TlsFiles.in(directory));
    } catch (TlsException e) {
      throw CommandFailure.failed("--peer-tls: " + e.getMessage(), e);
    }
    if (!CertificateNames.name(identity.certificate(), node)) {
      throw CommandFailure.failed(
          "--peer-tls: the certificate %s is for %s, not for node %s: give each node its own"
              .formatted(
                  identity.files().certificate(),
                  identity.certificate().getSubjectX500Principal().getName(),
                  node));
    }
    return identity;
  }

  /** Takes up changed files from now on, and shows when the certificate expires. */
  static void watch(Vertx vertx, String channel, TlsIdentity identity) {
    MeterScope scope = Meters.of(vertx).scope("tls");
    scope.gauge(
        "evenkeel.tls." + channel + ".expires.seconds",
        "Time until the node's certificate expires",
        () -> Duration.between(Instant.now(), identity.expires()).toSeconds());
    scope.gauge(
        "evenkeel.tls." + channel + ".broken",
        "1: new certificate files cannot be used, and the former ones stay in force",
        () -> identity.problem() == null ? 0 : 1);
    vertx.setPeriodic(LOOK_MILLIS, timer -> vertx.executeBlocking(() -> look(identity), false));
  }

  private static Void look(TlsIdentity identity) {
    String before = identity.problem();
    if (identity.look()) {
      LOG.info(
          "new certificate from {}, valid until {}",
          identity.files().certificate(),
          identity.expires());
    } else if (identity.problem() != null && !identity.problem().equals(before)) {
      LOG.error("the former certificate stays in force: {}", identity.problem());
    }
    return null;
  }
}
