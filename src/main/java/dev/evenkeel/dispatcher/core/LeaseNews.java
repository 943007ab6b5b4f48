package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Shard;

/** What follows when a group's {@link KnownLeases} holds something new about a shard. */
final class LeaseNews {
  private final DispatcherSettings settings;
  private final Groups groups;
  private final TopicView view;
  private final MissedMoves missed;
  private final Outbox out;

  LeaseNews(
      DispatcherSettings settings, Groups groups, TopicView view, MissedMoves missed, Outbox out) {
    this.settings = settings;
    this.groups = groups;
    this.view = view;
    this.missed = missed;
    this.out = out;
  }

  /** A broker says that a lease changed. */
  void hinted(LeaseChange change, long nowMillis) {
    Group group = groups.get(change.group());
    if (group != null) {
      Lease before = group.state().book().get(change.shard());
      if (group.state().book().hinted(change)) {
        changed(group, change.shard(), before, nowMillis);
      }
    }
  }

  /** The book has another lease of {@code shard} than {@code before}. */
  void changed(Group group, Shard shard, Lease before, long nowMillis) {
    GroupState state = group.state();
    Lease after = state.book().get(shard);
    group.plan().leaseChanged(before, after, shard, nowMillis);
    missed.look(group, shard, before, after, nowMillis);
    for (Lease lease : new Lease[] {before, after}) {
      if (lease != null && lease.owned()) {
        state.assignmentChanged(lease.owner());
      }
    }
    if (after != null
        && after.owned()
        && !after.owner().startsWith(Names.DISPATCHER_HOLDER)
        && state.members().sighted(ghost(after, nowMillis))) {
      group.plan().retarget();
    }
    String topic = view.topics().name(shard.topicId());
    if (topic != null) {
      out.add(new DispatcherAction.Ownership(state.name(), topic, shard, after));
    }
  }

  /**
   * An owner perhaps never heard of: another dispatcher made it one, or this one is new. It may
   * start handlers for its own timeout, which the log knows, also if nobody else does.
   */
  private UnheardMember ghost(Lease lease, long nowMillis) {
    long timeoutMillis = Math.max(settings.memberTimeoutMillis(), lease.ownerTimeoutMillis());
    return new UnheardMember(
        lease.group(),
        lease.owner(),
        lease.instance(),
        null,
        null,
        null,
        null,
        nowMillis + timeoutMillis,
        timeoutMillis,
        Heartbeat.Wishes.NONE);
  }
}
