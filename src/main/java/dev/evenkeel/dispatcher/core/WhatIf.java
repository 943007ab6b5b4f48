package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A change of a group that is only supposed: it plans for the group as it would be, and changes
 * nothing. The plan is made by {@link Targets}, like each that is carried out.
 *
 * <p>It supposes that all of the change happens at once, that members which go do not come back,
 * and that the shards which a new layout replaces have been consumed.
 *
 * @param add how many members join; they read all topics of the group
 * @param remove names of the members that leave
 * @param gone the session or cluster member whose members end; null: none
 * @param assignor name of the assignor that the group has then; null: the present one
 * @param shards how many shards topics have then, by name; topics that it does not name stay
 */
public record WhatIf(
    int add, Set<String> remove, String gone, String assignor, Map<String, Integer> shards) {
  /** Most members that can be supposed to join. */
  public static final int ADD_MAX = 1_000;

  /** Most shards that all topics of a group can be supposed to have together. */
  public static final int SHARDS_ALL_MAX = 50_000;

  private static final String ADDED = "new-";

  public WhatIf {
    if (add < 0 || add > ADD_MAX) {
      throw Refusal.INVALID.error("add %s members: use 0 to %s", add, ADD_MAX);
    }
    remove = Set.copyOf(remove);
    shards = Map.copyOf(shards);
    shards.forEach(
        (topic, count) -> {
          if (count < 1 || count > Limits.SHARDS_MAX) {
            throw Refusal.INVALID.error(
                "%s shards of topic '%s': use 1 to %s", count, topic, Limits.SHARDS_MAX);
          }
        });
  }

  /**
   * A shard that gets another owner.
   *
   * @param from who owns it now, or null
   * @param to who owns it then; null: nobody, or the next owner is not known
   */
  public record Move(Shard shard, String from, String to) {}

  /**
   * What would be.
   *
   * @param owners shards of each owner, by its name; members that own none are there, too
   * @param loads what these shards are to each owner, by its name
   * @param topics as they would be
   */
  public record Outcome(
      List<Move> moves, Map<String, Set<Shard>> owners, Map<String, Load> loads, Topics topics) {}

  /**
   * What some shards cost their owner, by the figures of now. Each figure is null if it is unknown
   * for one of the shards.
   *
   * @param lag messages that the group has not consumed
   * @param busy handlers that run at a time
   * @param bytesPerSecond bytes of messages that are handled
   */
  public record Load(Long lag, Double busy, Double bytesPerSecond) {
    private static final Load NONE = new Load(0L, 0.0, 0.0);

    private Load plus(Long moreLag, Snapshot.Work work) {
      return new Load(
          lag == null || moreLag == null ? null : (Long) (lag + moreLag),
          busy == null || work == null ? null : (Double) (busy + work.busy()),
          bytesPerSecond == null || work == null
              ? null
              : (Double) (bytesPerSecond + work.bytesPerSecond()));
    }
  }

  /**
   * What is to be planned.
   *
   * @param now the group as it is
   * @param supposed as it would be
   * @param topics as they would be
   */
  public record Question(
      GroupState now, GroupState supposed, Topics topics, Assignor assignor, Targets.Draft draft) {

    /** The part that takes long: it may be called from any thread. */
    public List<Map<Shard, String>> plan() {
      return draft.plan(assignor);
    }

    /** The answer, with what {@link #plan} has returned. */
    public Outcome outcome(List<Map<Shard, String>> planned) {
      return WhatIf.outcome(now, supposed, topics, draft.with(planned, supposed, topics).owners());
    }
  }

  /**
   * Makes ready to plan for the group with this change.
   *
   * @param assignors gives the assignor of a name; for an unknown one, the default
   * @throws dev.evenkeel.protocol.RefusedException if the group or the change does not allow it
   */
  Question of(GroupState group, Topics topics, Function<String, Assignor> assignors) {
    check(group, topics);
    Topics then = topics(topics);
    GroupState supposed = group.supposing(members(group, then), gone, cause(group));
    if (supposed.leading().applies()) {
      supposed.leading().elect();
    }
    Assignor planner = assignors.apply(assignor == null ? group.assignorName() : assignor);
    return new Question(group, supposed, then, planner, Targets.draft(supposed, then));
  }

  private void check(GroupState group, Topics topics) {
    if (group.ownsNothing()) {
      throw Refusal.INVALID.error(
          "there is no plan for group '%s': in mode broadcast, every member reads all shards",
          group.name());
    }
    if (assignor != null && (group.ownedAsAWhole() || group.leading().applies())) {
      throw Refusal.INVALID.error(
          "assignor '%s': one member owns all shards of group '%s', so no assignor is asked",
          assignor, group.name());
    }
    Set<String> names = names(group);
    for (String member : new TreeSet<>(remove)) {
      if (!names.contains(member)) {
        throw Refusal.INVALID.error(
            "group '%s' has no member '%s': its members are %s",
            group.name(), member, names.isEmpty() ? "none" : String.join(", ", names));
      }
    }
    for (String topic : new TreeSet<>(shards.keySet())) {
      if (topics.byName(topic) == null || !group.topicNames().contains(topic)) {
        throw Refusal.UNKNOWN_TOPIC.error(
            "group '%s' does not read topic '%s'", group.name(), topic);
      }
    }
    long all = 0;
    for (String name : shards.isEmpty() ? List.<String>of() : group.topicNames()) {
      TopicInfo topic = topics.byName(name);
      all += topic == null ? 0 : shards.getOrDefault(name, topic.shards());
    }
    if (all > SHARDS_ALL_MAX) {
      throw Refusal.INVALID.error(
          "the topics of group '%s' would have %s shards: a plan is possible for up to %s",
          group.name(), all, SHARDS_ALL_MAX);
    }
  }

  private static Set<String> names(GroupState group) {
    Set<String> names = new TreeSet<>();
    group.members().live().forEach(member -> names.add(member.name()));
    group.members().unheard().forEach(run -> names.add(run.name()));
    return names;
  }

  /** The topics with the new layouts alone, as when the former shards have been consumed. */
  private Topics topics(Topics topics) {
    List<TopicInfo> then = new ArrayList<>();
    for (TopicInfo topic : topics.all()) {
      Integer count = shards.get(topic.name());
      then.add(count == null || count == topic.shards() ? topic : relaid(topic, count));
    }
    return new Topics(then);
  }

  private static TopicInfo relaid(TopicInfo topic, int count) {
    TopicInfo opened = topic.next() == null ? topic : topic.opened(topic.createdMillis());
    TopicInfo relaid = opened.opening(count, List.of()).opened(topic.createdMillis());
    while (relaid.hasSealed()) {
      relaid = relaid.withoutOldest(false);
    }
    return relaid;
  }

  private MemberTable members(GroupState group, Topics topics) {
    MemberTable members = group.members().without(remove, gone);
    Set<String> taken = names(group);
    Set<String> read =
        group.topicNames().stream()
            .filter(name -> topics.byName(name) != null)
            .collect(Collectors.toUnmodifiableSet());
    List<String> subscription = List.copyOf(read);
    GroupPolicy policy = group.info() == null ? GroupPolicy.SHARDED : group.info().policy();
    int number = 0;
    for (int i = 0; i < add; i++) {
      String name;
      do {
        name = ADDED + ++number;
      } while (taken.contains(name));
      members.suppose(Member.supposed(group.name(), policy, name, subscription, read));
    }
    return members;
  }

  /** What the plan is made for. */
  private Cause cause(GroupState group) {
    if (add > 0) {
      return Cause.JOIN;
    }
    if (!remove.isEmpty() || gone != null) {
      return Cause.LEAVE;
    }
    return assignor != null ? Cause.ASSIGNOR : shards.isEmpty() ? group.cause() : Cause.TOPIC;
  }

  private static Outcome outcome(
      GroupState now, GroupState supposed, Topics topics, Map<Shard, String> targets) {
    Map<String, Set<Shard>> owners = new TreeMap<>();
    names(supposed).forEach(name -> owners.put(name, new TreeSet<>()));
    List<Move> moves = new ArrayList<>();
    Set<Shard> all = new HashSet<>(supposed.ready(topics.ids(supposed.topicNames()), topics));
    all.addAll(targets.keySet());
    for (Shard shard : new TreeSet<>(all)) {
      Lease lease = now.shards().get(shard);
      String from = now.owner(lease).lives() ? lease.owner() : null;
      String to = targets.get(shard);
      if (to != null) {
        owners.computeIfAbsent(to, any -> new TreeSet<>()).add(shard);
      }
      if (from == null ? to != null : !from.equals(to)) {
        moves.add(new Move(shard, from, to));
      }
    }
    Map<String, Load> loads = new TreeMap<>();
    owners.forEach((name, shards) -> loads.put(name, load(now, shards)));
    return new Outcome(moves, owners, loads, topics);
  }

  private static Load load(GroupState group, Set<Shard> shards) {
    Load load = Load.NONE;
    for (Shard shard : shards) {
      ShardState known = group.shards().known(shard);
      load = load.plus(group.lag(shard), known == null ? null : known.work().work());
    }
    return load;
  }
}
