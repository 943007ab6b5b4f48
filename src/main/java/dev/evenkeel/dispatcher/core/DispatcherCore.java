package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the active dispatcher does, without clock and I/O: every input gives the actions that follow
 * from it. One instance serves one activation; it is made anew from the log and the registry when
 * this node becomes the dispatcher again.
 *
 * <p>Times are milliseconds since 1970 of a clock that never goes back. Not thread-safe.
 *
 * <p>Nothing here is decided for good: each step of a shard is a compare and set in the log, so two
 * dispatchers at once, a lost answer or a wrong map can cost time but not safety.
 */
public final class DispatcherCore {
  private static final int DEPARTED_MAX = 10_000;

  /** A group with what moves its shards. */
  private record Group(GroupState state, GroupPlan plan) {}

  private record WriteRef(Group group, Shard shard) {}

  private record MetaRef(String group, MetaCommand command) {}

  private record LeaseRead(String group, Map<String, Long> marks) {}

  private final DispatcherSettings settings;
  private final Assignor assignor;
  private final long term;
  private final Endings endings = new Endings();
  private final MoveLog moves = new MoveLog();
  private final Map<String, Group> groups = new TreeMap<>();
  private final HeldBeats held;
  private final Map<Long, WriteRef> writes = new HashMap<>();
  private final Map<Long, MetaRef> metaWrites = new HashMap<>();
  private final Map<Long, String> forgets = new HashMap<>();
  private final Map<Long, LeaseRead> leaseReads = new HashMap<>();
  private final Set<String> readAgain = new HashSet<>();
  private final Set<String> departed =
      java.util.Collections.newSetFromMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > DEPARTED_MAX;
            }
          });
  private final Map<Long, Long> groupReads = new HashMap<>();
  private Set<String> clusterMembers;
  private Topics topics = Topics.NONE;
  private Long viewReadInFlight;
  private boolean viewAgain;
  private long metaSequence;
  private long nextId = 1;
  private long revision;
  private long rebalanceAtMillis;
  private List<Action> out = new ArrayList<>();

  /**
   * @param term of this activation: higher than that of every earlier dispatcher
   * @param revision assignments are numbered from here; of two activations in one term the later
   *     must be given the {@link #revision()} of the earlier
   * @param clusterMembers ids of the cluster's members now
   */
  public DispatcherCore(
      DispatcherSettings settings,
      Assignor assignor,
      long term,
      long revision,
      Set<String> clusterMembers) {
    this.settings = settings;
    this.assignor = assignor;
    this.term = term;
    this.revision = revision;
    this.clusterMembers = Set.copyOf(clusterMembers);
    this.held = new HeldBeats(settings.heldMax());
  }

  /**
   * Takes over from what the log and the registry say.
   *
   * @param registered members by the registry; none if the map is lost
   */
  public List<Action> recover(
      List<TopicInfo> activeTopics,
      List<GroupInfo> infos,
      List<ShardStatus> statuses,
      List<Ghost> registered,
      long nowMillis) {
    topics = new Topics(activeTopics);
    for (GroupInfo info : infos) {
      group(info.name()).state().info = info;
    }
    for (Ghost ghost : registered) {
      Group group = groups.get(ghost.group());
      if (group != null) {
        group.state().members().sighted(ghost);
      }
    }
    read(statuses, null, Map.of(), nowMillis);
    rebalanceAtMillis = nowMillis + settings.rebalanceMillis();
    groups.values().forEach(group -> group.plan().retarget());
    return done(nowMillis);
  }

  // ---- Members

  /**
   * A heartbeat. It is answered by {@link Action.Answer} or {@link Action.Refuse}, now or after the
   * log or the topics were asked.
   *
   * @param request names it in the answer
   */
  public List<Action> heartbeat(long request, Heartbeat beat, long nowMillis) {
    try {
      HeartbeatRules.check(beat);
    } catch (RefusedException e) {
      return refuse(request, e.refusal(), e.getMessage(), nowMillis);
    }
    if (beat.leaving()) {
      return leave(request, beat, nowMillis);
    }
    if (beat.clusterMember() != null
        && departed.contains(beat.clusterMember())
        && !clusterMembers.contains(beat.clusterMember())) {
      return refuse(
          request,
          Refusal.UNAVAILABLE,
          "the cluster member " + beat.clusterMember() + " has left: join the cluster afresh",
          nowMillis);
    }
    admit(new HeldBeats.Held(request, beat, false), nowMillis);
    return done(nowMillis);
  }

  private List<Action> refuse(long request, Refusal refusal, String detail, long nowMillis) {
    out.add(new Action.Refuse(request, refusal, detail));
    return done(nowMillis);
  }

  private List<Action> leave(long request, Heartbeat beat, long nowMillis) {
    Group group = groups.get(beat.group());
    if (group == null) {
      endings.add(beat.instance(), Cause.LEAVE);
    } else {
      MemberTable.Ended ended = group.state().members().leave(beat.member(), beat.instance());
      if (ended != null) {
        ended(group, List.of(ended));
      }
    }
    out.add(
        new Action.Answer(
            request,
            new Assignment(
                beat.group(), beat.member(), beat.instance(), term, ++revision, List.of())));
    return done(nowMillis);
  }

  private void admit(HeldBeats.Held arrival, long nowMillis) {
    Heartbeat beat = arrival.beat();
    long request = arrival.request();
    // Asked here, because one that waited may have been overtaken by its own goodbye.
    if (endings.of(beat.instance()) == Cause.LEAVE) {
      out.add(
          new Action.Refuse(
              request,
              Refusal.INVALID,
              "this run of "
                  + beat.member()
                  + " has left the group: a new run needs a new instance"));
      return;
    }
    String unknown = topics.unknown(beat.topics());
    if (unknown != null) {
      if (arrival.topicsFresh()) {
        out.add(
            new Action.Refuse(
                request, Refusal.UNKNOWN_TOPIC, "there is no topic '" + unknown + "'"));
      } else {
        holdForTopics(arrival);
      }
      return;
    }
    Group group = groups.get(beat.group());
    GroupInfo info = group == null ? null : group.state().info;
    if (group != null && group.state().forgetting) {
      holdForGroup(arrival);
    } else if (info == null || !info.mode().equals(beat.mode())) {
      agree(arrival, info);
    } else if (!info.topics().containsAll(beat.topics())) {
      declare(arrival, false);
    } else {
      take(group, request, beat, nowMillis);
    }
  }

  /** The group is new, or runs in another mode. */
  private void agree(HeldBeats.Held arrival, GroupInfo info) {
    Heartbeat beat = arrival.beat();
    Group group = groups.get(beat.group());
    if (info != null && group.state().members().othersThan(beat.member())) {
      out.add(
          new Action.Refuse(
              arrival.request(),
              Refusal.GROUP_MISMATCH,
              "group " + beat.group() + " runs in mode " + info.mode() + ", not " + beat.mode()));
    } else if (!settings.modes().contains(beat.mode())) {
      out.add(
          new Action.Refuse(
              arrival.request(),
              Refusal.INVALID,
              "unknown mode '"
                  + beat.mode()
                  + "': use "
                  + String.join(" or ", new TreeSet<>(settings.modes()))));
    } else {
      declare(arrival, info != null);
    }
  }

  private void declare(HeldBeats.Held arrival, boolean force) {
    Heartbeat beat = arrival.beat();
    GroupState state = group(beat.group()).state();
    holdForGroup(arrival);
    if (!state.metaInFlight) {
      writeMeta(
          state,
          new MetaCommand.DeclareGroup(
              beat.group(),
              beat.mode(),
              List.copyOf(new TreeSet<>(beat.topics())),
              beat.start(),
              force));
    }
  }

  private void take(Group group, long request, Heartbeat beat, long nowMillis) {
    MemberTable members = group.state().members();
    if (members.live(beat.member()) == null && memberCount() >= settings.membersMax()) {
      out.add(
          new Action.Refuse(
              request,
              Refusal.OVERLOADED,
              "the cluster has " + settings.membersMax() + " members, which is its limit"));
      return;
    }
    MemberTable.Heard heard = members.heard(beat, nowMillis);
    if (heard == MemberTable.Heard.REFUSED) {
      out.add(
          new Action.Refuse(
              request,
              Refusal.MEMBER_REPLACED,
              "a later run of member " + beat.member() + " has taken its place"));
      return;
    }
    if (heard != MemberTable.Heard.SAME) {
      group.state().cause =
          switch (heard) {
            case REPLACED_FORMER -> Cause.REPLACED;
            case CHANGED -> Cause.TOPIC;
            case CLOSING -> Cause.LEAVE;
            case JOINED -> Cause.JOIN;
            default -> group.state().cause;
          };
      out.add(new Action.Register(members.live(beat.member())));
      group.plan().retarget();
    }
    out.add(new Action.Answer(request, assignment(group.state(), members.live(beat.member()))));
  }

  private int memberCount() {
    int count = 0;
    for (Group group : groups.values()) {
      count += group.state().members().live().size();
    }
    return count;
  }

  /** The cluster's members now. Those gone take the consumers with them that named them. */
  public List<Action> clusterMembers(Set<String> ids, long nowMillis) {
    Set<String> gone = new HashSet<>(clusterMembers);
    gone.removeAll(ids);
    clusterMembers = Set.copyOf(ids);
    departed.removeAll(ids);
    departed.addAll(gone);
    if (!gone.isEmpty()) {
      for (Group group : groups.values()) {
        ended(group, group.state().members().clusterMembersLeft(gone));
      }
    }
    return done(nowMillis);
  }

  private void ended(Group group, List<MemberTable.Ended> ended) {
    for (MemberTable.Ended each : ended) {
      group.state().cause = each.cause();
      if (group.state().members().live(each.name()) == null) {
        group.state().forgetGiven(each.name());
        out.add(new Action.Unregister(group.state().name(), each.name()));
      }
    }
    if (!ended.isEmpty()) {
      group.plan().retarget();
    }
  }

  // ---- Waiting heartbeats

  private void holdForTopics(HeldBeats.Held arrival) {
    refuseDropped(held.forTopics(arrival, viewReadInFlight));
    if (viewReadInFlight == null) {
      readView();
    }
  }

  private void holdForGroup(HeldBeats.Held arrival) {
    refuseDropped(held.forGroup(arrival));
  }

  private void refuseDropped(HeldBeats.Held dropped) {
    if (dropped != null) {
      out.add(
          new Action.Refuse(
              dropped.request(), Refusal.OVERLOADED, "too many members join at once: try again"));
    }
  }

  // ---- Topics

  /** Somebody says that topics changed. */
  public List<Action> topicsChanged(long nowMillis) {
    if (viewReadInFlight == null) {
      readView();
    } else {
      viewAgain = true;
    }
    return done(nowMillis);
  }

  private void readView() {
    viewReadInFlight = nextId++;
    out.add(new Action.ReadView(viewReadInFlight));
  }

  /**
   * Answers {@link Action.ReadView}.
   *
   * @param activeTopics null if they cannot be read now
   */
  public List<Action> viewRead(long id, List<TopicInfo> activeTopics, long nowMillis) {
    if (viewReadInFlight == null || viewReadInFlight != id) {
      return done(nowMillis);
    }
    viewReadInFlight = null;
    List<HeldBeats.Held> waiting = held.topicsRead(id);
    if (activeTopics == null) {
      for (HeldBeats.Held each : waiting) {
        out.add(
            new Action.Refuse(
                each.request(), Refusal.UNAVAILABLE, "the topics cannot be read now: try again"));
      }
    } else {
      topics(new Topics(activeTopics));
      waiting.forEach(each -> admit(each.fresh(), nowMillis));
    }
    if ((viewAgain || held.needsTopics()) && viewReadInFlight == null) {
      viewAgain = false;
      readView();
    }
    return done(nowMillis);
  }

  private void topics(Topics next) {
    if (next.sameShardsAs(topics)) {
      topics = next;
      return;
    }
    topics = next;
    for (Group group : groups.values()) {
      group.state().cause = Cause.TOPIC;
      group.plan().topicsChanged(topics);
      group.state().members().live().forEach(m -> group.state().assignmentChanged(m.name()));
    }
    readLeases(null);
  }

  // ---- Groups in the meta log

  private Group group(String name) {
    return groups.computeIfAbsent(
        name,
        fresh -> {
          GroupState state = new GroupState(fresh, endings);
          return new Group(state, new GroupPlan(state, assignor, settings));
        });
  }

  private void writeMeta(GroupState state, MetaCommand command) {
    long id = nextId++;
    state.metaInFlight = true;
    metaSequence++;
    metaWrites.put(id, new MetaRef(state.name(), command));
    out.add(new Action.WriteMeta(id, command));
  }

  /** Answers {@link Action.WriteMeta}. */
  public List<Action> metaWritten(long id, Reply reply, long nowMillis) {
    MetaRef ref = metaWrites.remove(id);
    if (ref == null) {
      return done(nowMillis);
    }
    metaSequence++;
    Group group = groups.get(ref.group());
    GroupState state = group.state();
    state.metaInFlight = false;
    if (reply instanceof Reply.Refused refused) {
      metaRefused(state, ref, refused);
      return done(nowMillis);
    }
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      groups.remove(ref.group());
    } else {
      state.info =
          reply instanceof Reply.OfGroup of
              ? of.group()
              : GroupInfos.after(state.info, ref.command(), nowMillis);
    }
    held.ofGroup(ref.group()).forEach(each -> admit(each, nowMillis));
    return done(nowMillis);
  }

  private void metaRefused(GroupState state, MetaRef ref, Reply.Refused refused) {
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      state.forgetting = false;
    }
    if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
      state.info = null;
    }
    readGroups();
    boolean mismatch = refused.refusal() == Refusal.GROUP_MISMATCH;
    for (HeldBeats.Held each : held.ofGroup(ref.group())) {
      out.add(
          mismatch
              ? new Action.Refuse(each.request(), refused.refusal(), refused.detail())
              : new Action.Refuse(
                  each.request(),
                  Refusal.UNAVAILABLE,
                  "the group cannot be recorded now (" + refused.refusal() + "): try again"));
    }
  }

  private void readGroups() {
    long id = nextId++;
    groupReads.put(id, metaSequence);
    out.add(new Action.ReadGroups(id));
  }

  /**
   * Answers {@link Action.ReadGroups}.
   *
   * @param infos null if they cannot be read now
   */
  public List<Action> groupsRead(long id, List<GroupInfo> infos, long nowMillis) {
    Long begun = groupReads.remove(id);
    // What was read while a write was on its way may be older than its answer.
    if (begun != null && infos != null && begun == metaSequence && metaWrites.isEmpty()) {
      Set<String> there = new HashSet<>();
      for (GroupInfo info : infos) {
        there.add(info.name());
        group(info.name()).state().info = info;
      }
      for (Group group : groups.values()) {
        if (!there.contains(group.state().name())) {
          group.state().info = null;
        }
      }
    }
    return done(nowMillis);
  }

  private void tend(GroupState state, long nowMillis) {
    if (state.info == null || state.metaInFlight || state.forgetting) {
      return;
    }
    long unseenMillis = nowMillis - state.info.lastSeenMillis();
    if (!state.members().live().isEmpty()) {
      if (unseenMillis >= settings.groupSeenMillis()) {
        writeMeta(state, new MetaCommand.SeeGroup(state.name()));
      }
    } else if (state.members().isEmpty() && unseenMillis >= settings.groupForgetMillis()) {
      // Leases first: if this is cut short, the record is still there to begin again.
      state.forgetting = true;
      long id = nextId++;
      forgets.put(id, state.name());
      out.add(new Action.ForgetLeases(id, new DataCommand.ForgetLeases(state.name())));
    }
  }

  /**
   * Answers {@link Action.ForgetLeases}.
   *
   * @param everywhere every data log group has taken it
   */
  public List<Action> leasesForgotten(long id, boolean everywhere, long nowMillis) {
    String name = forgets.remove(id);
    if (name != null) {
      GroupState state = groups.get(name).state();
      if (everywhere) {
        for (Lease lease : state.book().all()) {
          String topic = topics.name(lease.shard().topicId());
          if (topic != null) {
            out.add(new Action.Ownership(name, topic, lease.shard(), null));
          }
        }
        writeMeta(state, new MetaCommand.ForgetGroup(name));
      } else {
        state.forgetting = false;
        held.ofGroup(name).forEach(each -> admit(each, nowMillis));
      }
    }
    return done(nowMillis);
  }

  // ---- Leases

  private void readLeases(String group) {
    String key = group == null ? "" : group;
    for (LeaseRead read : leaseReads.values()) {
      if (key.equals(read.group() == null ? "" : read.group())) {
        readAgain.add(key);
        return;
      }
    }
    out.add(look(group));
  }

  /**
   * A read for somebody who wants to look at fresh figures; it is answered like the others.
   *
   * @param group null: of all groups
   */
  public Action.ReadLeases look(String group) {
    long id = nextId++;
    leaseReads.put(id, new LeaseRead(group, marks()));
    return new Action.ReadLeases(id, group);
  }

  private Map<String, Long> marks() {
    Map<String, Long> marks = new HashMap<>();
    groups.forEach((name, each) -> marks.put(name, each.state().book().mark()));
    return marks;
  }

  /**
   * Answers {@link Action.ReadLeases}.
   *
   * @param statuses of the shards whose leaders answered; null if none did
   */
  public List<Action> leasesRead(long id, List<ShardStatus> statuses, long nowMillis) {
    LeaseRead read = leaseReads.remove(id);
    if (read == null) {
      return done(nowMillis);
    }
    if (statuses != null) {
      read(statuses, read.group(), read.marks(), nowMillis);
    }
    if (readAgain.remove(read.group() == null ? "" : read.group())) {
      readLeases(read.group());
    }
    return done(nowMillis);
  }

  private void read(
      List<ShardStatus> statuses, String only, Map<String, Long> marks, long nowMillis) {
    Set<Shard> covered = new HashSet<>();
    Map<String, Map<Shard, Lease>> found = new HashMap<>();
    for (ShardStatus status : statuses) {
      covered.add(status.shard());
      for (Lease lease : status.leases()) {
        found.computeIfAbsent(lease.group(), name -> new HashMap<>()).put(lease.shard(), lease);
      }
    }
    Collection<String> names = only == null ? new TreeSet<>(groups.keySet()) : Set.of(only);
    Set<String> scope = new TreeSet<>(names);
    if (only == null) {
      scope.addAll(found.keySet());
    }
    for (String name : scope) {
      Group group = group(name);
      Map<Shard, Lease> leases = found.getOrDefault(name, Map.of());
      long mark = marks.getOrDefault(name, 0L);
      Set<Shard> shards = new TreeSet<>(leases.keySet());
      group.state().book().all().forEach(lease -> shards.add(lease.shard()));
      shards.retainAll(covered);
      for (Shard shard : shards) {
        Lease before = group.state().book().get(shard);
        if (group.state().book().read(shard, leases.get(shard), mark)) {
          changed(group, shard, before, nowMillis);
        }
      }
    }
  }

  /** A broker says that a lease changed. */
  public List<Action> leaseChanged(LeaseChange change, long nowMillis) {
    Group group = groups.get(change.group());
    if (group != null) {
      Lease before = group.state().book().get(change.shard());
      if (group.state().book().hinted(change)) {
        changed(group, change.shard(), before, nowMillis);
      }
    }
    return done(nowMillis);
  }

  private void changed(Group group, Shard shard, Lease before, long nowMillis) {
    GroupState state = group.state();
    Lease after = state.book().get(shard);
    group.plan().leaseChanged(before, after, shard, nowMillis);
    for (Lease lease : new Lease[] {before, after}) {
      if (lease != null && lease.owned()) {
        state.assignmentChanged(lease.owner());
      }
    }
    if (after != null && after.owned()) {
      // An owner never heard of: another dispatcher made it one, or this one is new.
      Ghost ghost =
          new Ghost(
              state.name(),
              after.owner(),
              after.instance(),
              null,
              null,
              null,
              null,
              nowMillis + settings.memberTimeoutMillis());
      if (state.members().sighted(ghost)) {
        group.plan().retarget();
      }
    }
    String topic = topics.name(shard.topicId());
    if (topic != null) {
      out.add(new Action.Ownership(state.name(), topic, shard, after));
    }
  }

  /** Answers {@link Action.Write}. */
  public List<Action> written(long id, Reply reply, long nowMillis) {
    WriteRef ref = writes.remove(id);
    if (ref == null) {
      return done(nowMillis);
    }
    Group group = ref.group();
    LeaseBook book = group.state().book();
    if (reply instanceof Reply.OfLease of) {
      Lease before = book.get(ref.shard());
      Move move = group.plan().taken(ref.shard(), of.lease(), topics, nowMillis);
      if (move != null) {
        moves.add(move);
      }
      if (book.answered(of.lease())) {
        changed(group, ref.shard(), before, nowMillis);
      }
    } else {
      Refusal refusal = reply instanceof Reply.Refused r ? r.refusal() : Refusal.INVALID;
      if (refusal == Refusal.FENCED) {
        book.doubt(ref.shard());
      } else if (refusal == Refusal.UNKNOWN_SHARD && viewReadInFlight == null) {
        readView();
      }
      group.plan().failed(ref.shard(), nowMillis);
      readLeases(group.state().name());
    }
    return done(nowMillis);
  }

  // ---- Time

  /** To be called a few times a second. */
  public List<Action> tick(long nowMillis) {
    for (Group group : groups.values()) {
      ended(group, group.state().members().expire(nowMillis));
      group.plan().wake(nowMillis);
    }
    if (nowMillis >= rebalanceAtMillis) {
      rebalanceAtMillis = nowMillis + settings.rebalanceMillis();
      rebalance(nowMillis);
    }
    return done(nowMillis);
  }

  private void rebalance(long nowMillis) {
    if (viewReadInFlight == null) {
      readView();
    }
    readLeases(null);
    readGroups();
    groups.values().removeIf(group -> group.state().blank());
    for (Group group : groups.values()) {
      group.plan().retarget();
      tend(group.state(), nowMillis);
      group.state().members().live().forEach(member -> out.add(new Action.Register(member)));
    }
  }

  /** Refuses what still waits: this node is no dispatcher any more. */
  public List<Action> stop(Refusal refusal, String detail) {
    for (HeldBeats.Held each : held.all()) {
      out.add(new Action.Refuse(each.request(), refusal, detail));
    }
    return take();
  }

  // ---- Output

  private List<Action> done(long nowMillis) {
    for (Group group : groups.values()) {
      group.plan().pump(topics, nowMillis, (shard, command) -> write(group, shard, command));
    }
    return take();
  }

  private void write(Group group, Shard shard, DataCommand command) {
    long id = nextId++;
    writes.put(id, new WriteRef(group, shard));
    out.add(new Action.Write(id, shard, command));
  }

  private List<Action> take() {
    List<Action> taken = out;
    out = new ArrayList<>();
    return taken;
  }

  /** Whether {@link #pushes()} has something to say. */
  public boolean pushesDue() {
    for (Group group : groups.values()) {
      if (group.state().anyChanged()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Assignments for members whose shards changed. Called a moment after a change, so that many
   * changes make one push.
   */
  public List<Action> pushes() {
    for (Group group : groups.values()) {
      GroupState state = group.state();
      for (String name : new TreeSet<>(state.takeChanged())) {
        Member member = state.members().live(name);
        Assignment before = state.given(name);
        if (member != null) {
          Assignment now = assignment(state, member);
          if (now != before) {
            out.add(new Action.Push(now));
          }
        }
      }
    }
    return take();
  }

  private Assignment assignment(GroupState state, Member member) {
    Assignment former = state.given(member.name());
    List<Assignment.Owned> owned = state.owned(member, topics);
    if (former != null
        && former.instance().equals(member.instance())
        && former.shards().equals(owned)) {
      return former;
    }
    Assignment assignment =
        new Assignment(state.name(), member.name(), member.instance(), term, ++revision, owned);
    state.give(assignment);
    return assignment;
  }

  // ---- For those who look

  /** The number of the last assignment made. */
  public long revision() {
    return revision;
  }

  public long term() {
    return term;
  }

  public Topics topics() {
    return topics;
  }

  public MoveLog moves() {
    return moves;
  }

  /** A group that is declared or has members, or null. */
  public GroupState find(String name) {
    Group group = groups.get(name);
    return group == null || group.state().info == null && group.state().members().isEmpty()
        ? null
        : group.state();
  }

  /** All groups that {@link #find} finds, by name. */
  public List<GroupState> all() {
    List<GroupState> all = new ArrayList<>();
    for (String name : groups.keySet()) {
      GroupState state = find(name);
      if (state != null) {
        all.add(state);
      }
    }
    return all;
  }
}
