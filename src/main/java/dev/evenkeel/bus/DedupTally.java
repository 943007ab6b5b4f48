package dev.evenkeel.bus;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * What deduplication has done for a member since its run began, and how much its messages repeat
 * themselves.
 *
 * @param counts null: the member does not deduplicate
 * @param repeats null: not known
 * @param hot keys that were declined most often, at most {@link #HOT_MAX}
 */
public record DedupTally(Counts counts, Repeats repeats, List<Hot> hot) {
  /** Most {@link #hot}. */
  public static final int HOT_MAX = 10;

  /** Characters of {@link Hot#key}, at most. */
  private static final int TEXT_MAX = 64;

  /**
   * Counts, and what is so now.
   *
   * @param accepted messages whose handler could begin at once
   * @param blocked messages that had to wait
   * @param declined messages that were finished without their handler
   * @param evicted claims that the member's requests found overdue and took away, its own or
   *     others'
   * @param lost runs whose place was gone at their end: another may have run at the same time
   * @param unguarded runs that went ahead because the cluster did not answer
   * @param processing handlers at work now
   * @param waiting messages that wait for their turn now
   */
  public record Counts(
      long accepted,
      long blocked,
      long declined,
      long evicted,
      long lost,
      long unguarded,
      long processing,
      long waiting) {
    public static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0, 0, 0);

    public Counts plus(Counts other) {
      return new Counts(
          accepted + other.accepted,
          blocked + other.blocked,
          declined + other.declined,
          evicted + other.evicted,
          lost + other.lost,
          unguarded + other.unguarded,
          processing + other.processing,
          waiting + other.waiting);
    }

    /** Of a member that is gone: nothing is so now. */
    public Counts past() {
      return new Counts(accepted, blocked, declined, evicted, lost, unguarded, 0, 0);
    }
  }

  /**
   * How much the messages repeat themselves, deduplicated or not.
   *
   * @param level "none", "sparse" or "high"
   * @param smallestDistance between two of the same; 0: nothing was repeated
   * @param declinedShare of the messages that would be declined, 0 to 1; null: too few were seen
   * @param observedMessages that this is taken from
   */
  public record Repeats(
      String level, int smallestDistance, Double declinedShare, long observedMessages) {}

  /**
   * A key that is declined often.
   *
   * @param key its beginning, or that of the payload
   * @param declined how often, about
   */
  public record Hot(String key, long declined) {}

  JsonObject toJson() {
    JsonObject json = new JsonObject();
    if (counts != null) {
      json.put("accepted", counts.accepted)
          .put("blocked", counts.blocked)
          .put("declined", counts.declined)
          .put("evicted", counts.evicted)
          .put("lost", counts.lost)
          .put("unguarded", counts.unguarded)
          .put("processing", counts.processing)
          .put("waiting", counts.waiting);
    }
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
    Counts counts =
        json.getLong("accepted") == null
            ? null
            : new Counts(
                json.getLong("accepted"),
                json.getLong("blocked", 0L),
                json.getLong("declined", 0L),
                json.getLong("evicted", 0L),
                json.getLong("lost", 0L),
                json.getLong("unguarded", 0L),
                json.getLong("processing", 0L),
                json.getLong("waiting", 0L));
    Repeats repeats =
        json.getString("repetition") == null
            ? null
            : new Repeats(
                json.getString("repetition"),
                json.getInteger("smallestDistance", 0),
                json.getDouble("declinedShare"),
                json.getLong("observedMessages", 0L));
    return new DedupTally(counts, repeats, hot(json.getJsonArray("hot")));
  }

  private static List<Hot> hot(JsonArray json) {
    List<Hot> hot = new ArrayList<>();
    for (int i = 0; json != null && i < Math.min(json.size(), HOT_MAX); i++) {
      JsonArray each = json.getJsonArray(i);
      String key = each.getString(0);
      String text = key.length() <= TEXT_MAX ? key : key.substring(0, TEXT_MAX);
      hot.add(new Hot(text, each.getLong(1)));
    }
    return List.copyOf(hot);
  }
}
