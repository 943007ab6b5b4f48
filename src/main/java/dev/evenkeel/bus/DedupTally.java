package dev.evenkeel.bus;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * What deduplication has done in one run of a member, and how much the messages of the member
 * repeat themselves.
 *
 * @param counts {@link GroupFigure.Section#DEDUP}; none if the member does not deduplicate
 * @param repeats null: not known
 * @param hot keys that were declined most often, at most {@link #HOT_MAX}
 */
public record DedupTally(Figures counts, Repeats repeats, List<Hot> hot) {
  /** Most {@link #hot}. */
  public static final int HOT_MAX = 10;

  /** Characters of a text, at most. */
  private static final int TEXT_MAX = 64;

  /**
   * How much the messages repeat themselves. It is measured whether they are deduplicated or not.
   *
   * @param level "none", "sparse" or "high"
   * @param smallestDistance between two of the same; 0: nothing was repeated
   * @param declinedShare of the messages that would be declined, 0 to 1; null: too few were seen
   * @param observedMessages how many messages were measured
   */
  public record Repeats(
      String level, int smallestDistance, Double declinedShare, long observedMessages) {
    /** The smallest distance; null: nothing was repeated. */
    public Integer distance() {
      return smallestDistance == 0 ? null : (Integer) smallestDistance;
    }
  }

  /**
   * A key that is declined often.
   *
   * @param key the first characters of the key, or of the payload
   * @param declined about how often it was declined
   */
  public record Hot(String key, long declined) {}

  JsonObject toJson() {
    JsonObject json = counts.write(GroupFigure.Section.DEDUP, new JsonObject());
    if (repeats != null) {
      json.put("repetition", repeats.level)
          .put("smallestDistance", repeats.smallestDistance)
          .put("declinedShare", repeats.declinedShare)
          .put("observedMessages", repeats.observedMessages);
    }
    if (!hot.isEmpty()) {
      JsonArray keys = new JsonArray();
      hot.forEach(each -> keys.add(new JsonArray().add(each.key).add(each.declined)));
      json.put("hot", keys);
    }
    return json;
  }

  /** Of {@link #toJson}; null if {@code json} is. */
  static DedupTally fromJson(JsonObject json) {
    if (json == null) {
      return null;
    }
    Repeats repeats =
        json.getString("repetition") == null
            ? null
            : new Repeats(
                shortened(json.getString("repetition")),
                json.getInteger("smallestDistance", 0),
                json.getDouble("declinedShare"),
                json.getLong("observedMessages", 0L));
    return new DedupTally(
        Figures.read(GroupFigure.Section.DEDUP, json), repeats, hot(json.getJsonArray("hot")));
  }

  private static List<Hot> hot(JsonArray json) {
    List<Hot> hot = new ArrayList<>();
    for (int i = 0; json != null && i < Math.min(json.size(), HOT_MAX); i++) {
      JsonArray each = json.getJsonArray(i);
      hot.add(new Hot(shortened(each.getString(0)), each.getLong(1)));
    }
    return List.copyOf(hot);
  }

  private static String shortened(String text) {
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX);
  }
}
