package dev.evenkeel.gateway.live;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** What is remembered between two answers, by name. What an answer does not name is forgotten. */
final class Kept<T> {
  private Map<String, T> before = new HashMap<>();
  private Map<String, T> now = new HashMap<>();

  /** Another answer begins. */
  void next() {
    before = now;
    now = new HashMap<>();
  }

  T of(String name, Supplier<T> fresh) {
    return now.computeIfAbsent(
        name, any -> before.containsKey(name) ? before.get(name) : fresh.get());
  }
}
