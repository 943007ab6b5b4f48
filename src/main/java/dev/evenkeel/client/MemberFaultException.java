package dev.evenkeel.client;

/**
 * A handler fails with this exception if this member cannot go on, and the message has nothing to
 * do with it: its disk is full, say, or its output is closed. No attempt counts, and no further
 * message begins. The consumer gives all messages back unfailed, releases its shards as {@link
 * Consumer#close} does, and ends; {@link Consumer#onEnd} gets the exception. With at most once,
 * messages that are committed are not handled again.
 *
 * <p>To try a message again here after a while, without a counted attempt, fail it with {@link
 * GivenBackException}.
 *
 * <p>It has no stack trace.
 */
public final class MemberFaultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param why what is wrong with this member, in one line, for people
   */
  public MemberFaultException(String why) {
    super(why, null, false, false);
  }
}
