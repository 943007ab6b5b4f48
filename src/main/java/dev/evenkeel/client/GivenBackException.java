package dev.evenkeel.client;

/**
 * A handler fails with this exception to leave a message to the next owner of its shard. A handover
 * that is under way then does not wait for the message. If the shard is not being handed over, the
 * message is tried again here after 1 s, and the failed attempt does not count. In mode level it
 * leaves messages to other members while the consumer closes.
 *
 * <p>Only handlers use it; Evenkeel's own methods fail with {@code RefusedException}. It has no
 * stack trace.
 */
public final class GivenBackException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param why the reason, in one line, for people
   */
  public GivenBackException(String why) {
    super(why, null, false, false);
  }
}
