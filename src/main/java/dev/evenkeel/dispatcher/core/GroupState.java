package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** All that the dispatcher knows of one group. */
public final class GroupState {
  private final String name;
  private final EndedRuns endings;
  private final DirtyGroups agenda;
  private final ShardEnds ends;
  private final MemberTable members;
  private final DepartingMembers leavers = new DepartingMembers();
  private final StuckMembers stuck = new StuckMembers();
  private final KnownLeases book = new KnownLeases();
  private final KnownGroupLeases groupLeases;
  private final Leading leading;
  private final ShardResets resets = new ShardResets();
  private final Map<String, Assignment> given = new HashMap<>();
  private final Set<String> changed = new HashSet<>();

  /** As the meta log has it; null until it was declared. */
  GroupInfo info;

  /** The run that shall hold all shards, in a mode in which one does; else null. */
  String holderInstance;

  /** That run, once it has been heard; else null. It is no member. */
  Member holder;

  /** Term at which it holds the group's lease; 0 until then. */
  long groupTerm;

  /** A command about the group is on its way to the meta log, or must be the next one. */
  boolean metaInFlight;

  /** The group is being forgotten: nobody is taken in until that is over. */
  boolean forgetting;

  /** Topics that the group is forgetting: nobody is let to them until that is over. */
  final Set<String> forgettingTopics = new TreeSet<>();

  /** What last changed the plan. */
  Cause cause;

  Map<Shard, String> target = Map.of();

  /** Instances by name of runs that have ended and are in the registry still. */
  final Map<String, String> awaited = new TreeMap<>();

  /**
   * Shards of a run that was given up which another is being granted, for as long as the log may
   * have taken that. Should the run be heard again meanwhile, it is not told that it owns them.
   */
  final Set<Shard> takenAway = new HashSet<>();

  GroupState(
      String name, EndedRuns endings, DirtyGroups agenda, ShardEnds ends, KnownGroupLeases leases) {
    this.name = name;
    this.endings = endings;
    this.agenda = agenda;
    this.ends = ends;
    this.members = new MemberTable(endings);
    this.groupLeases = leases;
    this.leading = new Leading(this, leases);
  }

  public String name() {
    return name;
  }

  /** As the meta log has it, or null if it is not declared yet. */
  public GroupInfo info() {
    return info;
  }

  public MemberTable members() {
    return members;
  }

  public KnownLeases book() {
    return book;
  }

  /** Who leads it, in mode singleton. */
  Leading leading() {
    return leading;
  }

  /** The leader's name in mode singleton; null if it has gone and no other leads yet. */
  public String leader() {
    return leading.applies() ? leading.leader() : null;
  }

  /** The term of the group's lease in mode singleton; 0 in other modes, and before the first. */
  public long term() {
    return leading.applies() ? leading.lease().term() : 0;
  }

  /**
   * The term that grants name: in mode level that of this node's holder, else the last that the
   * meta log is known to have given. A shard whose lease has a higher one is not granted.
   */
  long grantTerm() {
    return heldAsAWhole() ? groupTerm : groupLeases.of(name).term();
  }

  /** Shards that the group shall be reset on. */
  ShardResets resets() {
    return resets;
  }

  /** Only the dispatcher's own dealer may hold shards: nobody would miss them. */
  boolean memberless() {
    return heldAsAWhole() && members.live().isEmpty() && settled();
  }

  DepartingMembers leavers() {
    return leavers;
  }

  /** Members that finish nothing. */
  public StuckMembers stuck() {
    return stuck;
  }

  /** Messages of a shard that the group has not consumed, by the last look; null if unknown. */
  Long lag(Shard shard) {
    return ends.lag(shard, book.get(shard));
  }

  /** Who shall own a shard, or null. */
  public String target(Shard shard) {
    return target.get(shard);
  }

  /** Whether one run holds all shards, and members own none. */
  boolean heldAsAWhole() {
    return info != null && info.policy().isLevel();
  }

  /** Whether nobody owns a shard, and nobody shall. */
  public boolean ownsNothing() {
    return info != null && info.policy().isBroadcast();
  }

