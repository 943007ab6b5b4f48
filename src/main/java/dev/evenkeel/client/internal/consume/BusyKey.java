package dev.evenkeel.client.internal.consume;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * A key of which {@link OrderQueue} has handed out a message, and what waits behind that. It is its
 * own key in a map.
 */
final class BusyKey {
  private final byte[] key;
  private final int hash;

  /** Null: nothing has waited. */
  ArrayDeque<Task> waiting;

  /** Whose turn it is. */
  Task front;

  BusyKey(byte[] key) {
    this.key = key;
    hash = Arrays.hashCode(key);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BusyKey busy && hash == busy.hash && Arrays.equals(key, busy.key);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
