package dev.evenkeel.gateway.live;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Objects that are kept from one answer to the next, by name. It forgets the ones that an answer
 * does not name.
 */
final class Kept<T> {
  private Map<String, T> before = new HashMap<>();
  private Map<String, T> now = new HashMap<>();

  /** Begins another answer. */
  void next() {
    before = now;
    now = new HashMap<>();
  }

  T of(String name, Supplier<T> fresh) {
    return now.computeIfAbsent(
        name, any -> before.containsKey(name) ? before.get(name) : fresh.get());
  }
}
