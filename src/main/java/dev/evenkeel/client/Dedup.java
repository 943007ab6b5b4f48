package dev.evenkeel.client;

import io.vertx.core.Future;
import java.util.Optional;

/**
 * Saves work that is requested several times at once. Of all claims of one key, one works, one
 * waits until that has ended, and all others are declined at once: the one that waits begins later,
 * so it sees what they announce. {@link EvenkeelClient#dedup(String)} makes one for all programs of
 * a cluster, {@link #local()} one for this JVM.
 *
 * <pre>{@code
 * Dedup dedup = client.dedup("page-cache");
 *
 * void refresh(String page) throws InterruptedException {
 *   if (dedup.enQueue(page)) {
 *     try {
 *       render(page);
 *     } finally {
 *       dedup.deQueue(page);
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>All methods may be called from any thread. Calls fail with {@code RefusedException}: INVALID
 * for a key that is empty or has more than {@value DedupOptions#KEY_BYTES_MAX} bytes, OVERLOADED if
 * {@link DedupOptions#setClaimsMax} claims are in hand, FORBIDDEN without the permission {@code
 * group:NAME}, UNAVAILABLE if the cluster does not answer or this object or its client is closed. A
 * claim never works without an answer of the cluster. Futures complete on any thread, which their
 * handlers must not block.
 */
public interface Dedup {
  /** A dedup for this JVM alone. It needs no cluster, and need not be closed. */
  static Dedup local() {
    return local(new DedupOptions());
  }

  /** As {@link #local()}, with options. */
  static Dedup local(DedupOptions options) {
    return new LocalDedup(options);
  }

  /** Its name; "local" for a dedup of this JVM that was given none. */
  String name();

  /**
   * Asks for a key, and waits for its turn. If it returns true, call {@link #deQueue} when the work
   * has ended. Blocks as long as another claim works on the key.
   *
   * @return false if the claim was declined: another one waits, and begins later than now
   * @throws InterruptedException if the thread is interrupted; then it has no claim
   * @throws IllegalStateException on an event loop, which must not wait: use {@link #claim} there;
   *     and if this thread works on the key already, and would wait for itself
   */
  boolean enQueue(String key) throws InterruptedException;

  /**
   * Gives back a key for which {@link #enQueue} has returned true: the claim of this thread, or
   * else the oldest one. Does not block.
   *
   * @return whether the claim was still held, see {@link DedupClaim#isHeld}; false also if there is
   *     none
   */
  boolean deQueue(String key);

  /**
   * Asks for a key without blocking. Completes when its turn comes, or with nothing if the claim is
   * declined. Until then it cannot be given back, unless this object is closed.
   */
  Future<Optional<DedupClaim>> claim(String key);

  /** What it has done, and what it has in hand. */
  DedupCounts counts();

  /**
   * Gives back all claims, also those at work; calls that wait fail with UNAVAILABLE. Completes
   * when the cluster has been told, or does not answer. Never fails.
   */
  Future<Void> close();
}
