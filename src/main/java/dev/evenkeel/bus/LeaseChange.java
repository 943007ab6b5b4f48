package dev.evenkeel.bus;

import dev.evenkeel.api.Inline;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import io.vertx.core.json.JsonObject;

/**
 * Says that a lease was granted, drained, released or forgotten. It is a hint: whoever misses it
 * finds out by reading.
 *
 * @param owner null while nobody owns the shard
 * @param stateOffset the offset that the state stands for; -1: there is no state; {@link
 *     #STATE_UNKNOWN}: a node of a former version does not say it
 * @param groupTerm highest term of the group's lease that a grant has named; 0: no grant named one
 * @param ownerTimeoutMillis without a heartbeat for this time, the owner counts as dead
 * @param stage how far the group is with a shard that is sealed
 * @param crashes owners that died without progress of the group; null: none
 * @param skipped what was dropped before the group had consumed it; null: nothing
 * @param forgotten nobody has released it: the log has dropped it, with its topic say
 */
public record LeaseChange(
    String group,
    @Inline Shard shard,
    long epoch,
    String owner,
    String instance,
    long committed,
    long stateOffset,
    long groupTerm,
    long ownerTimeoutMillis,
    Lease.Stage stage,
    Crashes crashes,
    Skipped skipped,
    boolean forgotten) {

  /** As {@link #stateOffset}: there may be a state. */
  public static final long STATE_UNKNOWN = -2;

  static final RecordJson<Crashes> CRASHES = new RecordJson<>(Crashes.class);

  /** The time of the log is of no use outside of it. */
  static final RecordJson<Skipped> SKIPPED =
      new RecordJson<>(Skipped.class).form("millis", (json, millis) -> {}, json -> 0L);

  private static final RecordJson<LeaseChange> JSON =
      new RecordJson<>(LeaseChange.class)
          .former("stateOffset", STATE_UNKNOWN)
          .former("groupTerm", 0L)
          .former("ownerTimeoutMillis", Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT)
          .form(
              "stage",
              (JsonObject json, Lease.Stage stage) -> json.put("stage", stage.name()),
              json -> Lease.Stage.valueOf(json.getString("stage")))
          .unless("stage", Lease.Stage.CONSUMING)
          .object("crashes", CRASHES::write, CRASHES::read)
          .object("skipped", SKIPPED::write, SKIPPED::read)
          .unless("forgotten", false);

  public static LeaseChange of(Lease lease) {
    return new LeaseChange(
        lease.group(),
        lease.shard(),
        lease.epoch(),
        lease.owner(),
        lease.instance(),
        lease.committed(),
        lease.stateOffset(),
        lease.groupTerm(),
        lease.ownerTimeoutMillis(),
        lease.stage(),
        lease.crashes(),
        lease.skipped(),
        false);
  }

  /** The log has dropped the lease. */
  public static LeaseChange forgotten(Lease former) {
    return new LeaseChange(
        former.group(),
        former.shard(),
        former.epoch(),
        null,
        null,
        former.committed(),
        -1,
        0,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
        Lease.Stage.CONSUMING,
        null,
        null,
        true);
  }

  public JsonObject toJson() {
    return JSON.write(this);
  }

  public static LeaseChange fromJson(JsonObject json) {
    return JSON.read(json);
  }
}
