package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/** What members are told that they own. Each that differs from the last has a higher revision. */
final class Assignments {
  private final Groups groups;
  private final TopicView view;
  private final DirtyGroups agenda;
  private final Outbox out;
  private final long term;
  private long revision;

  Assignments(
      Groups groups, TopicView view, DirtyGroups agenda, Outbox out, long term, long revision) {
    this.groups = groups;
    this.view = view;
    this.agenda = agenda;
    this.out = out;
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
    List<Assignment.Owned> owned = state.owned(member, view.topics());
    Assignment.Lead lead = state.leading().of(member, view.topics());
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

  boolean pushesDue() {
    return agenda.anyToTell();
  }

  /** Pushes to the members whose shards changed. */
  void push() {
    for (String name : agenda.takeTells()) {
      Group group = groups.get(name);
      if (group != null) {
        push(group.state());
      }
    }
  }

  private void push(GroupState state) {
    for (String name : new TreeSet<>(state.takeChanged())) {
      Member member = state.live(name);
      Assignment before = state.given(name);
      if (member != null) {
        Assignment now = of(state, member);
        if (now != before) {
          out.add(new DispatcherAction.Push(now));
        }
      }
    }
  }
}
