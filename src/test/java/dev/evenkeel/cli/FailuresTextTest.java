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
    assertThat(new FailuresText(new JsonObject()).lines()).isEmpty();
    assertThat(new FailuresText(failures(0, 0, 0, 0)).lines()).isEmpty();
    assertThat(new FailuresText(new JsonObject().putNull("failures")).lines())
        .isEqualToIgnoringNewLines("\nfailures  -");
  }

  @Test
  void what_waits_and_what_was_given_up_is_counted() {
    assertThat(new FailuresText(failures(3, 2, 1, 4)).lines().strip())
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
    assertThat(new FailuresText(failures(0, 0, 0, 0).put("members", members)).lines().strip())
        .isEqualTo("breaker   open: most messages fail at a, where one at a time is tried");
  }
}
