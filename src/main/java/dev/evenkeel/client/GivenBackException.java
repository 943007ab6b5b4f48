package dev.evenkeel.client;

/**
 * What a handler fails with to give a message to the next owner of its shard: the handover then
 * does not wait for another attempt. While the shard stays here, it is like any other failure.
 * Evenkeel itself gives {@code RefusedException} to applications, never this. It has no stack
 * trace.
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
