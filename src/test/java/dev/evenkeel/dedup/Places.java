package dev.evenkeel.dedup;

import java.nio.ByteBuffer;

/** Who has the places of an automaton, for tests in other packages. */
public final class Places {
  private Places() {}

  /**
   * Who waits, or null.
   *
   * @param bytes those of a {@link SharedBucket} with one key
   */
  public static Worker tail(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    in.position(2 * Long.BYTES);
    byte[] part = new byte[in.getInt()];
    in.get(part);
    SharedClaim tail = SharedCodec.automaton(part).tail();
    return tail == null ? null : tail.worker();
  }
}
