package dev.evenkeel.broker.state;

import org.jspecify.annotations.Nullable;

/** Where the bytes of batches are. */
@FunctionalInterface
public interface BatchSource {
  /** The bytes of a batch, not compared with their checksum; null if they are not there. */
  byte @Nullable [] read(BatchPlace place, int bytes);

  /** The messages that are left of the batch at this place; null unless others were dropped. */
  default @Nullable KeptPart part(BatchPlace place) {
    return null;
  }

  /** Whether no node has an undamaged copy of what is at this place. */
  default boolean isLost(BatchPlace place) {
    return false;
  }
}
