package dev.evenkeel.client.internal.broadcast;

/** Bytes are not those of {@link Offsets}. The message says why, in a few words. */
public final class DamagedOffsetsException extends Exception {
  private static final long serialVersionUID = 1L;

  public DamagedOffsetsException(String why) {
    super(why);
  }
}
