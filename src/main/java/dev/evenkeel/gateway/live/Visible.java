package dev.evenkeel.gateway.live;

import dev.evenkeel.gateway.access.Principal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiPredicate;

/** The part of the live state that a principal may see: its topics and groups, and their moves. */
final class Visible {
  private Visible() {}

  static Map<String, Object> to(Principal principal, Map<String, Object> state) {
    if (principal.seesAll()) {
      return state;
    }
    Map<String, Object> visible = new LinkedHashMap<>(state);
    visible.computeIfPresent(
        "topics", (key, all) -> only(all, (name, topic) -> principal.seesTopic(name)));
    visible.computeIfPresent(
        "groups", (key, all) -> only(all, (name, group) -> principal.seesGroup(name)));
    visible.computeIfPresent(
        "moves",
        (key, all) ->
            only(all, (number, move) -> principal.seesGroup(String.valueOf(move.get("group")))));
    return visible;
  }

  private static Map<String, Object> only(Object all, BiPredicate<String, Map<?, ?>> visible) {
    Map<String, Object> kept = new LinkedHashMap<>();
    ((Map<?, ?>) all)
        .forEach(
            (key, value) -> {
              if (visible.test((String) key, (Map<?, ?>) value)) {
                kept.put((String) key, value);
              }
            });
    return kept;
  }
}
