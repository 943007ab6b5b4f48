package dev.evenkeel.log;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * The body of an entry that is being applied.
 *
 * @param parts its bytes in memory, never changed; null if the entry has none, or they are on disk
 *     alone, see {@link ReplicatedState#bodies()}
 */
public record EntryBody(List<ByteBuffer> parts) {
  /** No body, or none in memory. */
  public static final EntryBody NONE = new EntryBody(null);

  public boolean inMemory() {
    return parts != null;
  }

  /**
   * A view of a piece that lies within one part.
   *
   * @param offset from the beginning of the body
   * @throws IllegalArgumentException if no part has it whole
   */
  public ByteBuffer slice(int offset, int length) {
    int at = offset;
    for (ByteBuffer part : parts) {
      if (at < part.remaining()) {
        if (at + length > part.remaining()) {
          break;
        }
        return part.slice(part.position() + at, length);
      }
      at -= part.remaining();
    }
    throw new IllegalArgumentException(
        "no part of the body has the " + length + " bytes from " + offset + " on");
  }
}
