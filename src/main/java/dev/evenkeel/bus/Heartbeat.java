package dev.evenkeel.bus;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

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
    public static final Wishes NONE = new Wishes(null, null, 0);

    /** Without a wish of mode level. */
    public Wishes(String assignor, Long stuckTimeoutMillis, long crashLockTimeMillis) {
      this(assignor, stuckTimeoutMillis, crashLockTimeMillis, null, null, null, null);
    }

    /** Without a resignation. */
    public Wishes(
        String assignor,
        Long stuckTimeoutMillis,
        long crashLockTimeMillis,
        Long stallTimeoutMillis,
        String order,
        List<Long> retryDelaysMillis) {
      this(
          assignor,
          stuckTimeoutMillis,
          crashLockTimeMillis,
          stallTimeoutMillis,
          order,
          retryDelaysMillis,
          null);
    }

    /** Mode singleton: of a member that resigned at that term; null: it did not. */
    public Wishes resignedAt(Long term) {
      return new Wishes(
          assignor,
          stuckTimeoutMillis,
          crashLockTimeMillis,
          stallTimeoutMillis,
          order,
          retryDelaysMillis,
          term);
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

  /** Without wishes and marks. */
  public Heartbeat(
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
      long lockTimeMillis) {
    this(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        closing,
        policy,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        Wishes.NONE,
        List.of(),
        null,
        false,
        null);
  }

  private Heartbeat with(
      boolean isClosing,
      GroupPolicy newPolicy,
      Wishes newWishes,
      List<ShardProgress> newMarks,
      DedupTally newTally,
      boolean isBreakerOpen) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        isClosing,
        newPolicy,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        newWishes,
        newMarks,
        newTally,
        isBreakerOpen,
        flow);
  }

  /** The same with other marks. */
  public Heartbeat withMarks(List<ShardProgress> others) {
    return with(closing, policy, wishes, others, dedupTally, breakerOpen);
  }

  /** The same with other wishes. */
  public Heartbeat withWishes(Wishes others) {
    return with(closing, policy, others, marks, dedupTally, breakerOpen);
  }

  /** The same with another policy. */
  public Heartbeat withPolicy(GroupPolicy other) {
    return with(closing, other, wishes, marks, dedupTally, breakerOpen);
  }

  /** The same with another tally. */
  public Heartbeat withTally(DedupTally other) {
    return with(closing, policy, wishes, marks, other, breakerOpen);
  }

  /** The same, of a member that has begun to close. */
  public Heartbeat asClosing() {
    return with(true, policy, wishes, marks, dedupTally, breakerOpen);
  }

  /** The same of a member whose breaker is open or not. */
  public Heartbeat withBreaker(boolean open) {
    return with(closing, policy, wishes, marks, dedupTally, open);
  }

  public JsonObject toJson() {
    JsonArray markArray = new JsonArray();
    marks.forEach(mark -> markArray.add(mark.toJson()));
    JsonObject json =
        new JsonObject()
            .put("group", group)
            .put("member", member)
            .put("instance", instance)
            .put("bornMillis", bornMillis)
            .put("leaving", leaving)
            .put("closing", closing)
            .put("mode", policy.mode())
            .put("dedup", policy.dedup())
            .put("topics", new JsonArray(new ArrayList<>(topics)))
            .put("startKind", start.kind().name())
            .put("startValue", start.value())
            .put("clusterMember", clusterMember)
            .put("host", host)
            .put("consumed", consumed)
            .put("memberTimeoutMillis", memberTimeoutMillis)
            .put("lockTimeMillis", lockTimeMillis)
            .put("assignor", wishes.assignor())
            .put("stuckTimeoutMillis", wishes.stuckTimeoutMillis())
            .put("crashLockTimeMillis", wishes.crashLockTimeMillis())
            .put("marks", markArray);
    putUnless(json, "range", policy.range(), 0);
    putUnless(json, "strategy", policy.strategy(), null);
    putUnless(json, "stallTimeoutMillis", wishes.stallTimeoutMillis(), null);
    putUnless(json, "order", wishes.order(), null);
    List<Long> delays = wishes.retryDelaysMillis();
    putUnless(
        json,
        "retryDelaysMillis",
        delays == null ? null : new JsonArray(new ArrayList<>(delays)),
        null);
    putUnless(json, "resignedTerm", wishes.resignedTerm(), null);
    putUnless(json, "dedupTally", dedupTally == null ? null : dedupTally.toJson(), null);
    putUnless(json, "breakerOpen", breakerOpen, false);
    putUnless(json, "flow", flow == null ? null : flow.toJson(), null);
    return json;
  }

  /** Says only what is out of the ordinary. */
  private static void putUnless(JsonObject json, String name, Object value, Object usual) {
    if (!Objects.equals(value, usual)) {
      json.put(name, value);
    }
  }

  public static Heartbeat fromJson(JsonObject json) {
    List<String> topics = new ArrayList<>();
    json.getJsonArray("topics").forEach(topic -> topics.add((String) topic));
    return new Heartbeat(
        json.getString("group"),
        json.getString("member"),
        json.getString("instance"),
        json.getLong("bornMillis"),
        json.getBoolean("leaving"),
        json.getBoolean("closing", false),
        policy(json),
        List.copyOf(topics),
        new StartAt(StartAt.Kind.valueOf(json.getString("startKind")), json.getLong("startValue")),
        json.getString("clusterMember"),
        json.getString("host"),
        json.getLong("consumed"),
        json.getLong("memberTimeoutMillis"),
        json.getLong("lockTimeMillis"),
        new Wishes(
            json.getString("assignor"),
            json.getLong("stuckTimeoutMillis"),
            json.getLong("crashLockTimeMillis", 0L),
            json.getLong("stallTimeoutMillis"),
            json.getString("order"),
            delays(json.getJsonArray("retryDelaysMillis")),
            json.getLong("resignedTerm")),
        marks(json.getJsonArray("marks")),
        DedupTally.fromJson(json.getJsonObject("dedupTally")),
        json.getBoolean("breakerOpen", false),
        FlowTally.fromJson(json.getJsonObject("flow")));
  }

  /** One more than is allowed is read, so that too many are noticed. */
  private static List<Long> delays(JsonArray json) {
    return json == null
        ? null
        : json.stream()
            .limit(Limits.RETRY_DELAYS_MAX + 1L)
            .map(delay -> ((Number) delay).longValue())
            .toList();
  }

  /** What is missing is as the mode has it by default; mode sharded if that is missing. */
  private static GroupPolicy policy(JsonObject json) {
    Long range = json.getLong("range");
    return GroupPolicy.of(
        json.getString("mode", GroupPolicy.MODE_SHARDED),
        // Beyond an int it is out of bounds in any case, and must not come round to the front.
        range == null ? null : (Integer) (int) Math.max(-1, Math.min(Integer.MAX_VALUE, range)),
        json.getString("strategy"),
        json.getString("dedup"));
  }

  private static List<ShardProgress> marks(JsonArray json) {
    List<ShardProgress> marks = new ArrayList<>();
    for (int i = 0; json != null && i < Math.min(json.size(), MARKS_MAX); i++) {
      marks.add(ShardProgress.fromJson(json.getJsonArray(i)));
    }
    return List.copyOf(marks);
  }
}
