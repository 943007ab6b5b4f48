package dev.evenkeel.gateway.live;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Computes differences of JSON objects as RFC 7396 merge patches. Objects are maps, and values are
 * maps or scalars. A null in a patch removes a field, so states contain no nulls.
 */
public final class MergePatch {
  private MergePatch() {}

  /** The patch that turns {@code before} into {@code after}; empty if they are equal. */
  public static Map<String, Object> diff(Map<String, ?> before, Map<String, ?> after) {
    Map<String, Object> patch = new LinkedHashMap<>();
    for (Map.Entry<String, ?> each : after.entrySet()) {
      Object was = before.get(each.getKey());
      Object is = each.getValue();
      if (was instanceof Map<?, ?> && is instanceof Map<?, ?>) {
        Map<String, Object> inner = diff(object(was), object(is));
        if (!inner.isEmpty()) {
          patch.put(each.getKey(), inner);
        }
      } else if (!is.equals(was)) {
        patch.put(each.getKey(), is);
      }
    }
    for (String key : before.keySet()) {
      if (!after.containsKey(key)) {
        patch.put(key, null);
      }
    }
    return patch;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }
}
