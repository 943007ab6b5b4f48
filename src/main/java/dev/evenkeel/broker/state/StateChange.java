package dev.evenkeel.broker.state;

import dev.evenkeel.storage.Store;

/**
 * One change to the state of a log group. Deciders return changes, and nothing else alters the
 * state. All changes of an entry are written and committed first; then they show in memory.
 *
 * @param <T> the tables in memory
 */
public interface StateChange<T> {
  void write(Store.Write write);

  /** Shows the change in memory, unless it concerns the store alone. */
  default void show(T tables) {}
}
