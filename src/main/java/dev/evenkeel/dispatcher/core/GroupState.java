package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Everything that the dispatcher knows of one group. */
public final class GroupState {
  private final String name;
  private final DispatcherState state;
  private final MemberTable members;
  private final DepartingMembers departing;
  private final StuckMembers stuck;
  private final GroupShards shards;
  private final Leading leading;
  private final GroupPlan plan;
  private final GroupTopics topics;
  private final Subscriptions subscriptions;
  private final Map<String, Assignment> given = new HashMap<>();

  /** Of a coordinator, and of a group that was one; else null. */
  private StepLimits steps;

  private final TreeSet<String> changed = new TreeSet<>();

  /** Runs that have ended and are still in the registry: instances by name. */
  private final Map<String, String> awaited = new TreeMap<>();

  /** As the meta log has it; null until it was declared. */
  private GroupInfo info;

  /** See {@link #recordUnsure()}. */
  private boolean recordUnsure;

  /** See {@link #recordMark()}. */
  private long recordMark;

  /** What last changed the plan. */
  private Cause cause;

  /**
   * The lease of the whole group. It may be behind the meta log, never ahead of it; the log's
   * compare and set makes up for that.
   */
  private GroupLease lease;

  /** The run that is to own all shards, in a mode in which one run does; else null. */
  private String holderInstance;

  /** That run, once it has been heard; else null. It is no member. */
  private Member holder;

  /** Term at which it holds the group's lease; 0 until then. */
  private long holderTerm;

  /** A command about the group is on its way to the meta log, or must be the next one. */
  private boolean metaBusy;

  /**
   * What is being forgotten, by topic; null: the whole group. Until that is over, nobody can join
   * the group or subscribe to the topic.
   */
  private final Map<String, Deletion> deletions =
      new TreeMap<>(Comparator.nullsFirst(Comparator.naturalOrder()));

  GroupState(String name, DispatcherState state) {
    this.name = name;
    this.state = state;
    members = new MemberTable(state.endings);
    lease = GroupLease.none(name);
    shards = new GroupShards();
    departing = new DepartingMembers();
    stuck = new StuckMembers();
    leading = new Leading(this);
    plan = new GroupPlan(this, state);
    topics = new GroupTopics(state);
    subscriptions = new Subscriptions(this, state);
  }

  /** The group as {@link #supposing} says. */
  private GroupState(GroupState of, MemberTable members, Cause cause) {
    name = of.name;
    state = of.state;
    this.members = members;
    shards = of.shards;
    departing = of.departing;
    stuck = of.stuck;
    leading = new Leading(this);
    plan = new GroupPlan(this, state);
    topics = of.topics;
    subscriptions = of.subscriptions;
    info = of.info;
    lease = of.lease;
    this.cause = cause;
  }

  /**
   * A copy with other members, only to plan for. It shares the shards with this group.
   *
   * @param gone the cluster member that has ended, or null: it holds the group no more
   */
  GroupState supposing(MemberTable members, String gone, Cause cause) {
    GroupState supposed = new GroupState(this, members, cause);
    if (holder != null && (gone == null || !gone.equals(holder.beat().clusterMember()))) {
      supposed.holder = holder;
      supposed.holderTerm = holderTerm;
    }
    return supposed;
  }

  public String name() {
    return name;
  }

  /** As the meta log has it, or null if it is not declared yet. */
  public GroupInfo info() {
    return info;
  }

  /**
   * Takes the group's record from the meta log; null: there is none.
   *
   * @return the topics that the group reads now, and did not before as far as is known
   */
  Set<String> show(GroupInfo now) {
    GroupInfo before = info;
    info = now;
    Set<String> more = new TreeSet<>();
    if (now != null) {
      boolean known = before != null && !before.policy().isBroadcast();
      now.subscriptions().keySet().stream()
          .filter(topic -> !known || !before.reads(topic))
          .forEach(more::add);
    }
    subscriptions.recorded(more);
    if (before != null && now != null && !now.assignor().equals(before.assignor())) {
      replan(Cause.ASSIGNOR);
    } else if (before != null && now != null && !now.mode().equals(before.mode())) {
      plan.retarget();
    }
    return more;
  }

