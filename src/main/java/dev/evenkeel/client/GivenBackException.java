package dev.evenkeel.client;

/**
 * A handler that fails with it will not handle the message any more, because the shard goes to
 * another owner: the hand-over does not wait for another try. While the shard stays it is as any
 * other failure. No stack trace.
 */
public final class GivenBackException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param why in one line
   */
  public GivenBackException(String why) {
    super(why, null, false, false);
  }
}
