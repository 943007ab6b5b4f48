package dev.evenkeel.dispatcher;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A member in the registry map, as JSON.
 *
 * @param stallTimeoutMillis the next dispatcher hands out messages by this and what follows before
 *     it has heard any member of a group in mode level; null in other modes
 */
public record RegistryEntry(
    String group,
    String member,
    String instance,
    @Nullable Long bornMillis,
    String mode,
    List<String> topics,
    @Nullable String clusterMember,
    @Nullable String host,
    @Nullable Long consumed,
    long memberTimeoutMillis,
    @Default("0") long crashLockTimeMillis,
    @Default("0") long graceMillis,
    @Default("0") long lastSeenMillis,
    @Default("0") long term,
    @LeftOut @Nullable String user,
    @LeftOut @Nullable Long stallTimeoutMillis,
    @LeftOut @Nullable String order,
    @LeftOut @Nullable List<Long> retryDelaysMillis,
    @LeftOut @Nullable Integer crashesMax,
    @LeftOut @Nullable List<String> filter) {

  static String key(String group, String member) {
    return group + "/" + member;
  }

  static JsonObject of(Member member, long term) {
    Heartbeat beat = member.beat();
    Heartbeat.Wishes wishes = beat.wishes();
    boolean level = beat.policy().isLevel();
    return RecordJson.json(
        new RegistryEntry(
            beat.group(),
            beat.member(),
            beat.instance(),
            beat.bornMillis(),
            beat.mode(),
            List.copyOf(beat.topics()),
            beat.clusterMember(),
            beat.host(),
            beat.consumed(),
            beat.memberTimeoutMillis(),
            wishes.crashLockTimeMillis(),
            wishes.graceMillis(),
            member.heardMillis(),
            term,
            beat.user(),
            level ? wishes.stallTimeoutMillis() : null,
            level ? wishes.order() : null,
            level ? wishes.retryDelaysMillis() : null,
            level ? (Integer) wishes.crashesMax() : null,
            level ? wishes.filter() : null));
  }

  /** The member of an entry, or null if the entry makes no sense. */
  static UnheardMember unheard(JsonObject json, long nowMillis) {
    RegistryEntry entry;
    try {
      entry = RecordJson.of(RegistryEntry.class).read(json);
    } catch (RefusedException e) {
      return null;
    }
    if (entry.group == null || entry.member == null || entry.instance == null) {
      return null;
    }
    return new UnheardMember(
        entry.group,
        entry.member,
        entry.instance,
        entry.bornMillis,
        entry.topics,
        entry.clusterMember,
        entry.host,
        nowMillis + entry.memberTimeoutMillis,
        entry.memberTimeoutMillis,
        entry.wishes(),
        entry.user);
  }

  private Heartbeat.Wishes wishes() {
    return new Heartbeat.Wishes(
        null,
        null,
        crashLockTimeMillis,
        stallTimeoutMillis,
        order,
        retryDelaysMillis,
        null,
        graceMillis,
        filter,
        crashesMax == null ? Limits.CRASHES_MAX_DEFAULT : crashesMax);
  }
}
