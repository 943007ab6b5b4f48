package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
  private final Heartbeat beat =
      Heartbeats.with(
          Heartbeats.with(Heartbeats.beat("g", "m", "i", 1), "clusterMember", "c"), "consumed", 2L);

  @Test
  void itIsTheSameAfterTheWire() {
    Heartbeat broken = Heartbeats.with(beat, "breakerOpen", true);
    Heartbeat dying =
        Heartbeats.with(beat, "diedOf", List.of(new MessageId(new Shard(1, 2), 1L << 40, 3)));
    for (Heartbeat each : List.of(beat, beat.asClosing(), broken, dying)) {
      assertThat(Heartbeat.fromJson(new JsonObject(each.toJson().toBuffer()))).isEqualTo(each);
    }
    assertThat(beat.asClosing().closing()).isTrue();
    assertThat(broken.asClosing().breakerOpen()).isTrue();
  }

  @Test
  void whatDeduplicationDidIsTheSameAfterTheWire() {
    Figures counts = Figures.of(GroupFigure.Section.DEDUP, 1, 2, 3, 4, 5, 6, 7, 8);
    for (DedupTally tally :
        List.of(
            new DedupTally(Figures.NONE, null, List.of()),
            new DedupTally(Figures.NONE, new DedupTally.Repeats("none", 0, null, 5), List.of()),
            new DedupTally(
                counts,
                new DedupTally.Repeats("high", 3, 0.25, 1_024),
                List.of(new DedupTally.Hot("a key", 12), new DedupTally.Hot("", 1))))) {
      Heartbeat each = Heartbeats.with(beat, "dedupTally", tally);
      assertThat(Heartbeat.fromJson(new JsonObject(each.toJson().toBuffer()))).isEqualTo(each);
    }
    assertThat(counts.plus(counts).past())
        .isEqualTo(Figures.of(GroupFigure.Section.DEDUP, 2, 4, 6, 8, 10, 12, 0, 0));
  }

  @Test
  void whoSaysNothingOfClosingIsNotClosing() {
    JsonObject json = beat.toJson();
    json.remove("closing");
    assertThat(Heartbeat.fromJson(json)).isEqualTo(beat);
  }

  @Test
  void wishesAreTheSameAfterTheWireAndOldClientsHaveNone() {
    Heartbeat wishing =
        beat.withWishes(new Heartbeat.Wishes("average", 7_000L, 8_000, null, null, null, null));
    assertThat(Heartbeat.fromJson(new JsonObject(wishing.toJson().toBuffer()))).isEqualTo(wishing);
    JsonObject old = beat.toJson();
    List.of("assignor", "stuckTimeoutMillis", "crashLockTimeMillis").forEach(old::remove);
    assertThat(Heartbeat.fromJson(old)).isEqualTo(beat);
  }

  @Test
  void orderAndRetryDelaysAreTheSameAfterTheWireAndTooManyAreNoticed() {
    Heartbeat wishing =
        beat.withWishes(new Heartbeat.Wishes(null, null, 0, null, "key", List.of(0L, 5L), null));
    assertThat(Heartbeat.fromJson(new JsonObject(wishing.toJson().toBuffer()))).isEqualTo(wishing);
    var none = beat.withWishes(new Heartbeat.Wishes(null, null, 0, null, "key", List.of(), null));
    assertThat(Heartbeat.fromJson(new JsonObject(none.toJson().toBuffer()))).isEqualTo(none);
    List<Long> many = Collections.nCopies(Limits.RETRY_DELAYS_MAX + 9, 1L);
    Heartbeat greedy = beat.withWishes(new Heartbeat.Wishes(null, null, 0, null, null, many, null));
    assertThat(Heartbeat.fromJson(greedy.toJson()).wishes().retryDelaysMillis())
        .hasSize(Limits.RETRY_DELAYS_MAX + 1);
    JsonObject missing = wishing.toJson().put("retryDelaysMillis", new JsonArray().addNull());
    assertThatThrownBy(() -> Heartbeat.fromJson(missing)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void theDeathsThatMembersBearAreTheSameAfterTheWireAndOldClientsBearFive() {
    Heartbeat wishing =
        beat.withWishes(new Heartbeat.Wishes(null, null, 0, null, null, null, null, 0, null, 0));
    JsonObject json = new JsonObject(wishing.toJson().toBuffer());
    assertThat(Heartbeat.fromJson(json)).isEqualTo(wishing);
    json.remove("crashesMax");
    assertThat(Heartbeat.fromJson(json).wishes().crashesMax()).isEqualTo(5);
  }

  @Test
  void aResignationAndALeadAreTheSameAfterTheWire() {
    Heartbeat resigned = beat.withWishes(beat.wishes().resignedAt(7L));
    assertThat(Heartbeat.fromJson(new JsonObject(resigned.toJson().toBuffer())))
        .isEqualTo(resigned);
    assertThat(resigned.resignedTerm()).isEqualTo(7);
    assertThat(beat.resignedTerm()).isZero();
    Assignment none = new Assignment("g", "m", "i", 1, 2, List.of(), null);
    var lead = new Assignment("g", "m", "i", 1, 2, List.of(), new Assignment.Lead(7, true, false));
    for (Assignment each : List.of(none, lead)) {
      assertThat(Assignment.fromJson(new JsonObject(each.toJson().toBuffer()))).isEqualTo(each);
    }
  }

  @Test
  void thePolicyIsFlatAndWhatIsMissingIsTheDefault() {
    GroupPolicy policy = new GroupPolicy("level", 20, "push", "key");
    Heartbeat level =
        Heartbeats.with(beat, "policy", policy)
            .withWishes(new Heartbeat.Wishes(null, null, 0, 30_000L, null, null, null));
    JsonObject json = new JsonObject(level.toJson().toBuffer());
    assertThat(Heartbeat.fromJson(json)).isEqualTo(level);
    assertThat(json.getString("mode")).isEqualTo("level");
    assertThat(json.getInteger("range")).isEqualTo(20);
    assertThat(json.getString("strategy")).isEqualTo("push");
    assertThat(json.getString("dedup")).isEqualTo("key");
    List.of("range", "strategy", "dedup", "stallTimeoutMillis").forEach(json::remove);
    Heartbeat bare = Heartbeat.fromJson(json);
    assertThat(bare.policy()).isEqualTo(new GroupPolicy("level", 100, "pull", "off"));
    assertThat(bare.stallTimeoutMillis()).isEqualTo(10_000);
    json.remove("mode");
    assertThat(Heartbeat.fromJson(json).policy()).isEqualTo(GroupPolicy.SHARDED);
    json.put("mode", "level").put("range", (1L << 32) + 5);
    assertThat(Heartbeat.fromJson(json).policy().range()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void marksOfOldClientsSayNothingOfStallsAndPositions() {
    ShardProgress mark = new ShardProgress(new Shard(1, 2), 3, 4L, 5L, 6L, 7L, 8L, null, null);
    assertThat(ShardProgress.fromJson(mark.toJson())).isEqualTo(mark);
    io.vertx.core.json.JsonArray old = mark.toJson();
    old.remove(7);
    assertThat(ShardProgress.fromJson(old))
        .isEqualTo(new ShardProgress(new Shard(1, 2), 3, 4L, 5L, 6L, 7L, null, null, null));
    old.remove(6);
    assertThat(ShardProgress.fromJson(old))
        .isEqualTo(new ShardProgress(new Shard(1, 2), 3, 4L, 5L, 6L, null, null, null, null));
  }

  @Test
  void marksAreTheSameAfterTheWireAndBounded() {
    ShardProgress full = new ShardProgress(new Shard(1, 2), 3, 4L, 5L, 6L, null, 4L, null, null);
    ShardProgress unknown =
        new ShardProgress(new Shard(1, 3), 1, null, null, null, null, null, null, null);
    Heartbeat marked = beat.withMarks(List.of(full, unknown));
    assertThat(Heartbeat.fromJson(new JsonObject(marked.toJson().toBuffer()))).isEqualTo(marked);
    Heartbeat many = beat.withMarks(Collections.nCopies(Heartbeat.MARKS_MAX + 1, full));
    assertThat(Heartbeat.fromJson(many.toJson()).marks()).hasSize(Heartbeat.MARKS_MAX);
    JsonObject old = beat.toJson();
    old.remove("marks");
    assertThat(Heartbeat.fromJson(old)).isEqualTo(beat);
  }
}