  /**
   * Whether the log may have taken more into the group's record than is known here. New shards come
   * with leases of the group as soon as it has: then they are not left over.
   */
  boolean recordUnsure() {
    return recordUnsure;
  }

  /** It may: an answer was lost. */
  void doubtRecord() {
    recordUnsure = true;
    recordMark++;
  }

  /** It may: these topics are new here, and the group has patterns. */
  void doubtRecord(Collection<String> topics) {
    if (info != null
        && !info.patterns().isEmpty()
        && topics.stream().anyMatch(topic -> !info.reads(topic) && info.takesIn(topic))) {
      doubtRecord();
    }
  }

  /** Grows when the record may have changed: what was read or written before then is old. */
  long recordMark() {
    return recordMark;
  }

  /** The record was shown as it is now, by a request that began at this mark. */
  void recordShown(long mark) {
    recordUnsure &= recordMark != mark;
  }

  public MemberTable members() {
    return members;
  }

  /** Whether it has members, or shards of it wait for some. */
  public boolean hasMembers() {
    return !members.isEmpty() || members.anyAbsent();
  }

  /** Whether there is no such group, as far as is known, and nothing is left of an earlier one. */
  boolean isNothing() {
    return info == null
        && !recordUnsure
        && members.isEmpty()
        && !members.anyAbsent()
        && shards.isEmpty()
        && deletions.isEmpty()
        && lease.term() == 0;
  }

  /** Its shards, with their leases. */
  public GroupShards shards() {
    return shards;
  }

  /** Name of the assignor that it asked for. */
  String assignorName() {
    return info == null ? GroupInfo.ASSIGNOR_DEFAULT : info.assignor();
  }

  /** The part that moves its shards. */
  GroupPlan plan() {
    return plan;
  }

  /** The part that knows on which of its shards it needs leases. */
  Subscriptions subscriptions() {
    return subscriptions;
  }

  /** Something changed for which shards may move: makes a new plan. */
  void replan(Cause why) {
    cause = why;
    plan.retarget();
  }

  /** Something changed that may be the cause of a later plan. */
  void changedBy(Cause why) {
    cause = why;
  }

  /** What last changed the plan. */
  Cause cause() {
    return cause;
  }

  DepartingMembers departing() {
    return departing;
  }

  /** Members that finish nothing. */
  public StuckMembers stuck() {
    return stuck;
  }

  // ---- Tracks of a coordinator

  /** How far its tracks may go; null if it is no coordinator. */
  StepLimits steps() {
    return steps;
  }

  /** How level its tracks are; null if it is no coordinator, or that is not known yet. */
  public LevelFigures stepFigures(long nowMillis) {
    boolean known = steps != null && info != null && info.policy().isSteps();
    return known ? steps.figures(nowMillis) : null;
  }

  /** The same, from now on for a coordinator. */
  StepLimits makeSteps(long term) {
    if (steps == null) {
      boolean mayHaveTracks = state.recordedBefore.contains(name);
      steps = new StepLimits(term, mayHaveTracks ? state.tracksUnknownUntilMillis : Long.MIN_VALUE);
    }
    return steps;
  }

  /** Time has passed. Nothing happens if another dispatcher may be active. */
  void tickSteps(long nowMillis) {
    if (steps != null && state.alone.getAsBoolean()) {
      steps.tick(nowMillis);
      stepsChanged();
    }
  }

  /** Tells the tracks that wait for it. */
  void stepsChanged() {
    steps.urgent().forEach(this::assignmentChanged);
  }

  // ---- The lease of the group

  /** Whether it reads topics, or would if there were some. */
  boolean readsTopics() {
    return info != null && !(info.subscriptions().isEmpty() && info.patterns().isEmpty())
        || members.live().stream().anyMatch(member -> !member.beat().topics().isEmpty());
  }

