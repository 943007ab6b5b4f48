package dev.evenkeel.broker.state;

import dev.evenkeel.storage.Store;

/**
 * One change to the state of a log group: what deciding comes to, and the only thing that alters
 * the state. First all changes of an entry are written and committed, then they show in memory.
 *
 * @param <T> the tables in memory
 */
public interface StateChange<T> {
  void write(Store.Write write);

  /** Lets it show in memory, unless it concerns the store alone. */
  default void show(T tables) {}
}
