package dev.evenkeel.client;

import java.util.Arrays;

/**
 * The source of a spool's messages, if it can be read again after a restart, for example a file.
 * Pass it to {@link EvenkeelClient#spoolingProducer}.
 *
 * @param name a name that identifies the source; of a file, its absolute path
 * @param head the first bytes of the source, at most {@link #HEAD_BYTES_MAX}; they show whether
 *     another source with the same name has taken its place
 */
public record Source(String name, byte[] head) {
  /** Most bytes of {@link #head}: 1,024. */
  public static final int HEAD_BYTES_MAX = 1024;

  /** Whether this can be the same source as {@code earlier}, perhaps with more at its end. */
  public boolean continues(Source earlier) {
    int length = earlier.head.length;
    return name.equals(earlier.name)
        && head.length >= length
        && Arrays.equals(head, 0, length, earlier.head, 0, length);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Source that && name.equals(that.name) && Arrays.equals(head, that.head);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }
}
