package dev.evenkeel.broker.state;

/** Where the bytes of batches are. */
@FunctionalInterface
public interface BatchSource {
  /** The bytes of a batch, not compared with their checksum; null if they are not there. */
  byte[] read(BatchPlace place, int bytes);
}
