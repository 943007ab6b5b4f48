package dev.evenkeel.bus;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * A member tells the dispatcher that it is there and what it wants. Each says everything: losing or
 * doubling one changes nothing.
 *
 * @param group its group
 * @param member its name, unique in the group
 * @param instance this run of the member: unique for ever
 * @param bornMillis when this run began, by its own clock; of two runs under one name the later
 *     wins
 * @param leaving it goes for good and has released everything (or wants nobody to wait for it)
 * @param closing it has begun to close: it lets go of its shards and wants no more. Once true, true
 *     for the rest of the run
 * @param policy what it must agree on with its group
 * @param topics names of the topics it subscribes to
 * @param start where a new group begins
 * @param clusterMember id of its JVM's cluster member, whose end is also its own
 * @param host for people
 * @param consumed messages finished by this run
 * @param memberTimeoutMillis silence after which it counts as dead
 * @param lockTimeMillis how long a hand-over waits for its release at most
 * @param wishes what else it asks for
 * @param marks of shards that it holds or let go of lately, at most {@link #MARKS_MAX}; a part if
 *     there are more
 * @param dedupTally what deduplication did for it; null: not told
 * @param breakerOpen most of its messages fail, so that it tries one at a time
 * @param flow what it tells of its pace; null: nothing
 */
public record Heartbeat(
    String group,
    String member,
    String instance,
    long bornMillis,
    boolean leaving,
    boolean closing,
    GroupPolicy policy,
    List<String> topics,
    StartAt start,
    String clusterMember,
    String host,
    long consumed,
    long memberTimeoutMillis,
    long lockTimeMillis,
    Wishes wishes,
    List<ShardProgress> marks,
    DedupTally dedupTally,
    boolean breakerOpen,
    FlowTally flow) {

  /** Most {@link #marks} of one heartbeat. */
  public static final int MARKS_MAX = 1_000;

  private static final RecordJson<GroupPolicy> POLICY =
      new RecordJson<>(GroupPolicy.class).unless("range", 0).unless("strategy", null);

  static final RecordJson<Heartbeat> JSON =
      new RecordJson<>(Heartbeat.class)
          .former("closing", false)
          .form("policy", POLICY::writeTo, Heartbeat::readPolicy)
          .list(
              "topics", Integer.MAX_VALUE, topic -> topic, (array, i) -> (String) array.getValue(i))
          .<StartAt>form(
              "start",
              (json, start) ->
                  json.put("startKind", start.kind().name()).put("startValue", start.value()),
              json ->
                  new StartAt(
                      StartAt.Kind.valueOf(json.getString("startKind")),
                      json.getLong("startValue")))
          .form("wishes", Wishes.JSON::writeTo, Wishes.JSON::read)
          .list(
              "marks",
              MARKS_MAX,
              ShardProgress::toJson,
              (array, i) -> ShardProgress.fromJson(array.getJsonArray(i)))
          .former("marks", List.of())
          .object("dedupTally", DedupTally::toJson, DedupTally::fromJson)
          .unless("breakerOpen", false)
          .object("flow", FlowTally::toJson, FlowTally::fromJson);

  /**
   * What a member may ask for.
   *
   * @param assignor of its group, by name; null: the one that the group has
   * @param stuckTimeoutMillis a shard of which something is in hand and nothing was finished for so
   *     long is given to another; null: never
   * @param crashLockTimeMillis how long its shards wait, after its death, for a release that may
   *     still come
   * @param stallTimeoutMillis mode level: a member that others wait for, and that has finished
   *     nothing for so long, is set aside, and what it has in hand is dealt again; null: {@link
   *     Limits#STALL_TIMEOUT_MILLIS_DEFAULT}, and always null in other modes
   * @param order mode level: what the group's dispatcher keeps in order, "none", "key" or "shard";
   *     of different wishes the strictest holds; null: "none", and always null in other modes
   * @param retryDelaysMillis mode level: the pauses before the second and all further attempts of a
   *     message, at most {@link Limits#RETRY_DELAYS_MAX}; of different wishes the one with most
   *     attempts holds, of these the one with the longest pauses in all; null: no wish, and always
   *     null in other modes
   * @param resignedTerm mode singleton: the last term at which this run resigned as the leader: it
   *     leads no more at that one if there is anybody else; null: it has not resigned
   */
  public record Wishes(
      String assignor,
      Long stuckTimeoutMillis,
      long crashLockTimeMillis,
      Long stallTimeoutMillis,
      String order,
      List<Long> retryDelaysMillis,
      Long resignedTerm) {
    /** Nothing out of the ordinary. */
    public static final Wishes NONE = new Wishes(null, null, 0, null, null, null, null);

    private static final RecordJson<Wishes> JSON =
        new RecordJson<>(Wishes.class)
            .former("crashLockTimeMillis", 0L)
            .unless("stallTimeoutMillis", null)
            .unless("order", null)
            // One more than is allowed is read, so that too many are noticed.
            .list(
                "retryDelaysMillis",
                Limits.RETRY_DELAYS_MAX + 1,
                delay -> delay,
                JsonArray::getLong)
            .unless("retryDelaysMillis", null)
            .unless("resignedTerm", null);

    /** Mode singleton: of a member that resigned at that term; null: it did not. */
    public Wishes resignedAt(Long term) {
      return JSON.with(this, "resignedTerm", term);
    }
  }

  /** How it consumes. */
  public String mode() {
    return policy.mode();
  }

  /** Mode level: its {@link Wishes#stallTimeoutMillis}, or the default. */
  public long stallTimeoutMillis() {
    Long wished = wishes.stallTimeoutMillis();
    return wished == null ? Limits.STALL_TIMEOUT_MILLIS_DEFAULT : wished;
  }

  /** Mode singleton: the last term at which it resigned as the leader; 0: at none. */
  public long resignedTerm() {
    return wishes.resignedTerm() == null ? 0 : wishes.resignedTerm();
  }

  /** The same with other marks. */
  public Heartbeat withMarks(List<ShardProgress> others) {
    return JSON.with(this, "marks", others);
  }

  /** The same with other wishes. */
  public Heartbeat withWishes(Wishes others) {
    return JSON.with(this, "wishes", others);
  }

  /** The same, of a member that has begun to close. */
  public Heartbeat asClosing() {
    return JSON.with(this, "closing", true);
  }

  public JsonObject toJson() {
    return JSON.write(this);
  }

  public static Heartbeat fromJson(JsonObject json) {
    return JSON.read(json);
  }

  /** What is missing is as the mode has it by default; mode sharded if that is missing. */
  private static GroupPolicy readPolicy(JsonObject json) {
    Long range = json.getLong("range");
    return GroupPolicy.of(
        json.getString("mode", GroupPolicy.MODE_SHARDED),
        // Beyond an int it is out of bounds in any case, and must not come round to the front.
        range == null ? null : (Integer) (int) Math.max(-1, Math.min(Integer.MAX_VALUE, range)),
        json.getString("strategy"),
        json.getString("dedup"));
  }
}
