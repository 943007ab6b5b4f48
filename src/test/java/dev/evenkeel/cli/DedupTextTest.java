package dev.evenkeel.cli;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class DedupTextTest {
  private static String lines(JsonObject dedup) {
    return GroupTexts.dedup(new JsonObject().put("dedup", dedup));
  }

  private static JsonObject repetition(String level, Integer distance, Double share) {
    return JsonObject.of("level", level, "smallestDistance", distance, "declinedShare", share);
  }

  @Test
  void whatItSavesAndTheHottestKeys() {
    JsonObject dedup =
        new JsonObject()
            .put("mode", "payload")
            .put("savedShare", 0.5395)
            .put("accepted", 1_163)
            .put("blocked", 679)
            .put("declined", 2_158)
            .put("evicted", 1)
            .put("lost", 2)
            .put("unguarded", 3)
            .put("processing", 12)
            .put("waiting", 7)
            .put("repetition", repetition("high", 1, 0.15));
    JsonArray hot = new JsonArray();
    times(5, i -> hot.add(new JsonObject().put("key", "p" + i).put("declined", 100 - i)));
    assertThat(lines(dedup.copy().put("hot", hot)))
        .isEqualToNormalizingNewlines(
            """

            dedup     payload: 54 % of the work saved, 2158 declined, 1163 accepted, 679 waited
                      now 12 at work, 7 waiting; 1 evicted, 2 lost, 3 unguarded
            hottest   p0 (100), p1 (99), p2 (98)
            repeats   high, every 1 at the closest\
            """);
    assertThat(lines(dedup)).doesNotContain("hottest");
  }

  @Test
  void whatIsUnknownIsAHyphenAndOffIsWhatItWouldSave() {
    assertThat(lines(new JsonObject().put("mode", "key")))
        .isEqualTo("\ndedup     key: - of the work saved");
    assertThat(lines(new JsonObject().put("mode", "off"))).isEmpty();
    assertThat(GroupTexts.dedup(new JsonObject())).isEmpty();
    JsonObject off = new JsonObject().put("mode", "off");
    assertThat(lines(off.put("repetition", repetition("none", null, 0.0))))
        .isEqualTo("\nrepeats   none");
    assertThat(lines(off.put("repetition", repetition("high", 3, 0.412))))
        .isEqualTo("\nrepeats   high, every 3 at the closest; --dedup would save 41 %");
    assertThat(lines(off.put("repetition", repetition("sparse", 300, null))))
        .isEqualTo("\nrepeats   sparse, every 300 at the closest; --dedup would save -");
  }
}
