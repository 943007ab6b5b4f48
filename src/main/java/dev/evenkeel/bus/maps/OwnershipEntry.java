package dev.evenkeel.bus.maps;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.GroupView.Shard.State;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a shard in a group, in the ownership map. The lease in the log decides; the entry
 * may be late, lost or wrong.
 *
 * @param v version of the entry: {@link #VERSION}; 0: a former version wrote it
 * @param state whether the shard has an owner; null: a later version has another state
 * @param owner the member that owns the shard; null: nobody does
 * @param instance the run of the owner; null: nobody owns the shard
 * @param epoch of the lease: it grows with each owner
 * @param nextOwner who gets the shard after the handover under way; null: nobody, or any member
 * @param drainDeadline when the handover ends at the latest, in milliseconds since 1970; null:
 *     there is none
 * @param term of the dispatcher that wrote the entry; 0: unknown
 * @param writtenMillis when it wrote the entry, by its clock, in milliseconds since 1970; 0:
 *     unknown
 */
public record OwnershipEntry(
    @Default("0") int v,
    String group,
    String topic,
    int shard,
    @Nullable State state,
    @Nullable String owner,
    @Nullable String instance,
    long epoch,
    @Nullable String nextOwner,
    @Nullable Long drainDeadline,
    @Default("0") long term,
    @Default("0") long writtenMillis) {

  public static final int VERSION = 1;

  private static final Pattern KEY = Pattern.compile("([^/]+)/([^/]+)/(\\d{1,9})");

  public static String key(String group, String topic, int shard) {
    return group + "/" + topic + "/" + shard;
  }

  /** What the log says of a lease. */
  public static JsonObject of(
      String group, String topic, int shard, Lease lease, long term, long nowMillis) {
    Drain drain = lease.owned() ? lease.drain() : null;
    return RecordJson.json(
        new OwnershipEntry(
            VERSION,
            group,
            topic,
            shard,
            !lease.owned() ? State.FREE : drain == null ? State.OWNED : State.DRAINING,
            lease.owner(),
            lease.instance(),
            lease.epoch(),
            drain == null || drain.to().isEmpty() ? null : drain.to(),
            drain == null ? null : (Long) drain.deadlineMillis(),
            term,
            nowMillis));
  }

  /** Reads an entry of this, a former or a later version; null if it makes no sense. */
  public static @Nullable OwnershipEntry of(String key, JsonObject json) {
    Matcher parts = KEY.matcher(key);
    if (!parts.matches()) {
      return null;
    }
    // Former versions wrote these parts in the key only.
    JsonObject whole =
        json.copy()
            .put("group", parts.group(1))
            .put("topic", parts.group(2))
            .put("shard", Integer.parseInt(parts.group(3)));
    try {
      return RecordJson.of(OwnershipEntry.class).read(whole);
    } catch (RefusedException e) {
      return null;
    }
  }
}
