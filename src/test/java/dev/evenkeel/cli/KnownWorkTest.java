package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An idle member leaves only if nothing is known to come. */
class KnownWorkTest {
  private static JsonObject shard(String owner, Long lag, boolean paused) {
    return JsonObject.of("topic", "t", "shard", 0, "owner", owner, "lag", lag, "paused", paused);
  }

  private static GroupView group(String mode, JsonObject json, JsonObject... shards) {
    return RecordJson.of(GroupView.class)
        .read(json.copy().put("mode", mode).put("shards", new JsonArray(List.of(shards))));
  }

  private static String due(JsonObject json, JsonObject... shards) {
    return KnownWork.of(group("sharded", json, shards), "m");
  }

  @Test
  void nothingIsToCome() {
    assertThat(due(new JsonObject(), shard("m", 0L, false))).isNull();
    assertThat(due(new JsonObject().put("failures", failures(0, 0)))).isNull();
    // What others own is theirs.
    assertThat(due(new JsonObject(), shard("other", 7L, false), shard(null, null, false))).isNull();
    assertThat(KnownWork.of(group("broadcast", new JsonObject().put("paused", true)), "m"))
        .isNull();
  }

  @Test
  void somethingIsToCome() {
    assertThat(due(new JsonObject().put("paused", true))).isEqualTo("the group is paused");
    assertThat(due(new JsonObject().put("failures", failures(1, 0)))).contains("retry");
    assertThat(due(new JsonObject().put("failures", failures(0, 1)))).contains("retry");
    assertThat(due(new JsonObject(), shard("m", 0L, true))).isEqualTo("t/0 is paused");
    assertThat(due(new JsonObject(), shard("m", null, false))).contains("cannot be read");
    assertThat(due(new JsonObject(), shard("m", 3L, false))).isEqualTo("t/0 has messages");
  }

  private static JsonObject failures(int waiting, int parked) {
    return RecordJson.json(new GroupView.Failures(waiting, parked, 0, 0));
  }
}
