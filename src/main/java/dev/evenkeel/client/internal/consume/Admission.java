package dev.evenkeel.client.internal.consume;

/**
 * A step between a shard and its handler. Each step takes messages from the step before it; the
 * first is {@link ConsumerCore}, whose flow control has let them in. A message that may not go on
 * yet waits at one step. While it waits it takes no handler, and holds up only messages that must
 * come after it.
 *
 * <p>A message that {@link #admit} returned is either {@link #begin begun} or {@link #declined}, as
 * long as it {@link #isWanted is wanted}. It may stop being wanted at any event.
 */
public interface Admission extends MessageSource<Task> {
  /**
   * The next message that has passed this step, or null. The limit of handlers does not count here.
   */
  Task admit(long now);

  /** Whether a message that has passed this step must still be handled. */
  boolean isWanted(Task task);

  /** A count that grows when messages that have passed this step are no longer wanted. */
  int dropped();

  /** A message goes to its handler. */
  void begin(Task task);

  /** A message is finished without its handler. */
  void declined(Task task, long now);
}
