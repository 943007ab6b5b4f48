package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What deduplication does, or would do, for a group, for people. What is unknown is a hyphen. */
final class DedupText {
  private static final String UNKNOWN = "-";
  private static final int HOT_MAX = 3;

  private final JsonObject dedup;

  /**
   * @param group as the API tells of it
   */
  DedupText(JsonObject group) {
    dedup = group.getJsonObject("dedup", new JsonObject());
  }

  /** Whether the group deduplicates. */
  private boolean on() {
    String mode = dedup.getString("mode");
    return mode != null && !mode.equals("off");
  }

  /** Some lines; none if nothing is known. */
  String lines() {
    StringBuilder lines = new StringBuilder();
    if (on()) {
      lines.append("\ndedup     ").append(dedup.getString("mode")).append(": ").append(saved());
      if (dedup.getLong("accepted") != null) {
        lines.append(counts());
      }
    }
    JsonObject repetition = dedup.getJsonObject("repetition", new JsonObject());
    if (repetition.getString("level") != null) {
      lines.append("\nrepeats   ").append(repeats(repetition));
    }
    return lines.toString();
  }

  private String saved() {
    return percent(dedup.getDouble("savedShare")) + " of the work saved";
  }

  private String counts() {
    String text =
        String.format(
            Locale.ROOT,
            ", %d declined, %d accepted, %d waited%n          now %d at work, %d waiting; %d evicted,"
                + " %d lost, %d unguarded",
            dedup.getLong("declined"),
            dedup.getLong("accepted"),
            dedup.getLong("blocked"),
            dedup.getLong("processing"),
            dedup.getLong("waiting"),
            dedup.getLong("evicted"),
            dedup.getLong("lost"),
            dedup.getLong("unguarded"));
    List<String> keys = new ArrayList<>();
    JsonArray hot = dedup.getJsonArray("hot", new JsonArray());
    for (int i = 0; i < Math.min(HOT_MAX, hot.size()); i++) {
      JsonObject each = hot.getJsonObject(i);
      keys.add(each.getString("key") + " (" + each.getLong("declined") + ")");
    }
    return keys.isEmpty() ? text : text + "\nhottest   " + String.join(", ", keys);
  }

  private String repeats(JsonObject repetition) {
    String level = repetition.getString("level");
    Integer distance = repetition.getInteger("smallestDistance");
    String text = distance == null ? level : level + ", every " + distance + " at the closest";
    return on() || level.equals("none")
        ? text
        : text + "; --dedup would save " + percent(repetition.getDouble("declinedShare"));
  }

  private static String percent(Double share) {
    return share == null ? UNKNOWN : String.format(Locale.ROOT, "%.0f %%", share * 100);
  }
}
