package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Admin;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An idle member leaves only if nothing is known to come. */
class KnownWorkTest {
  private static Admin.Shard shard(String owner, Long lag, boolean paused) {
    return new Admin.Shard(
        "t", 0, owner, "OWNED", 1L, 0L, 0L, lag, new JsonObject().put("paused", paused));
  }

  private static Admin.Group group(String mode, JsonObject json, Admin.Shard... shards) {
    return new Admin.Group("g", mode, "OK", 0L, List.of(), List.of(shards), json);
  }

  private static String due(JsonObject json, Admin.Shard... shards) {
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
    return new JsonObject().put("retriesWaiting", waiting).put("parked", parked);
  }
}
