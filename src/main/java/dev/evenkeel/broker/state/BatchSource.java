package dev.evenkeel.broker.state;

/** Where the bytes of batches are. */
@FunctionalInterface
public interface BatchSource {
  /** The bytes of a batch, not compared with their checksum; null if they are not there. */
  byte[] read(BatchPlace place, int bytes);

  /** Whether no node has an undamaged copy of what is at this place. */
  default boolean isLost(BatchPlace place) {
    return false;
  }
}
