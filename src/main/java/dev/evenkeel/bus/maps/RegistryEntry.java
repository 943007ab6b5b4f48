package dev.evenkeel.bus.maps;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A member of a group, in the registry map. Its heartbeats decide; the entry may be late, lost or
 * wrong.
 *
 * @param v version of the entry: {@link #VERSION}; 0: a former version wrote it
 * @param instance the run of the member: each start has another one
 * @param bornMillis when the run began, by its own clock, in milliseconds since 1970; null: unknown
 * @param mode sharded, level, singleton or broadcast
 * @param topics names and patterns of the topics that it subscribes to
 * @param clusterMember its session or cluster member; null: unknown
 * @param consumed messages that the run had finished; null: unknown
 * @param memberTimeoutMillis silence after which the member counts as dead
 * @param crashLockTimeMillis how long its shards stay without an owner after its death
 * @param graceMillis how long its shards wait for its next run after it has ended
 * @param lastSeenMillis when its last heartbeat came before the entry was written, by the clock of
 *     the dispatcher, in milliseconds since 1970
 * @param term of the dispatcher that wrote the entry
 * @param user whose program it is; null: the cluster has no users
 * @param stallTimeoutMillis the next dispatcher hands out messages by this and what follows before
 *     it has heard any member of a group in mode level; null in other modes
 * @param order mode level: shard, key or none
 * @param retryDelaysMillis mode level: pauses between the attempts of a message
 * @param crashesMax mode level: after how many deaths a message becomes a dead letter
 * @param filter mode level: conditions on key and headers
 */
public record RegistryEntry(
    @Default("0") int v,
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

  public static final int VERSION = 1;

  public static String key(String group, String member) {
    return group + "/" + member;
  }

  /** Reads an entry of this, a former or a later version; null if it makes no sense. */
  @SuppressWarnings("NullAway") // What the lenient reader does not find is null.
  public static @Nullable RegistryEntry of(String key, JsonObject json) {
    RegistryEntry entry;
    try {
      entry = RecordJson.of(RegistryEntry.class).read(json);
    } catch (RefusedException e) {
      return null;
    }
    boolean whole = entry.group != null && entry.member != null && entry.instance != null;
    return whole && key.equals(key(entry.group, entry.member)) ? entry : null;
  }

  public JsonObject json() {
    return RecordJson.json(this);
  }
}
