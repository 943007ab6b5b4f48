package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Groups of which one run holds all shards: in mode level that is the level dispatcher of this
 * node, in mode singleton the elected member. The run takes the group's lease in the meta log
 * first, or it is taken for it; its term is in the grants of the shards, so that whoever had the
 * group before can neither commit nor be granted anything again.
 */
final class GroupLeases {
  private record Ref(String group, String instance) {}

  private final Groups groups;
  private final Assignments assignments;
  private final MoveFigures figures;
  private final Outbox out;
  private final long retryMillis;
  private final Map<Long, Ref> writes = new HashMap<>();
  private final Map<String, Long> retryAt = new HashMap<>();

  /** Groups whose lease is not as it was known. */
  private final Set<String> fenced = new HashSet<>();

  private boolean reading;

  GroupLeases(
      Groups groups, Assignments assignments, MoveFigures figures, Outbox out, long retryMillis) {
    this.groups = groups;
    this.assignments = assignments;
    this.figures = figures;
    this.out = out;
    this.retryMillis = retryMillis;
  }

  /** Whether a heartbeat is that of a holder, which is no member. */
  static boolean isHolder(Heartbeat beat) {
    return beat.member() != null && beat.member().startsWith(Names.DISPATCHER_HOLDER);
  }

  /**
   * What the meta log says.
   *
   * @param leases all that there are
   */
  void read(List<GroupLease> leases) {
    reading = false;
    leases.forEach(each -> fenced.remove(each.group()));
    // These have none: the group was forgotten since, and made again.
    fenced.forEach(groups.leases()::forget);
    fenced.clear();
    leases.forEach(this::take);
  }

  private void take(GroupLease lease) {
    GroupLease before = groups.leases().of(lease.group());
    groups.leases().take(lease);
    Group group = groups.get(lease.group());
    if (group != null && !lease.equals(before)) {
      retryAt.remove(lease.group());
      group.plan().retarget();
    }
  }

  /** They cannot be read now. */
  void unreadable() {
    reading = false;
  }

  /** This run shall hold the group once it has been heard; null: nobody shall. */
  void appoint(Group group, String instance) {
    GroupState state = group.state();
    state.holderInstance = instance;
    state.holder = null;
    state.groupTerm = 0;
    group.plan().retarget();
  }

  /** The heartbeat of one that holds a group, or would like to. */
  void heartbeat(long request, Heartbeat beat, long nowMillis) {
    Group group = groups.get(beat.group());
    if (group == null || !beat.instance().equals(group.state().holderInstance)) {
      out.refuse(
          request, Refusal.MEMBER_REPLACED, "group " + beat.group() + " has another dispatcher");
      return;
    }
    GroupState state = group.state();
    figures.heard(state, beat, nowMillis);
    boolean first = state.holder == null;
    state.holder = new Member(beat.withMarks(List.of()), nowMillis);
    if (first) {
      take(state, state.holder, nowMillis);
    }
    out.add(new DispatcherAction.Answer(request, assignments.of(state, state.holder)));
  }

  /**
   * This member shall have the group's lease, or, where nobody leads, the group a higher term. It
   * is asked for once at a time.
   */
  void elected(GroupState state, Member elected, long nowMillis) {
    if (mayAsk(state, nowMillis)) {
      take(state, elected, nowMillis);
    }
  }

  private boolean mayAsk(GroupState state, long nowMillis) {
    return !reading
        && writes.values().stream().noneMatch(ref -> ref.group().equals(state.name()))
        && nowMillis >= retryAt.getOrDefault(state.name(), 0L);
  }

  private void take(GroupState state, Member holder, long nowMillis) {
    retryAt.put(state.name(), nowMillis + retryMillis);
    long id = out.nextId();
    writes.put(id, new Ref(state.name(), holder.instance()));
    GroupLease lease = groups.leases().of(state.name());
    out.add(
        new DispatcherAction.WriteMeta(
            id,
            new MetaCommand.GrantGroupLease(
                state.name(), holder.name(), holder.instance(), lease.term())));
  }

  /**
   * A command was answered.
   *
   * @return whether it was one of these
   */
  boolean written(long id, Reply reply) {
    Ref ref = writes.remove(id);
    if (ref == null) {
      return false;
    }
    if (reply instanceof Reply.OfGroupLease of) {
      retryAt.remove(ref.group());
      take(of.lease());
      Group group = groups.get(ref.group());
      if (group != null && ref.instance().equals(group.state().holderInstance)) {
        group.state().groupTerm = of.lease().term();
        group.state().cause = Cause.DISPATCHER;
        group.plan().retarget();
        out.add(new DispatcherAction.Holds(ref.group(), ref.instance(), of.lease().term()));
      }
    } else if (reply instanceof Reply.Refused no && no.refusal() == Refusal.FENCED) {
      fenced.add(ref.group());
      if (!reading) {
        reading = true;
        out.add(new DispatcherAction.ReadGroupLeases());
      }
    }
    return true;
  }

  /** Asks again for what was not taken: in mode singleton the next step of the plan does. */
  void tick(long nowMillis) {
    for (Group group : groups.all()) {
      GroupState state = group.state();
      if (state.holder != null && state.groupTerm == 0 && mayAsk(state, nowMillis)) {
        take(state, state.holder, nowMillis);
      } else if (!state.heldAsAWhole()
          && retryAt.containsKey(state.name())
          && mayAsk(state, nowMillis)) {
        retryAt.remove(state.name());
        group.plan().retarget();
      }
    }
    retryAt.keySet().removeIf(name -> groups.get(name) == null);
    groups.leases().retain(name -> groups.get(name) != null);
  }
}
