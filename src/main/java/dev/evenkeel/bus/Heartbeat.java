package dev.evenkeel.bus;

import dev.evenkeel.model.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
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
 * @param mode "sharded"
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
 */
public record Heartbeat(
    String group,
    String member,
    String instance,
    long bornMillis,
    boolean leaving,
    boolean closing,
    String mode,
    List<String> topics,
    StartAt start,
    String clusterMember,
    String host,
    long consumed,
    long memberTimeoutMillis,
    long lockTimeMillis,
    Wishes wishes,
    List<ShardMark> marks) {

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
   */
  public record Wishes(String assignor, Long stuckTimeoutMillis, long crashLockTimeMillis) {
    /** Nothing out of the ordinary. */
    public static final Wishes NONE = new Wishes(null, null, 0);
  }

  /** Without wishes and marks. */
  public Heartbeat(
      String group,
      String member,
      String instance,
      long bornMillis,
      boolean leaving,
      boolean closing,
      String mode,
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
        mode,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        Wishes.NONE,
        List.of());
  }

  /** The same with other marks. */
  public Heartbeat withMarks(List<ShardMark> others) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        closing,
        mode,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        wishes,
        others);
  }

  /** The same with other wishes. */
  public Heartbeat withWishes(Wishes others) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        closing,
        mode,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        others,
        marks);
  }

  /** The same, of a member that has begun to close. */
  public Heartbeat asClosing() {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        true,
        mode,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        wishes,
        marks);
  }

  public JsonObject toJson() {
    JsonArray markArray = new JsonArray();
    marks.forEach(mark -> markArray.add(mark.toJson()));
    return new JsonObject()
        .put("group", group)
        .put("member", member)
        .put("instance", instance)
        .put("bornMillis", bornMillis)
        .put("leaving", leaving)
        .put("closing", closing)
        .put("mode", mode)
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
        json.getString("mode"),
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
            json.getLong("crashLockTimeMillis", 0L)),
        marks(json.getJsonArray("marks")));
  }

  private static List<ShardMark> marks(JsonArray json) {
    List<ShardMark> marks = new ArrayList<>();
    for (int i = 0; json != null && i < Math.min(json.size(), MARKS_MAX); i++) {
      marks.add(ShardMark.fromJson(json.getJsonArray(i)));
    }
    return List.copyOf(marks);
  }
}