  /** Whether it is an election: a group in mode singleton that reads no topics. */
  public boolean isElection() {
    return leading.applies() && !readsTopics();
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
    return leading.applies() ? lease.term() : 0;
  }

  GroupLease lease() {
    return lease;
  }

  /**
   * Takes in what the log says of the group's lease, unless it is older than what is known. Returns
   * whether it is news.
   */
  boolean learn(GroupLease read) {
    boolean news = read.term() >= lease.term() && !read.equals(lease);
    if (news) {
      leadChanged();
      lease = read;
      leadChanged();
      plan.retarget();
    }
    return news;
  }

  /** Whether the holder of the lease leads, and for how long, may have changed. */
  void leadChanged() {
    if (lease.held() && isElection()) {
      assignmentChanged(lease.holder());
    }
  }

  /** The group has no lease any more. */
  void forgetLease() {
    lease = GroupLease.none(name);
  }

  /** Appoints the run that is to own all shards, once it has been heard; null: nobody. */
  void appoint(String instance) {
    holderInstance = instance;
    holder = null;
    holderTerm = 0;
    plan.retarget();
  }

  boolean appointed(String instance) {
    return instance.equals(holderInstance);
  }

  /** The appointed run was heard. */
  void heardHolder(Member run) {
    holder = run;
  }

  /** The appointed run, once it has been heard; else null. */
  Member holder() {
    return holder;
  }

  /** The holder has the group's lease at this term. */
  void holds(long term) {
    holderTerm = term;
    replan(Cause.DISPATCHER);
  }

  /** Term at which the holder has the group's lease; 0 until then. */
  long holderTerm() {
    return holderTerm;
  }

  /**
   * The term that grants name: in mode level that of this node's holder, else the last that the
   * meta log is known to have given. A shard whose lease has a higher one is not granted.
   */
  long grantTerm() {
    return ownedAsAWhole() ? holderTerm : lease.term();
  }

  /** Whether one run owns all shards, and members own none. */
  boolean ownedAsAWhole() {
    return info != null && info.policy().isLevel();
  }

  /** Whether members of the group own no shards. */
  public boolean ownsNothing() {
    return info != null && info.policy().isBroadcast();
  }

  // ---- Owners and members

  /**
   * How far the owner of a shard says that it is, which is never below the committed offset; null
   * if nobody owns it, or the owner has not said it.
   */
  public Long position(Shard shard) {
    return shards.get(shard) == null ? null : shards.state(shard).position();
  }

  /**
   * Messages of a shard that the group has not committed, by the last read; null if unknown. That
   * is enough for a plan.
   */
  Long lag(Shard shard) {
    return state.lag(shard, shards.get(shard));
  }

  /** Who is to own a shard, or null. */
  public String target(Shard shard) {
    return plan.targets().owners().get(shard);
  }

