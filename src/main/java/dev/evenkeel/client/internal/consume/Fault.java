package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.protocol.RefusedException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What a failure of a handler says about its message, and about this member. */
public enum Fault {
  /** The message failed: the attempt counts. */
  MESSAGE,

  /**
   * The message was not handled, and that says nothing about it: it was given back, or a cluster or
   * a producer takes nothing now. It is tried again after a while.
   */
  NOT_NOW,

  /**
   * Nobody is there who could handle the message: it is tried again after a while, also with at
   * most once, because nothing was tried.
   */
  AWAY,

  /** This member cannot handle any message: it ends. */
  MEMBER;

  /** Whose fault a failure is. */
  public static Fault of(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof MemberFaultException) {
      return MEMBER;
    }
    if (cause instanceof AwayException) {
      return AWAY;
    }
    boolean notNow =
        cause instanceof GivenBackException
            || cause instanceof RefusedException refused && refused.refusal().retriable();
    return notNow ? NOT_NOW : MESSAGE;
  }
}
