package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.RefusedException;

/**
 * Commits the progress of one owned shard, with the handler's state if it keeps one. With at most
 * once it commits messages before they are started.
 */
final class ShardCommits {
  /** Two commits of a shard are this far apart, so that a fast consumer does not flood the log. */
  static final long COMMIT_GAP_MILLIS = 50;

  private final ShardScope scope;
  private final Environment environment;
  private final ShardMessages messages;
  private long committed;
  private boolean inFlight;
  private long lastMillis;
  private long notBeforeMillis;

  /** With at most once: what was asked to be committed, which may be taken at any time. */
  private long askedTo;

  /** Where the empty state stands that this owner began with, if the log has none yet; else -1. */
  private long emptyStateOffset = -1;

  /** The handler's last state, and the offset that it stands for; -1: none. */
  private byte[] state;

  private long stateOffset = -1;

  /** The state's offset in the last commit sent, and in the last one that the log took. */
  private long stateSent = -1;

  private long stateTaken = -1;

  ShardCommits(ShardScope scope, ShardMessages messages) {
    this.scope = scope;
    environment = scope.environment;
    this.messages = messages;
  }

  void begin(long offset, long emptyStateOffset, long now) {
    committed = offset;
    askedTo = offset;
    this.emptyStateOffset = emptyStateOffset;
    lastMillis = now;
  }

  long committed() {
    return committed;
  }

  boolean inFlight() {
    return inFlight;
  }

  byte[] state() {
    return state;
  }

  long stateOffset() {
    return stateOffset;
  }

  long emptyStateOffset() {
    return emptyStateOffset;
  }

  /** A message was handled, perhaps with the state after it. */
  void handled(Task task) {
    if (task.effects != null && task.effects.state() != null) {
      state = task.effects.state();
      stateOffset = task.offset + 1;
    }
  }

  /**
   * With at most once: messages that are committed, or may be, and are not handled, those that run
   * among them.
   */
  long claimedLeft() {
    long to = Math.min(askedTo, messages.fetchOffset());
    return environment.atMostOnce && messages.window() != null
        ? Math.max(0, to - messages.window().committed())
        : 0;
  }

  /**
   * Whether so many messages are finished and not committed that a commit is due. It begins at half
   * of what may be uncommitted, because handlers go on until it may be sent and while it is on its
   * way: so up to some 10,000 messages a second a shard, at the default, no more than that come
   * again after a crash.
   */
  boolean isMany() {
    long progress = messages.window().committed() - committed;
    return progress >= (environment.options.getCommitMessages() + 1) / 2;
  }

  /** Commits if enough messages or enough time have gone by. */
  void step(boolean draining, long now) {
    if (inFlight || !environment.linkUp() || now < notBeforeMillis) {
      return;
    }
    if (environment.atMostOnce) {
      claim(draining, now);
      return;
    }
    long done = messages.window().committed();
    long gap = draining || isMany() ? COMMIT_GAP_MILLIS : environment.options.getCommitMillis();
    if (done <= committed || now - lastMillis < gap) {
      return;
    }
    boolean withState = stateOffset > stateTaken;
    stateSent = stateOffset;
    commit(done, withState ? stateOffset : emptyStateOffset, withState ? state : null, now);
  }

  /**
   * With at most once, commits the next messages so that they may be started: as many as may be
   * handed out at once. A crash loses no more than those. While the shard is given away, no more
   * than what was asked for before: where the answer got lost, that may be committed.
   */
  private void claim(boolean draining, long now) {
    if (draining) {
      if (askedTo > messages.startable()) {
        commit(askedTo, -1, null, now);
      }
      return;
    }
    int handOut = environment.options.getHandOutMessages();
    long done = messages.window().committed();
    long to = Math.min(messages.fetchOffset(), done + handOut);
    boolean few = to - messages.startable() < (handOut + 1) / 2;
    if (to > messages.startable() && (!few || messages.startable() <= done)) {
      askedTo = Math.max(askedTo, to);
      commit(to, -1, null, now);
    }
  }

  private void commit(long offset, long atOffset, byte[] with, long now) {
    inFlight = true;
    lastMillis = now;
    DataCommand.Commit command =
        new DataCommand.Commit(
            environment.options.getGroup(),
            scope.ownership.shard(),
            scope.ownership.epoch(),
            offset,
            atOffset,
            with);
    environment.act(by -> by.commit(scope.owned, command));
  }

  /** The log has taken a commit. */
  void taken(long offset) {
    inFlight = false;
    committed = Math.max(committed, offset);
    stateTaken = Math.max(stateTaken, stateSent);
  }

  /** A commit has failed. */
  void ended() {
    inFlight = false;
  }

  /** A commit was refused, but not because the shard is another's. */
  void failed(RefusedException refused, long now) {
    notBeforeMillis = now + scope.pause("its progress cannot be committed", refused);
  }

  void linkUp(long now) {
    notBeforeMillis = now;
  }
}
