package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.StepPlace;
import java.util.List;
import java.util.Objects;

/**
 * The assignments that members get. An assignment that differs from the member's last one has a
 * higher revision.
 */
final class Assignments {
  /**
   * Encoding a thousand assignments would hold up the dispatcher, which hears nothing meanwhile.
   */
  static final int PUSHES_MAX = 100;

  private final DispatcherState state;
  private final long term;
  private long revision;

  Assignments(DispatcherState state, long term, long revision) {
    this.state = state;
    this.term = term;
    this.revision = revision;
  }

  long term() {
    return term;
  }

  /** The number of the last assignment made. */
  long revision() {
    return revision;
  }

  /**
   * Whether an assignment is later than all of this dispatcher. If no other one can be active, the
   * cluster has begun anew since then.
   */
  boolean neverMade(Heartbeat.Seen seen) {
    return seen.term() > term || seen.term() == term && seen.revision() > revision;
  }

  /** All that a live member owns now. */
  Assignment of(GroupState group, Member member) {
    Assignment former = group.given(member.name());
    List<Assignment.Owned> owned = group.owned(member, state.topics());
    List<Assignment.Coming> coming = group.coming(member);
    Assignment.Lead lead = group.leading().of(member, state.topics());
    StepPlace place = group.steps() == null ? null : group.steps().place(member.instance());
    if (former != null
        && Objects.equals(former.place(), place)
        && Objects.equals(former.lead(), lead)
        && former.instance().equals(member.instance())
        && former.shards().equals(owned)
        && former.coming().equals(coming)) {
      return former;
    }
    Assignment assignment =
        new Assignment(
                group.name(), member.name(), member.instance(), term, ++revision, owned, lead)
            .withComing(coming)
            .withPlace(place);
    group.give(assignment);
    return assignment;
  }

  /** For a run that has left: it owns nothing. */
  Assignment none(String group, String member, String instance) {
    return new Assignment(group, member, instance, term, ++revision, List.of(), null);
  }

  /**
   * Pushes to members whose shards changed: at most {@link #PUSHES_MAX}, and the others are due
   * then.
   */
  void push() {
    int pushes = 0;
    for (String name : state.dirty.takePushes()) {
      GroupState group = state.get(name);
      if (group == null) {
        continue;
      }
      for (; group.anyChanged() && pushes < PUSHES_MAX; pushes++) {
        push(group, group.live(group.takeChanged()));
      }
      if (group.anyChanged()) {
        state.dirty.push(name);
      }
    }
  }

  /**
   * To the members of a group, at most {@link #PUSHES_MAX}, though their shards have not changed:
   * what else the assignment says has. It is a later one, so that members do not believe an older
   * answer that comes after it.
   */
  void pushAgain(String name) {
    GroupState group = state.get(name);
    if (group != null) {
      group.members().live().stream()
          .limit(PUSHES_MAX)
          .forEach(
              member -> {
                Assignment later = of(group, member).at(++revision);
                group.give(later);
                state.out.add(new DispatcherAction.Push(later));
              });
    }
  }

  private void push(GroupState group, Member member) {
    if (member != null) {
      Assignment before = group.given(member.name());
      Assignment now = of(group, member);
      if (now != before) {
        state.out.add(new DispatcherAction.Push(now));
      }
    }
  }
}
