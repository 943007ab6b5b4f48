package dev.evenkeel.client;

import java.util.Arrays;

/**
 * What the messages of a spool are read from, if it can be read again: a file.
 *
 * @param name absolute path
 * @param head its first bytes, at most {@link #HEAD_BYTES_MAX}: another file of the same name is
 *     told from it
 */
public record Source(String name, byte[] head) {
  /** Most bytes of {@link #head}. */
  public static final int HEAD_BYTES_MAX = 1024;

  /** Whether it may be what {@code earlier} was, perhaps with more at its end. */
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
