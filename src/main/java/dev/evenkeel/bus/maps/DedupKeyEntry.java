package dev.evenkeel.bus.maps;

import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * A key that deduplication holds for long, in the view of such keys.
 *
 * @param v version of the entry: {@link #VERSION}
 * @param state PROCESS or, if somebody waits, BLOCK
 * @param clusterMember session or cluster member that works on it
 * @param sinceMillis since when it works, by the clock of the cluster, in milliseconds since 1970
 * @param overdueMillis when it loses the key at the latest, by the same clock
 * @param waitingClusterMember session or cluster member that waits; null: nobody does
 * @param waitingSinceMillis since when that one waits; null: nobody does
 */
public record DedupKeyEntry(
    int v,
    String state,
    String clusterMember,
    long sinceMillis,
    long overdueMillis,
    @LeftOut @Nullable String waitingClusterMember,
    @LeftOut @Nullable Long waitingSinceMillis) {

  public static final int VERSION = 1;

  public JsonObject json() {
    return RecordJson.json(this);
  }
}
