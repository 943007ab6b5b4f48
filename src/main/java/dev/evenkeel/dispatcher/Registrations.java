package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.maps.RegistryEntry;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Makes entries of the registry map from members, and members from entries. */
final class Registrations {
  private Registrations() {}

  static JsonObject of(Member member, long term) {
    Heartbeat beat = member.beat();
    Heartbeat.Wishes wishes = beat.wishes();
    boolean level = beat.policy().isLevel();
    return new RegistryEntry(
            RegistryEntry.VERSION,
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
            level ? wishes.filter() : null)
        .json();
  }

  /** The member of an entry, or null if the entry makes no sense. */
  static UnheardMember unheard(String key, JsonObject json, long nowMillis) {
    RegistryEntry entry = RegistryEntry.of(key, json);
    if (entry == null) {
      return null;
    }
    // A stranger may have written it.
    long timeoutMillis =
        Math.max(0, Math.min(entry.memberTimeoutMillis(), Limits.MEMBER_TIMEOUT_MILLIS_MAX));
    return new UnheardMember(
        entry.group(),
        entry.member(),
        entry.instance(),
        entry.bornMillis(),
        entry.topics(),
        entry.clusterMember(),
        entry.host(),
        nowMillis + timeoutMillis,
        timeoutMillis,
        wishes(entry),
        entry.user());
  }

  private static Heartbeat.Wishes wishes(RegistryEntry entry) {
    return new Heartbeat.Wishes(
        null,
        null,
        entry.crashLockTimeMillis(),
        entry.stallTimeoutMillis(),
        entry.order(),
        entry.retryDelaysMillis(),
        null,
        entry.graceMillis(),
        entry.filter(),
        entry.crashesMax() == null ? Limits.CRASHES_MAX_DEFAULT : entry.crashesMax());
  }
}
