package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ContextHandler;

/**
 * What a handler does with messages and with the state of a shard.
 *
 * @param keepsState it uses the state of former owners
 * @param givesState it gives state to later owners
 * @param publishes it may publish and commit state with each message
 * @param batches it takes batches of messages
 */
public record HandlerKind(
    boolean keepsState, boolean givesState, boolean publishes, boolean batches) {
  /** A handler that takes each message alone, and knows nothing of state. */
  public static final HandlerKind PLAIN = stateful(false);

  /** Neither publishes nor takes batches, and both uses and gives state, or does not. */
  public static HandlerKind stateful(boolean state) {
    return new HandlerKind(state, state, false, false);
  }

  public static HandlerKind of(ConsumerHandler handler) {
    return new HandlerKind(
        handler.keepsState(),
        handler.givesState(),
        handler instanceof ContextHandler,
        handler instanceof BatchHandler);
  }

  /** The same without state. */
  public HandlerKind withoutState() {
    return new HandlerKind(false, false, publishes, batches);
  }
}
