package dev.evenkeel.gateway.live;

import java.util.LinkedHashMap;
import java.util.Map;

/** Applies merge patches as the page does. */
public final class MergePatches {
  private MergePatches() {}

  /** Changes {@code target} as {@code patch} says. */
  public static void apply(Map<String, Object> target, Map<String, ?> patch) {
    patch.forEach(
        (key, value) -> {
          if (value == null) {
            target.remove(key);
          } else if (value instanceof Map<?, ?>) {
            Map<String, Object> inner = new LinkedHashMap<>();
            if (target.get(key) instanceof Map<?, ?> old) {
              inner.putAll(object(old));
            }
            apply(inner, object(value));
            target.put(key, inner);
          } else {
            target.put(key, value);
          }
        });
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }
}
