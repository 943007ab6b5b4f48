package dev.evenkeel.protocol;

/**
 * The time between two resets of a group on a shard. What handlers publish is numbered by the
 * input's offset, so each time needs a producer of its own: what a replay publishes is no repeat.
 *
 * @param number grows with each reset, and when the group forgets the topic and reads it again
 * @param producerId under which the handlers of this time publish; 0: none has begun to
 */
public record Generation(long number, long producerId) {
  /** Before the first reset, and before anything was published. */
  public static final Generation FIRST = new Generation(0, 0);

  Generation next() {
    return new Generation(number + 1, 0);
  }
}