  /** Who may own shards under that name: the live member, or the holder of the group; or null. */
  Member live(String owner) {
    return holder != null && holder.name().equals(owner) ? holder : members.live(owner);
  }

  /** Who holds a lease. */
  public ShardStep.Owner owner(Lease lease) {
    if (lease == null || !lease.owned()) {
      return ShardStep.Owner.NONE;
    }
    Member member = live(lease.owner());
    if (member != null && member.instance().equals(lease.instance())) {
      return ShardStep.Owner.ALIVE;
    }
    if (lease.owner().startsWith(Names.DISPATCHER_HOLDER)) {
      // That of an earlier dispatcher. Nobody waits for it: the term fences it.
      return ShardStep.Owner.DEAD;
    }
    return members.isGhost(lease.instance()) ? ShardStep.Owner.UNHEARD : ShardStep.Owner.DEAD;
  }

  /** Why the run of a member ended, or null if that is not known. */
  Cause ending(String instance) {
    return endings.of(instance);
  }

  /** Until when a shard of a run that has ended waits for a release. */
  long lockedUntilMillis(String instance) {
    return endings.lockedUntilMillis(instance);
  }

  /**
   * Until when a shard waits for the release of an owner that has ended; long past if it does not.
   * A later run of the owner's name is what it would wait for.
   */
  long lockedUntilMillis(Lease lease) {
    return owner(lease) == ShardStep.Owner.DEAD && live(lease.owner()) == null
        ? endings.lockedUntilMillis(lease.instance())
        : Long.MIN_VALUE;
  }

  /** No runs that count as alive without having been heard. */
  boolean settled() {
    return members.ghosts().isEmpty();
  }

  /** Nothing is known of it any more. */
  boolean blank() {
    return info == null
        && !metaInFlight
        && !forgetting
        && forgettingTopics.isEmpty()
        && members.isEmpty()
        && awaited.isEmpty()
        && book.all().isEmpty();
  }

  /** Names of the topics that the group reads: those declared, and those of its members. */
  Collection<String> topicNames() {
    Set<String> names = new TreeSet<>();
    if (info != null) {
      names.addAll(info.topics());
    }
    members.live().forEach(member -> names.addAll(member.beat().topics()));
    return names;
  }

  /** Whether a member subscribes to the topic, or one may that was not heard yet. */
  boolean isRead(String topic) {
    return members.live().stream().anyMatch(member -> member.beat().topics().contains(topic))
        || members.ghosts().stream()
            .anyMatch(ghost -> ghost.topics() == null || ghost.topics().contains(topic));
  }

  /** Every shard of every active topic that the group reads, sorted. */
  public List<Shard> shards(Topics topics) {
    List<Shard> shards = topics.shards(topics.ids(topicNames()));
    shards.sort(null);
    return shards;
  }

  /** How the shards are owned now, compared with the plan. */
  public GroupStatus status(Topics topics) {
    return Targets.status(this, topics);
  }

  /** What a member owns, by another dispatcher's count or this one's, may have changed. */
  void assignmentChanged(String member) {
    changed.add(member);
    agenda.tell(name);
  }

  /** The members to be told, each once. */
  Set<String> takeChanged() {
    Set<String> taken = Set.copyOf(changed);
    changed.clear();
    return taken;
  }

  /** The last assignment of a member, or null. */
  Assignment given(String member) {
    return given.get(member);
  }

  void give(Assignment assignment) {
    given.put(assignment.member(), assignment);
  }

  void forgetGiven(String member) {
    given.remove(member);
  }

  List<Assignment.Owned> owned(Member member, Topics topics) {
    List<Assignment.Owned> owned = new ArrayList<>();
    for (Shard shard : book.ownedBy(member.instance())) {
      Lease lease = book.get(shard);
      String topic = topics.name(shard.topicId());
      if (topic != null && !takenAway.contains(shard)) {
        boolean draining = lease.drain() != null;
        owned.add(
            new Assignment.Owned(
                topic,
                shard,
                lease.epoch(),
                draining,
                draining ? lease.drain().deadlineMillis() : 0,
                book.committedAtGrant(shard)));
      }
    }
    return owned;
  }
}
