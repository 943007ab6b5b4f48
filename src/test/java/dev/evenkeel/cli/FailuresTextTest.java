package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class FailuresTextTest {
  private static JsonObject failures(int retries, int parked, int shards, int dead) {
    return new JsonObject()
        .put(
            "failures",
            new JsonObject()
                .put("retriesWaiting", retries)
                .put("parked", parked)
                .put("shardsWaiting", shards)
                .put("deadLetters", dead));
  }

  @Test
  void nothingIsSaidWhereNothingFailedAndAHyphenWhereNothingIsKnown() {
    assertThat(GroupTexts.failures(new JsonObject())).isEmpty();
    assertThat(GroupTexts.failures(failures(0, 0, 0, 0))).isEmpty();
    assertThat(GroupTexts.failures(new JsonObject().putNull("failures")))
        .isEqualToIgnoringNewLines("\nfailures  -");
  }

  @Test
  void whatWaitsAndWhatWasGivenUpIsCounted() {
    assertThat(GroupTexts.failures(failures(3, 2, 1, 4)).strip())
        .isEqualTo(
            "failures  3 to be tried again, 2 parked behind them, 1 shards wait; 4 dead letters");
  }

  @Test
  void membersThatPauseAreNamed() {
    JsonArray members =
        new JsonArray()
            .add(new JsonObject().put("member", "a").put("breaker", "open"))
            .add(new JsonObject().put("member", "b").put("breaker", "closed"))
            .add(new JsonObject().put("member", "c").putNull("breaker"));
    assertThat(GroupTexts.breakers(failures(0, 0, 0, 0).put("members", members)).strip())
        .isEqualTo("breaker   open: most messages fail at a, where one at a time is tried");
  }
}
