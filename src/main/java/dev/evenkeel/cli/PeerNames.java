package dev.evenkeel.cli;

import dev.evenkeel.util.Daemon;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits until the host names of the nodes resolve. In Kubernetes a name resolves only a moment
 * after its node has started, so nodes that start together must wait for each other.
 */
final class PeerNames {
  private static final Logger LOG = LoggerFactory.getLogger(PeerNames.class);

  /**
   * How long to wait for the names of other nodes. One of them may be down for days, and a majority
   * works without it. The node waits for its own name without a limit.
   */
  static final long OTHERS_MILLIS_MAX = 20_000;

  private static final long PAUSE_MILLIS = 200;
  private static final long LOG_EVERY_MILLIS = 10_000;

  private final String own;
  private final List<String> others;
  private final CompletableFuture<Void> known = new CompletableFuture<>();

  PeerNames(NodeConfig config) {
    own = config.publicHost();
    others =
        config.peers().stream()
            .map(NodeConfig.Peer::host)
            .filter(host -> !host.equals(own))
            .toList();
  }

  /**
   * Completes, on a thread of its own, when the node may start. Complete it to stop the waiting.
   */
  CompletableFuture<Void> await() {
    if (missing().isEmpty()) {
      known.complete(null);
      return known;
    }
    Daemon.start("evenkeel-names", this::waitForThem);
    return known;
  }

  private void waitForThem() {
    long started = System.nanoTime();
    long loggedNanos = started;
    try {
      while (!known.isDone()) {
        List<String> missing = missing();
        long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
        if (missing.isEmpty() || (waited >= OTHERS_MILLIS_MAX && !missing.contains(own))) {
          if (!missing.isEmpty()) {
            LOG.warn("starting without {}: no address is known for these names", missing);
          }
          known.complete(null);
          return;
        }
        if (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - loggedNanos) >= LOG_EVERY_MILLIS) {
          loggedNanos = System.nanoTime();
          LOG.info("waiting until names have an address: {}", missing);
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      known.cancel(false);
    } catch (RuntimeException e) {
      known.completeExceptionally(e);
    }
  }

  private List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (!resolves(own)) {
      missing.add(own);
    }
    others.stream().filter(name -> !resolves(name)).forEach(missing::add);
    return missing;
  }

  private static boolean resolves(String name) {
    try {
      return InetAddress.getByName(name) != null;
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
