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
  void nothing_is_said_where_nothing_failed_and_a_hyphen_where_nothing_is_known() {
    assertThat(GroupText.failures(new JsonObject())).isEmpty();
    assertThat(GroupText.failures(failures(0, 0, 0, 0))).isEmpty();
    assertThat(GroupText.failures(new JsonObject().putNull("failures")))
        .isEqualToIgnoringNewLines("\nfailures  -");
  }

  @Test
  void what_waits_and_what_was_given_up_is_counted() {
    assertThat(GroupText.failures(failures(3, 2, 1, 4)).strip())
        .isEqualTo(
            "failures  3 to be tried again, 2 parked behind them, 1 shards wait; 4 dead letters");
  }

  @Test
  void members_that_pause_are_named() {
    JsonArray members =
        new JsonArray()
            .add(new JsonObject().put("member", "a").put("breaker", "open"))
            .add(new JsonObject().put("member", "b").put("breaker", "closed"))
            .add(new JsonObject().put("member", "c").putNull("breaker"));
    assertThat(GroupText.breakers(failures(0, 0, 0, 0).put("members", members)).strip())
        .isEqualTo("breaker   open: most messages fail at a, where one at a time is tried");
  }
}
