package dev.evenkeel.client.internal.consume;

/**
 * A handler of Evenkeel fails with this exception while nothing can handle messages. It says
 * nothing about the message, whose attempt does not count: the message is tried again after a
 * while, whatever the delivery policy. In mode level it goes to other members. It has no stack
 * trace.
 */
public final class AwayException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param why the reason, in one line, for people
   */
  public AwayException(String why) {
    super(why, null, false, false);
  }
}
