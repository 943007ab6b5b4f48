package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * A claim of a {@link Dedup} that works on its key. Give it back when the work has ended, whatever
 * its outcome. All methods may be called from any thread; futures complete on any thread.
 */
public interface DedupClaim {
  /** The key. */
  String key();

  /**
   * Whether nobody else works on the key now, as far as this program can know: the cluster has
   * answered a question that this program sent a short time ago. Once false, it stays false. Ask
   * before an effect that must not happen twice.
   */
  boolean isHeld();

  /**
   * Gives the key back, and the claim that waits begins. Completes with whether this claim had its
   * key until then; false means that another one may have worked on it at the same time. Fails with
   * INDETERMINATE if nobody knows, because answers were lost. The key is free soon in each case. A
   * second call has no further effect, and the same result.
   */
  Future<Boolean> giveBack();

  /**
   * Completes if the claim loses its key before it is given back: it worked longer than {@link
   * DedupOptions#setTimeoutMillis}, or the cluster did not answer for some seconds. Stop the work
   * then, and give the claim back. Otherwise it never completes.
   */
  Future<Void> lost();
}
