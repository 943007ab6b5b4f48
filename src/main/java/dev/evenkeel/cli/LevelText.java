package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** What a group in mode level shows for people. What is unknown is a hyphen. */
final class LevelText {
  private static final String UNKNOWN = "-";

  private final JsonObject level;
  private final Map<String, JsonObject> bars = new HashMap<>();

  /**
   * @param group as the API tells of it, in whatever mode
   */
  LevelText(JsonObject group) {
    level = group.getJsonObject("level", new JsonObject());
    JsonArray all = level.getJsonArray("bars");
    for (int i = 0; all != null && i < all.size(); i++) {
      JsonObject bar = all.getJsonObject(i);
      bars.put(bar.getString("member"), bar);
    }
  }

  /** Whether the group is in mode level. */
  boolean applies() {
    return level.getInteger("range") != null;
  }

  /** A line for each figure; nothing in another mode. */
  String lines() {
    if (!applies()) {
      return "";
    }
    return "\nrange     "
        + level.getInteger("range")
        + "\nstrategy  "
        + word(level.getString("strategy"))
        + "\ngap       "
        + (level.getLong("gap") == null
            ? UNKNOWN
            : level.getLong("gap") + " of " + level.getInteger("range"))
        + "\nround     "
        + word(level.getLong("round"))
        + "\nholder    "
        + holder()
        + "\nset aside "
        + setAside();
  }

  private String setAside() {
    Long times = level.getLong("setAside");
    return times == null ? UNKNOWN : times == 1 ? "once" : times + " times";
  }

  private String holder() {
    if (level.getLong("gap") == null) {
      return UNKNOWN;
    }
    String holder = level.getString("holder");
    if (holder == null) {
      return "nobody";
    }
    Long held = level.getLong("heldMs");
    return held == null
        ? holder
        : String.format(Locale.ROOT, "%s holds the round for %.1f s", holder, held / 1_000.0);
  }

  private static String word(Object figure) {
    return figure == null ? UNKNOWN : figure.toString();
  }

  /** What a member has finished, as the group counts for the range; null if unknown. */
  Long finished(String member) {
    JsonObject bar = bars.get(member);
    return bar == null ? null : bar.getLong("finished");
  }

  /** Messages dealt to a member that have not ended; null if unknown. */
  Long inHand(String member) {
    JsonObject bar = bars.get(member);
    return bar == null ? null : bar.getLong("inHand");
  }
}