  /**
   * The run that may own shards under that name: the live member, or the holder of the group; else
   * null.
   */
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
    return members.isUnheard(lease.owner(), lease.instance())
        ? ShardStep.Owner.UNHEARD
        : ShardStep.Owner.DEAD;
  }

  /**
   * Until when a shard waits for the release of an owner that has ended; long past if it does not
   * wait. It does not wait if a later run of that member lives.
   */
  long lockedUntilMillis(Lease lease) {
    return owner(lease) == ShardStep.Owner.DEAD && live(lease.owner()) == null
        ? state.endings.lockedUntilMillis(lease.instance())
        : Long.MIN_VALUE;
  }

  /** Whether every run that counts as alive has sent a heartbeat. */
  boolean settled() {
    return !members.anyUnheard();
  }

  /**
   * Runs of members have ended: makes a new plan for their shards. A run whose shards wait for a
   * release stays in the registry until then, so that another dispatcher would wait for it, too.
   */
  void ended(List<MemberTable.Ended> ended, long nowMillis) {
    for (MemberTable.Ended each : ended) {
      replan(each.cause());
      if (members.live(each.name()) == null) {
        given.remove(each.name());
        awaited.put(each.name(), each.instance());
      }
    }
    Iterator<Map.Entry<String, String>> runs = awaited.entrySet().iterator();
    while (runs.hasNext()) {
      Map.Entry<String, String> run = runs.next();
      if (members.live(run.getKey()) != null) {
        // A run of this name has the entry.
        runs.remove();
      } else if (nowMillis >= state.endings.lockedUntilMillis(run.getValue())) {
        state.out.add(new DispatcherAction.Unregister(name, run.getKey()));
        runs.remove();
      }
    }
  }

  // ---- Topics

  /** Which topics its members read. */
  GroupTopics topics() {
    return topics;
  }

  /** What a heartbeat subscribes to. */
  GroupTopics.Reading reading(Heartbeat beat) {
    return topics.of(info, beat);
  }

  /** The topics, or what the record names, may have changed: members may read others now. */
  void resubscribe() {
    if (members.resubscribe(beat -> reading(beat).read())) {
      changedBy(Cause.TOPIC);
      plan.retarget();
    }
  }

  /** Whether it reads one of these topics, may do so, or has leases there. */
  boolean isConcernedBy(Topics.Change change) {
    Set<Topics.Subscription> subscribed = new HashSet<>();
    members
        .live()
        .forEach(
            each ->
                subscribed.add(
                    new Topics.Subscription(each.beat().topics(), each.beat().mayConsume())));
    for (String topic : change.names()) {
      boolean wanted = subscribed.stream().anyMatch(each -> each.takesIn(topic));
      if (wanted || info != null && info.reads(topic) || isRead(topic)) {
        return true;
      }
    }
    return change.ids().stream().anyMatch(shards::hasAny);
  }

  /**
   * Topics that members want to read and that the group does not read: the log does not take them
   * into its record, or they were deleted.
   */
  public int topicsLeftOut() {
    Set<String> missing = new HashSet<>();
    for (Member member : members.live()) {
      missing.addAll(state.topics().gone(member.beat().topics()));
      if (topics.leavesOut()) {
        missing.addAll(reading(member.beat()).missing());
      }
    }
    return missing.size();
  }

  /** Nothing is known of it any more. */
  boolean blank() {
    return info == null
        && !metaBusy
        && deletions.isEmpty()
        && members.isEmpty()
        && !members.anyAbsent()
        && awaited.isEmpty()
        && shards.isEmpty()
        && (steps == null || steps.isEmpty());
  }

  /** A command about the group is on its way to the meta log, or must be the next one. */
  boolean metaBusy() {
    return metaBusy;
  }

  void metaBusy(boolean busy) {
    metaBusy = busy;
    recordMark++;
  }

  /** What is being forgotten of the group. */
  List<Deletion> deletions() {
    return List.copyOf(deletions.values());
  }

  /** The deletion of a topic, or of the whole group if null, that is under way; else null. */
  Deletion deletion(String topic) {
    return deletions.get(topic);
  }

  Deletion beginDeletion(String topic) {
    return deletions.computeIfAbsent(topic, Deletion::new);
  }

  void endDeletion(Deletion over) {
    deletions.remove(over.topic, over);
  }

  /** Whether the whole group is being forgotten. */
  boolean forgetting() {
    return deletions.containsKey(null);
  }

  /** Names of the topics that the group reads: those declared, and those of its members. */
  Collection<String> topicNames() {
    Set<String> names = new TreeSet<>();
    if (info != null) {
      names.addAll(info.topics());
    }
    members.live().forEach(member -> names.addAll(member.topics()));
    return names;
  }

  /** Whether a member subscribes to the topic, or one may that was not heard yet. */
  boolean isRead(String topic) {
    return members.live().stream().anyMatch(member -> member.topics().contains(topic))
        || members.unheard().stream().anyMatch(run -> run.mayRead(topic));
  }

  /** Every shard of every active topic that the group reads, sorted. */
  public List<Shard> shards(Topics topics) {
    List<Shard> sorted = topics.shards(topics.ids(topicNames()));
    sorted.sort(null);
    return sorted;
  }

  /** Those of a topic's shards that the group may consume now. */
  List<Shard> ready(Collection<Integer> topicIds, Topics topics) {
    List<Shard> all = topics.shards(topicIds);
    all.removeIf(shard -> !isReady(shard, topics));
    return all;
  }

  /**
   * Whether the group may consume the shard now: it has consumed all shards from which keys have
   * come to this one, so that messages of a key stay in order; and it is not finished with it.
   */
  boolean isReady(Shard shard, Topics topics) {
    Lease own = shards.get(shard);
    if (own != null && own.finished()) {
      // The log knows that the shard is sealed; the topics may have been read before it was.
      return false;
    }
    return areOver(topics.parents(shard), topics);
  }

  /**
   * Whether the group has consumed these shards and all from which keys have come to them, and is
   * not about to consume some again: one without messages is finished as soon as it is sealed,
   * whatever waits in those before it.
   */
  private boolean areOver(Collection<Shard> parents, Topics topics) {
    Set<Shard> layer = new HashSet<>(parents);
    while (!layer.isEmpty()) {
      Set<Shard> before = new HashSet<>();
      for (Shard each : layer) {
        Lease lease = shards.get(each);
        if (lease == null || !lease.passed() || shards.state(each).reset != null) {
          return false;
        }
        before.addAll(topics.parents(each));
      }
      layer = before;
    }
    return true;
  }

  /** How the shards are owned now, compared with the plan. */
  public GroupStatus status(Topics topics) {
    return Targets.status(this, topics);
  }

  // ---- Assignments

  /** What a member owns may have changed. */
  void assignmentChanged(String member) {
    changed.add(member);
    state.dirty.push(name);
  }

  /** Whether a member may need a new assignment. */
  boolean anyChanged() {
    return !changed.isEmpty();
  }

  /** A member that may need a new assignment, each once. */
  String takeChanged() {
    return changed.pollFirst();
  }

  /** The last assignment of a member, or null. */
  Assignment given(String member) {
    return given.get(member);
  }

  void give(Assignment assignment) {
    given.put(assignment.member(), assignment);
  }

  /**
   * Shards that others are giving away to a member. In a large group none: its many pushes would
   * cost more than the first fetch saves.
   */
  List<Assignment.Coming> coming(Member member) {
    return plan.isLarge() ? List.of() : shards.comingTo(member.instance());
  }

  List<Assignment.Owned> owned(Member member, Topics topics) {
    List<Assignment.Owned> owned = new ArrayList<>();
    for (Shard shard : shards.ownedBy(member.instance())) {
      ShardState known = shards.state(shard);
      Lease held = known.lease();
      String topic = topics.name(shard.topicId());
      // Of one that the topics do not have yet, it is not known which shards it continues.
      if (topic != null && topics.has(shard) && !known.takenAway) {
        boolean draining = held.drain() != null;
        owned.add(
            new Assignment.Owned(
                topic,
                shard,
                held.epoch(),
                draining,
                draining ? held.drain().deadlineMillis() : 0,
                known.committedAtGrant(),
                topics.origin(shard, this::leftNothing),
                known.crashesAtGrant(),
                known.skippedAtGrant()));
      }
    }
    return owned;
  }

  /**
   * Wherever the shard began: an owner that keeps state leaves at least the empty one, unless
   * nothing has changed what it took over. If nobody has said whether there is a state, only a
   * shard in which nothing was consumed has none.
   */
  private boolean leftNothing(Shard shard) {
    Lease lease = shards.get(shard);
    if (lease == null || !lease.passed()) {
      return false;
    }
    return lease.stateOffset() == LeaseChange.STATE_UNKNOWN
        ? lease.committed() == 0
        : lease.stateOffset() < 0;
  }
}
