package dev.evenkeel.client.internal.consume;

/**
 * A step on a message's way from its shard to its handler. Each step takes messages from the step
 * before it; the first is {@link ConsumerCore}, whose flow control has let them in. A message that
 * may not go on yet waits at one step, which wakes it: it takes no handler, and blocks only those
 * that must come after it.
 *
 * <p>A message that {@link #admit} gave is {@link #begin begun} or {@link #declined} while it is
 * {@link #isWanted wanted}, which it may cease to be at any event.
 */
public interface Admission extends MessageSource<Task> {
  /** The next message that has passed this step, whatever the limit of handlers; or null. */
  Task admit(long now);

  /** Whether a message that has passed this step is still to be handled. */
  boolean isWanted(Task task);

  /** Grows when messages that have passed this step are not wanted any more. */
  int dropped();

  /** A message goes to its handler. */
  void begin(Task task);

  /** A message is finished without its handler. */
  void declined(Task task, long now);
}
