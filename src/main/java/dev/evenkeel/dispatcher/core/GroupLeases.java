package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Leases of groups in which one run owns all shards: in mode level the level dispatcher of this
 * node, in mode singleton the elected member. The meta log grants the run the group's lease first.
 * Each grant of a shard names the lease's term, so the former owner of the group can neither commit
 * nor be granted anything again.
 */
final class GroupLeases {
  private final DispatcherState state;
  private final Assignments assignments;
  private final MoveRecorder moves;

  /** Groups whose lease is being asked for. */
  private final List<String> asking = new ArrayList<>();

  /** When a lease that was asked for, and not given, is asked for again; by group. */
  private final Map<String, Long> retryAt = new HashMap<>();

  /** Groups whose lease in the log differed from what was known. */
  private final Set<String> fenced = new HashSet<>();

  private boolean reading;

  GroupLeases(DispatcherState state, Assignments assignments, MoveRecorder moves) {
    this.state = state;
    this.assignments = assignments;
    this.moves = moves;
  }

  /** Whether a heartbeat is that of a holder, which is no member. */
  static boolean isHolder(Heartbeat beat) {
    return beat.member() != null && beat.member().startsWith(Names.DISPATCHER_HOLDER);
  }

  /**
   * What the meta log says.
   *
   * @param leases all that there are; null if they cannot be read now
   */
  void read(List<GroupLease> leases) {
    reading = false;
    if (leases == null) {
      return;
    }
    leases.forEach(each -> fenced.remove(each.group()));
    // These have none: the group was forgotten, and created again.
    fenced.stream().map(state::get).filter(each -> each != null).forEach(GroupState::forgetLease);
    fenced.clear();
    leases.forEach(this::learn);
  }

  /**
   * Leaders of elections that may be unknown: the registry may be lost, or another dispatcher made
   * them leaders. No shard names them. They may start work for the longest timeout that such a
   * member can have.
   */
  void sightLeaders(long nowMillis) {
    long timeoutMillis =
        Math.max(state.settings.memberTimeoutMillis(), Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
    for (GroupState group : state.groups()) {
      GroupLease lease = group.lease();
      if (lease.held()
          && group.isElection()
          && !lease.holder().startsWith(Names.DISPATCHER_HOLDER)
          && group.members().sighted(leader(lease, nowMillis, timeoutMillis))) {
        group.plan().retarget();
      }
    }
  }

  private static UnheardMember leader(GroupLease lease, long nowMillis, long timeoutMillis) {
    return new UnheardMember(
        lease.group(),
        lease.holder(),
        lease.instance(),
        null,
        List.of(),
        null,
        null,
        nowMillis + timeoutMillis,
        timeoutMillis,
        Heartbeat.Wishes.NONE,
        null);
  }

  private void learn(GroupLease lease) {
    if (state.make(lease.group()).learn(lease)) {
      retryAt.remove(lease.group());
    }
  }

  /** Takes the heartbeat of a run that owns a group as a whole, or would like to. */
  void heartbeat(long request, Heartbeat beat, long nowMillis) {
    GroupState group = state.get(beat.group());
    if (group == null || !group.appointed(beat.instance())) {
      state.out.refuse(
          request, Refusal.MEMBER_REPLACED, "group " + beat.group() + " has another dispatcher");
      return;
    }
    moves.heard(group, beat, nowMillis);
    boolean first = group.holder() == null;
    group.heardHolder(new Member(beat.withMarks(List.of()), Set.copyOf(beat.topics()), nowMillis));
    if (first) {
      write(group, group.holder(), nowMillis);
    }
    state.out.add(new DispatcherAction.Answer(request, assignments.of(group, group.holder())));
  }

  /**
   * Asks for the group's lease for this member, or for a higher term where nobody leads. At most
   * one request of a group is on its way. A dispatcher that may not be one any more does not ask:
   * another one may hear the leader that this one takes for dead.
   */
  void ask(GroupState group, Member member, long nowMillis) {
    if (!mayAsk(group, nowMillis)) {
      return;
    }
    if (state.alone.getAsBoolean()) {
      group.leading().higherTermAsked();
      write(group, member, nowMillis);
    } else {
      retryAt.put(group.name(), nowMillis + state.settings.retryMillis());
    }
  }

  private boolean mayAsk(GroupState group, long nowMillis) {
    return !reading
        && !asking.contains(group.name())
        && nowMillis >= retryAt.getOrDefault(group.name(), 0L);
  }

  private void write(GroupState group, Member holder, long nowMillis) {
    retryAt.put(group.name(), nowMillis + state.settings.retryMillis());
    asking.add(group.name());
    boolean named = state.level >= FeatureLevel.DISPATCHER_TERMS;
    state.out.writeMeta(
        new MetaCommand.GrantGroupLease(
            group.name(),
            holder.name(),
            holder.instance(),
            group.lease().term(),
            named ? assignments.term() : 0),
        (reply, now) -> written(group.name(), holder.instance(), reply));
  }

  private void written(String name, String instance, Reply reply) {
    asking.remove(name);
    if (reply instanceof Reply.OfGroupLease of) {
      retryAt.remove(name);
      learn(of.lease());
      GroupState group = state.get(name);
      if (group.appointed(instance)) {
        group.holds(of.lease().term());
        state.out.add(new DispatcherAction.Holds(name, instance, of.lease().term()));
      }
    } else if (reply instanceof Reply.Refused no && no.refusal() == Refusal.FENCED) {
      fenced.add(name);
      if (!reading) {
        reading = true;
        state.out.add(new DispatcherAction.ReadGroupLeases());
      }
    }
  }

  /**
   * Asks again for leases that were not granted. In mode singleton the next step of the plan does
   * that.
   */
  void tick(long nowMillis) {
    for (GroupState group : state.groups()) {
      if (group.holder() != null && group.holderTerm() == 0 && mayAsk(group, nowMillis)) {
        write(group, group.holder(), nowMillis);
      } else if (!group.ownedAsAWhole()
          && retryAt.containsKey(group.name())
          && mayAsk(group, nowMillis)) {
        retryAt.remove(group.name());
        group.plan().retarget();
      }
    }
    retryAt.keySet().removeIf(name -> state.get(name) == null);
  }
}
