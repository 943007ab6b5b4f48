package dev.evenkeel.functional;

import java.util.List;
import java.util.Map;

/**
 * What a process runs in.
 *
 * @param prefix stands before the command, such as {@code ip netns exec NAME}
 * @param variables of its environment, beside those of this process
 */
public record Surroundings(List<String> prefix, Map<String, String> variables) {
  public static final Surroundings NONE = new Surroundings(List.of(), Map.of());
}
