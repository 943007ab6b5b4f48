package dev.evenkeel.gateway.access;

import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;

/**
 * Somebody who sends requests, for as long as a connection lives: its user may change meanwhile.
 */
public interface Caller {
  /** Whether {@link #check} must have ended before somebody asks for the principal. */
  boolean needsCheck();

  /**
   * Finds out what {@link #principal} needs to know. The future completes on the context of whoever
   * calls this, and never fails: {@link #principal} does then.
   *
   * @param source address that the request comes from, see {@code Strangers}
   */
  Future<Void> check(String source);

  /**
   * Who that is now.
   *
   * @throws RefusedException UNAUTHENTICATED if it is nobody, or nobody any more; after {@link
   *     #check} also OVERLOADED or UNAVAILABLE if it cannot be found out now
   */
  Principal principal();
}
