package dev.evenkeel.dispatcher;

import static dev.evenkeel.bus.Heartbeats.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * During an upgrade, a dispatcher of either version begins with the registry that one of the other
 * version wrote.
 */
class FormerReaderTest {
  private static final long NOW = 1_700_000_001_000L;

  private static final Heartbeat BEAT =
      with(
          Heartbeats.beat("g", "a", "a-1", 100),
          "policy",
          GroupPolicy.of(GroupPolicy.MODE_LEVEL, 10, null, null),
          "user",
          "alice",
          "clusterMember",
          "9f8e",
          "wishes",
          new Heartbeat.Wishes(
              null, null, 1_000, 2_000L, "key", List.of(5L, 6L), null, 3_000, null, 5));

  private static final JsonObject WRITTEN =
      Registrations.of(new Member(BEAT, Set.of("t"), NOW - 500), 7);

  @Test
  void theFormerVersionReadsWhatThisOneWrites() {
    assertThat(FormerReader.unheard(new JsonObject(WRITTEN.encode()), NOW))
        .isEqualTo(Registrations.unheard("g/a", WRITTEN, NOW))
        .isEqualTo(
            new UnheardMember(
                "g",
                "a",
                "a-1",
                100L,
                List.of("t"),
                "9f8e",
                "host",
                NOW + 5_000,
                5_000,
                BEAT.wishes(),
                "alice"));
  }

  @Test
  void thisVersionReadsWhatTheFormerOneWrote() {
    JsonObject former = WRITTEN.copy();
    // It had neither.
    former.remove("v");
    former.remove("crashesMax");
    assertThat(Registrations.unheard("g/a", former, NOW))
        .isEqualTo(FormerReader.unheard(former, NOW));
  }

  @Test
  void noEntryKeepsAMemberAliveForLongerThanMembersMayAskFor() {
    JsonObject forever = WRITTEN.copy().put("memberTimeoutMillis", Long.MAX_VALUE);
    assertThat(Registrations.unheard("g/a", forever, NOW).untilMillis())
        .isEqualTo(NOW + Limits.MEMBER_TIMEOUT_MILLIS_MAX);
    JsonObject former = WRITTEN.copy().put("memberTimeoutMillis", -1);
    assertThat(Registrations.unheard("g/a", former, NOW).untilMillis()).isEqualTo(NOW);
  }

  /** How 0.1.0 reads an entry of the registry, word for word. */
  private static final class FormerReader {
    static UnheardMember unheard(JsonObject entry, long nowMillis) {
      try {
        List<String> topics = new ArrayList<>();
        entry.getJsonArray("topics").forEach(topic -> topics.add((String) topic));
        String group = entry.getString("group");
        String member = entry.getString("member");
        String instance = entry.getString("instance");
        long timeoutMillis = entry.getLong("memberTimeoutMillis");
        if (group == null || member == null || instance == null) {
          return null;
        }
        return new UnheardMember(
            group,
            member,
            instance,
            entry.getLong("bornMillis"),
            topics,
            entry.getString("clusterMember"),
            entry.getString("host"),
            nowMillis + timeoutMillis,
            timeoutMillis,
            wishes(entry),
            entry.getString("user"));
      } catch (ClassCastException | NullPointerException e) {
        return null;
      }
    }

    private static Heartbeat.Wishes wishes(JsonObject entry) {
      JsonArray delays = entry.getJsonArray("retryDelaysMillis");
      return new Heartbeat.Wishes(
          null,
          null,
          entry.getLong("crashLockTimeMillis", 0L),
          entry.getLong("stallTimeoutMillis"),
          entry.getString("order"),
          delays == null
              ? null
              : delays.stream().map(delay -> ((Number) delay).longValue()).toList(),
          null,
          entry.getLong("graceMillis", 0L),
          // It had neither.
          null,
          Limits.CRASHES_MAX_DEFAULT);
    }
  }
}
