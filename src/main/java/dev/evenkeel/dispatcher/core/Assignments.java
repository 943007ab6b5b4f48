package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import java.util.List;
import java.util.Objects;

/** What members are told that they own. Each that differs from the last has a higher revision. */
final class Assignments {
  private final DispatcherState all;
  private final long term;
  private long revision;

  Assignments(DispatcherState all, long term, long revision) {
    this.all = all;
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

  /** All that a live member owns now. */
  Assignment of(GroupState state, Member member) {
    Assignment former = state.given(member.name());
    List<Assignment.Owned> owned = state.owned(member, all.topics());
    Assignment.Lead lead = state.leading().of(member, all.topics());
    if (former != null
        && Objects.equals(former.lead(), lead)
        && former.instance().equals(member.instance())
        && former.shards().equals(owned)) {
      return former;
    }
    Assignment assignment =
        new Assignment(
            state.name(), member.name(), member.instance(), term, ++revision, owned, lead);
    state.give(assignment);
    return assignment;
  }

  /** For a run that has left: it owns nothing. */
  Assignment none(String group, String member, String instance) {
    return new Assignment(group, member, instance, term, ++revision, List.of());
  }

  /** Pushes to the members whose shards changed. */
  void push() {
    for (String name : all.dirty.takeTells()) {
      GroupState group = all.get(name);
      if (group != null) {
        group.takeChanged().forEach(member -> push(group, group.live(member)));
      }
    }
  }

  private void push(GroupState group, Member member) {
    if (member != null) {
      Assignment before = group.given(member.name());
      Assignment now = of(group, member);
      if (now != before) {
        all.out.add(new DispatcherAction.Push(now));
      }
    }
  }
}
