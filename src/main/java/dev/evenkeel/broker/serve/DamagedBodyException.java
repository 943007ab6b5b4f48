package dev.evenkeel.broker.serve;

/** The body of a log entry is damaged, where somebody reads it. */
final class DamagedBodyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long index;

  /**
   * @param index of the log entry
   * @param message what cannot be read: topic, shard, offset, node and reason
   */
  DamagedBodyException(long index, String message) {
    super(message);
    this.index = index;
  }

  long index() {
    return index;
  }
}
