package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class LevelTextTest {
  private static JsonObject group(JsonObject level) {
    return new JsonObject()
        .put("group", "even")
        .put("mode", "level")
        .put("status", "OK")
        .put(
            "members",
            new JsonArray()
                .add(new JsonObject().put("member", "a").put("consumed", 90))
                .add(new JsonObject().put("member", "b").put("lastHeartbeatMs", 12)))
        .put("level", level)
        .put(
            "shards",
            new JsonArray().add(JsonObject.of("topic", "t", "shard", 0, "owner", "dispatcher@n1")));
  }

  private static JsonObject known() {
    return new JsonObject()
        .put("range", 10)
        .put("strategy", "push")
        .put("gap", 7)
        .put("round", 412)
        .put("holder", "b")
        .put("heldMs", 1_234)
        .put("setAside", 2)
        .put(
            "bars",
            new JsonArray()
                .add(new JsonObject().put("member", "a").put("finished", 4_127).put("inHand", 0))
                .add(new JsonObject().put("member", "b").put("finished", 4_120).put("inHand", 3)));
  }

  @Test
  void itSaysWhoHoldsTheRoundAndWhatEachMemberFinished() {
    assertThat(GroupTexts.of(group(known())))
        .contains("mode      level")
        .contains("range     10\nstrategy  push\ngap       7 of 10\nround     412\n")
        .contains("holder    b holds the round for 1.2 s\nset aside 2 times\n")
        .containsPattern("MEMBER +HOST +NODE +FINISHED +IN HAND +CONSUMED +HEARTBEAT")
        .containsPattern("a +- +- +4127 +0 +90 +-")
        .containsPattern("b +- +- +4120 +3 +- +12 ms ago")
        .containsPattern("t +0 +dispatcher@n1");
  }

  @Test
  void nobodyIsNotUnknown() {
    assertThat(GroupTexts.of(group(known().putNull("holder").putNull("heldMs"))))
        .contains("holder    nobody\n");
    JsonObject unknown = new JsonObject().put("range", 10).put("strategy", "pull").putNull("gap");
    assertThat(GroupTexts.of(group(unknown)))
        .contains("gap       -\nround     -\nholder    -\nset aside -\n")
        .containsPattern("a +- +- +- +- +90 +-");
  }

  @Test
  void aGroupInAnotherModeHasNoSuchLines() {
    JsonObject sharded = group(new JsonObject().putNull("range")).put("mode", "sharded");
    assertThat(GroupTexts.of(sharded))
        .doesNotContain("range")
        .doesNotContain("holder")
        .containsPattern("MEMBER +HOST +NODE +SHARDS +CONSUMED");
  }
}
