package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Says who would own the shards of a group after a change. Changes nothing. The plan is made by the
 * planner that also makes the real ones; it supposes that all of the change happens at once.
 * Without a body: where the shards are to be now. Refused in mode broadcast.
 *
 * @param group name of the group
 * @param add how many members join; they read all topics of the group
 * @param remove names of the members that leave
 * @param kill name of a node that ends, with the members that run on it
 * @param assignor name of the assignor that decides then
 * @param shards how many shards topics have then, by name
 */
@Body("GroupChange")
public record PlanGroup(
    String group,
    @Bounds(min = 0, max = PlanGroup.ADD_MAX) @Nullable Integer add,
    @Nullable List<String> remove,
    @Nullable String kill,
    @Nullable String assignor,
    @Bounds(min = 1, max = Limits.SHARDS_MAX) @Nullable Map<String, Integer> shards) {

  /** Most members that can be supposed to join. */
  public static final int ADD_MAX = 1_000;

  /** No change: where the shards of the group are to be now. */
  public static PlanGroup of(String group) {
    return new PlanGroup(group, null, null, null, null, null);
  }

  /** So many members join, 0 to 1,000; they read all topics of the group. */
  public PlanGroup adding(int members) {
    return new PlanGroup(group, members, remove, kill, assignor, shards);
  }

  /** This member leaves, too. */
  public PlanGroup removing(String member) {
    List<String> more = remove == null ? new ArrayList<>() : new ArrayList<>(remove);
    more.add(member);
    return new PlanGroup(group, add, more, kill, assignor, shards);
  }

  /** That node ends. */
  public PlanGroup killing(String node) {
    return new PlanGroup(group, add, remove, node, assignor, shards);
  }

  /** That assignor decides. */
  public PlanGroup assignedBy(String newAssignor) {
    return new PlanGroup(group, add, remove, kill, newAssignor, shards);
  }

  /** The topic has so many shards, and its former ones have been consumed. */
  public PlanGroup resharding(String topic, int count) {
    Map<String, Integer> more = shards == null ? new TreeMap<>() : new TreeMap<>(shards);
    more.put(topic, count);
    return new PlanGroup(group, add, remove, kill, assignor, more);
  }

  /**
   * The plan.
   *
   * @param moves shards that get another owner
   * @param owners shards as topic/shard by the name of their owner
   * @param loads what these shards cost each owner, by its name and the figures of now
   */
  public record GroupPlan(
      List<Move> moves, Map<String, List<String>> owners, Map<String, Load> loads) {}

  /**
   * A shard that gets another owner.
   *
   * @param from {@code null}: nobody owns it now
   * @param to {@code null}: nobody owns it then, or the next owner is not known
   */
  public record Move(String topic, int shard, @Nullable String from, @Nullable String to) {}

  /**
   * What shards cost their owner.
   *
   * @param lag messages not consumed; null: unknown
   * @param busy handlers that run at a time; null: unknown
   * @param bytesPerSecond bytes of messages that are handled; null: unknown
   */
  public record Load(
      int shards, @Nullable Long lag, @Nullable Double busy, @Nullable Double bytesPerSecond) {}
}
