package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;

/**
 * A message by which a member tells the dispatcher that it is alive and what it wants. Each one
 * says everything, so it does no harm to lose or repeat one.
 *
 * @param group its group
 * @param member its name, unique in the group
 * @param instance id of this run of the member, never used again
 * @param bornMillis when this run began, by its own clock; of two runs with one name, the later one
 *     wins. Clocks may be wrong: see {@code joining}
 * @param leaving the run ends and has released everything, or does not want anybody to wait for its
 *     releases
 * @param closing the run has begun to close: it releases its shards and wants no others. It stays
 *     true for the rest of the run
 * @param policy settings that must be equal for all members of the group
 * @param topics names of the topics it subscribes to, and patterns of names, see {@link
 *     dev.evenkeel.protocol.TopicPattern}; empty in mode singleton: it is a candidate of an
 *     election, and leads without messages
 * @param start where a new group begins
 * @param clusterMember id of its program's session, or of its JVM's cluster member; when that one
 *     ends, so does this run
 * @param host for people
 * @param consumed messages finished by this run
 * @param memberTimeoutMillis without a heartbeat for this time, it counts as dead
 * @param lockTimeMillis longest time that a handover waits for its release
 * @param wishes settings that members may ask for
 * @param marks its progress on shards that it owns or lost lately; at most {@link #MARKS_MAX} of
 *     them
 * @param dedupTally what deduplication did for it; null: unknown
 * @param breakerOpen most of its messages fail, so it tries one at a time
 * @param flow how fast it consumes; null: unknown
 * @param seen the assignment by which it works; null: it wants to have its assignment again
 * @param user whose program it is: the node that took the heartbeat says so, and whatever the
 *     program says does not count; null: unknown
 * @param version of the member's client; null: unknown
 * @param joining no heartbeat of this run has been answered yet: of all runs with its name it is
 *     the last one that comes, whatever its clock says
 * @param mayConsume names and patterns of the topics that patterns of its may take in; like {@link
 *     #user}, the node says so that took the heartbeat; null: all
 * @param home name of the node at which its program listens, which need not be the node that took
 *     the heartbeat; null: unknown, or known from {@code clusterMember}
 * @param diedOf if it is leaving: messages that it had in hand, as one that has died of one of
 *     them. It has not released their shards. At most {@link #DIED_OF_MAX}; the generation counts
 *     in mode level only. Empty: it ends in good order
 * @param steps where a track of a coordinator stands; null for all other members
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
    FlowTally flow,
    Seen seen,
    String user,
    String version,
    boolean joining,
    List<String> mayConsume,
    String home,
    List<MessageId> diedOf,
    StepReport steps) {

  /**
   * @throws NullPointerException if there is no instance
   */
  public Heartbeat {
    Objects.requireNonNull(instance, "instance");
  }

  /** Of a member that is no track. */
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
      long lockTimeMillis,
      Wishes wishes,
      List<ShardProgress> marks,
      DedupTally dedupTally,
      boolean breakerOpen,
      FlowTally flow,
      Seen seen,
      String user,
      String version,
      boolean joining,
      List<String> mayConsume,
      String home,
      List<MessageId> diedOf) {
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
        wishes,
        marks,
        dedupTally,
        breakerOpen,
        flow,
        seen,
        user,
        version,
        joining,
        mayConsume,
        home,
        diedOf,
        null);
  }

  /** Of a run that has just begun, without wishes. */
  public Heartbeat(
      String group,
      String member,
      String instance,
      long bornMillis,
      GroupPolicy policy,
      List<String> topics,
      StartAt start,
      String clusterMember,
      String host,
      long memberTimeoutMillis,
      long lockTimeMillis) {
    this(
        group,
        member,
        instance,
        bornMillis,
        false,
        false,
        policy,
        topics,
        start,
        clusterMember,
        host,
        0,
        memberTimeoutMillis,
        lockTimeMillis,
        Wishes.NONE,
        List.of(),
        null,
        false,
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        List.of());
  }

  /** Most {@link #diedOf} of one heartbeat. */
  public static final int DIED_OF_MAX = 1_000;

  /** Most bytes of one heartbeat, encoded: 1 MiB. */
  public static final int BYTES_MAX = 1 << 20;

  /** Most entries of {@link #topics} that are patterns. */
  public static final int PATTERNS_MAX = 100;

  /** Most {@link #marks} of one heartbeat. */
  public static final int MARKS_MAX = 1_000;

  /** A heartbeat with so many {@link #marks} may leave out shards, which members name in turns. */
  public static final int MARKS_OF_TURN = 200;

  /** The number of an {@link Assignment}. */
  public record Seen(long term, long revision) {
    private static final RecordJson<Seen> JSON = new RecordJson<>(Seen.class);

    public boolean is(Assignment assignment) {
      return term == assignment.term() && revision == assignment.revision();
    }
  }

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
          .object("flow", FlowTally::toJson, FlowTally::fromJson)
          .object("seen", Seen.JSON::write, Seen.JSON::read)
          .unless("user", null)
          .unless("version", null)
          .unless("joining", false)
          .list("mayConsume", Integer.MAX_VALUE, topic -> topic, JsonArray::getString)
          .unless("mayConsume", null)
          .unless("home", null)
          .list(
              "diedOf", DIED_OF_MAX, Heartbeat::place, (array, i) -> message(array.getJsonArray(i)))
          .unless("diedOf", List.of())
          .object("steps", StepReport.JSON::write, StepReport.JSON::read)
          .unless("steps", null);

  private static JsonArray place(MessageId of) {
    return new JsonArray(
        List.of(of.shard().topicId(), of.shard().shard(), of.offset(), of.generation()));
  }

  private static MessageId message(JsonArray place) {
    return new MessageId(
        new Shard(place.getInteger(0), place.getInteger(1)), place.getLong(2), place.getLong(3));
  }

  /**
   * Settings that a member may ask for.
   *
   * @param assignor name of the assignor for its group; null: the group keeps the one it has
   * @param stuckTimeoutMillis if the member has messages of a shard in hand and finishes none of
   *     them for this time, another member gets the shard; null: never
   * @param crashLockTimeMillis after its death, how long its shards wait for a release that may
   *     still come
   * @param stallTimeoutMillis mode level: if others wait for a member that finishes nothing for
   *     this time, the dispatcher sets it aside and hands out its messages again; null: {@link
   *     Limits#STALL_TIMEOUT_MILLIS_DEFAULT}, and always null in other modes
   * @param order mode level: what the level dispatcher keeps in order, "none", "key" or "shard"; if
   *     members differ, the strictest holds; null: "none", and always null in other modes
   * @param retryDelaysMillis mode level: the pauses before the second and all further attempts of a
   *     message, at most {@link Limits#RETRY_DELAYS_MAX}; if members differ, the list with most
   *     attempts holds, and of these the one with the longest pauses in all; null: no wish, and
   *     always null in other modes
   * @param resignedTerm mode singleton: the last term at which this run resigned as the leader. It
   *     does not lead at that term again if there is another member; null: it has not resigned
   * @param graceMillis mode sharded: for how long nobody else gets its shards after it has ended,
   *     so that a later run of its name gets them back; 0: not at all
   * @param filter {@code MessageFilter.texts} of the messages it wants; null: all of them. Members
   *     of a group have the same, but in mode broadcast
   * @param crashesMax mode level: after so many deaths of members that had it in hand a message
   *     becomes a dead letter, {@link Limits#CRASHES_MAX_LEAST} to {@link Limits#CRASHES_MAX_MOST};
   *     0: never; if members differ, the largest holds, and 0 is larger than any other; always
   *     {@link Limits#CRASHES_MAX_DEFAULT} in other modes
   * @param handedOverTerm an election: the last term at which this run led and has handed over, or
   *     had nothing to hand over; null: it has not led yet
   */
  public record Wishes(
      String assignor,
      Long stuckTimeoutMillis,
      long crashLockTimeMillis,
      Long stallTimeoutMillis,
      String order,
      List<Long> retryDelaysMillis,
      Long resignedTerm,
      long graceMillis,
      List<String> filter,
      int crashesMax,
      Long handedOverTerm) {
    /** No wishes. */
    public static final Wishes NONE = new Wishes(null, null, 0, null, null, null, null);

    /** Of a member that does not come back. */
    public Wishes(
        String assignor,
        Long stuckTimeoutMillis,
        long crashLockTimeMillis,
        Long stallTimeoutMillis,
        String order,
        List<Long> retryDelaysMillis,
        Long resignedTerm) {
      this(
          assignor,
          stuckTimeoutMillis,
          crashLockTimeMillis,
          stallTimeoutMillis,
          order,
          retryDelaysMillis,
          resignedTerm,
          0,
          null,
          Limits.CRASHES_MAX_DEFAULT);
    }

    /** Of a member that does not lead without topics. */
    public Wishes(
        String assignor,
        Long stuckTimeoutMillis,
        long crashLockTimeMillis,
        Long stallTimeoutMillis,
        String order,
        List<Long> retryDelaysMillis,
        Long resignedTerm,
        long graceMillis,
        List<String> filter,
        int crashesMax) {
      this(
          assignor,
          stuckTimeoutMillis,
          crashLockTimeMillis,
          stallTimeoutMillis,
          order,
          retryDelaysMillis,
          resignedTerm,
          graceMillis,
          filter,
          crashesMax,
          null);
    }

    private static final RecordJson<Wishes> JSON =
        new RecordJson<>(Wishes.class)
            .former("crashLockTimeMillis", 0L)
            .unless("stallTimeoutMillis", null)
            .unless("order", null)
            // It reads one more than is allowed, so that the check sees that there are too many.
            .list("retryDelaysMillis", Limits.RETRY_DELAYS_MAX + 1, delay -> delay, Wishes::delay)
            .unless("retryDelaysMillis", null)
            .unless("resignedTerm", null)
            .unless("graceMillis", 0L)
            .list(
                "filter",
                MessageFilter.CONDITIONS_MAX + 1,
                condition -> condition,
                (array, i) -> Objects.requireNonNull(array.getString(i)))
            .unless("filter", null)
            .unless("crashesMax", Limits.CRASHES_MAX_DEFAULT)
            .unless("handedOverTerm", null);

    /** Fails for null, as for anything that is not a number. */
    private static Long delay(JsonArray delays, int index) {
      return Objects.requireNonNull(delays.getLong(index));
    }

    /** The same wishes of a member that resigned at that term; null: it has not resigned. */
    public Wishes resignedAt(Long term) {
      return JSON.with(this, "resignedTerm", term);
    }

    /** The same wishes with an equal filter, or with as much of it as is shown. */
    public Wishes withFilter(List<String> texts) {
      return JSON.with(this, "filter", texts);
    }

    /** The same wishes of a member that has handed over that term; null: it has not led. */
    public Wishes handedOverAt(Long term) {
      return JSON.with(this, "handedOverTerm", term);
    }
  }

  /** The mode of its group. */
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

  /** An election: the last term that it led and has handed over; 0: none. */
  public long handedOverTerm() {
    return wishes.handedOverTerm() == null ? 0 : wishes.handedOverTerm();
  }

  /**
   * A copy that says whose program it is.
   *
   * @param topics names and patterns of the topics that its patterns may take in; null: all
   */
  public Heartbeat ofUser(String name, List<String> topics) {
    Heartbeat own = Objects.equals(user, name) ? this : JSON.with(this, "user", name);
    return Objects.equals(mayConsume, topics) ? own : JSON.with(own, "mayConsume", topics);
  }

  /** A copy that says at which node its program listens; null: unknown. */
  public Heartbeat atHome(String node) {
    return Objects.equals(home, node) ? this : JSON.with(this, "home", node);
  }

  /**
   * A copy with an equal subscription.
   *
   * @param allowed see {@link #mayConsume}
   */
  public Heartbeat subscribing(List<String> entries, List<String> allowed) {
    return JSON.with(JSON.with(this, "topics", entries), "mayConsume", allowed);
  }

  /** A copy with other marks. */
  public Heartbeat withMarks(List<ShardProgress> others) {
    return JSON.with(this, "marks", others);
  }

  /** A copy with other wishes. */
  public Heartbeat withWishes(Wishes others) {
    return JSON.with(this, "wishes", others);
  }

  /** A copy of a run that has not been answered yet. */
  public Heartbeat asJoining() {
    return JSON.with(this, "joining", true);
  }

  /**
   * A copy of a track of a coordinator.
   *
   * @param report where it stands
   * @param assignment by which it goes; null: none
   * @param moved its steps, for people
   */
  public Heartbeat ofTrack(
      StepReport report, Seen assignment, long moved, String client, boolean leaves) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaves,
        closing,
        policy,
        topics,
        start,
        clusterMember,
        host,
        moved,
        memberTimeoutMillis,
        lockTimeMillis,
        wishes,
        marks,
        dedupTally,
        breakerOpen,
        flow,
        assignment,
        user,
        client,
        joining,
        mayConsume,
        home,
        diedOf,
        report);
  }

  /** A copy that says that the run began at another time. */
  public Heartbeat bornAt(long millis) {
    return bornMillis == millis ? this : JSON.with(this, "bornMillis", millis);
  }

  /** A copy that says that the member has begun to close. */
  public Heartbeat asClosing() {
    return JSON.with(this, "closing", true);
  }

  public JsonObject toJson() {
    return JSON.write(this);
  }

  public static Heartbeat fromJson(JsonObject json) {
    return JSON.read(json);
  }

  /** Missing fields have the default of the mode; a missing mode is sharded. */
  private static GroupPolicy readPolicy(JsonObject json) {
    Long range = json.getLong("range");
    return GroupPolicy.of(
        json.getString("mode", GroupPolicy.MODE_SHARDED),
        // A number beyond an int is out of bounds, and must not wrap around into them.
        range == null ? null : (Integer) (int) Math.max(-1, Math.min(Integer.MAX_VALUE, range)),
        json.getString("strategy"),
        json.getString("dedup"));
  }
}
