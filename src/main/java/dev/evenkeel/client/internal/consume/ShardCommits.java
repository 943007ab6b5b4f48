package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * What the log gets of the progress of one owned shard until its release, with the handler's state
 * if that comes with messages. With at most once, messages are committed before they start.
 */
final class ShardCommits implements PositionCommits.Committing {
  private final ShardPort shard;
  private final ShardLog log;
  private final Environment environment;
  private final ShardMessages messages;
  private final ShardCare care;

  /** See {@link #isMany}. */
  private final int manyMessages;

  private long committed;
  private boolean inFlight;

  /** See {@link #inDoubt()}. */
  private boolean inDoubt;

  /** The next batch of the log group asks for the position. */
  private boolean wanted;

  /** When it was asked for last. */
  private long askedMillis = -1;

  /** When the last commit with state was sent, or else when this owner began. */
  private long lastMillis;

  private long notBeforeMillis;

  /** With at most once: up to which offset a commit was sent. The log may take it at any time. */
  private long askedTo;

  /** See {@link #emptyStateOffset()}. */
  private long emptyStateOffset = -1;

  /** See {@link #state()} and {@link #stateOffset()}. */
  private byte[] state;

  private long stateOffset = -1;

  /** The state's offset in the last commit sent, and in the last one that the log took. */
  private long stateSent = -1;

  private long stateTaken = -1;

  ShardCommits(
      ShardPort shard,
      ShardLog log,
      Environment environment,
      ShardMessages messages,
      ShardCare care) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.messages = messages;
    this.care = care;
    manyMessages = (environment.options.getCommitMessages() + 1) / 2;
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

  /** The handler's last state that came with a message, or null. */
  byte[] state() {
    return state;
  }

  /** Up to where {@link #state} counts; -1: there is none. */
  long stateOffset() {
    return stateOffset;
  }

  /** Where the empty state stands that this owner began with, if the log has none yet; else -1. */
  long emptyStateOffset() {
    return emptyStateOffset;
  }

  @Override
  public Ownership ownership() {
    return shard.ownership();
  }

  @Override
  public void wanted(boolean on) {
    wanted = on;
  }

  boolean inFlight() {
    return inFlight;
  }

  /** Whether the answer to the last commit was lost, so that the log may take it at any time. */
  boolean inDoubt() {
    return inDoubt;
  }

  /** A message was handled, perhaps with the state after it. */
  void handled(Task task) {
    if (task.effects != null && task.effects.state() != null) {
      state = task.effects.state();
      stateOffset = task.offset + 1;
    }
  }

  /**
   * With at most once: how many messages are committed, or may be, and not handled. Running ones
   * count.
   */
  long claimedLeft() {
    long to = Math.min(askedTo, messages.fetchOffset());
    return environment.atMostOnce && messages.window() != null
        ? Math.max(0, to - messages.window().committed())
        : 0;
  }

  /**
   * Whether enough messages are finished and uncommitted for a commit. The limit is half of what
   * may be uncommitted, because handlers go on until the commit is sent and while it is under way.
   * So with the default, up to some 10,000 messages a second a shard, no more than that come again
   * after a crash.
   */
  boolean isMany() {
    return messages.window().committed() - committed >= manyMessages;
  }

  /**
   * Commits if there is something new, and enough messages have finished or enough time has passed.
   * The position alone goes out with those of other shards, the position with a state by itself.
   */
  void step(boolean draining, long now) {
    if (inFlight || !environment.linkUp() || now < notBeforeMillis) {
      return;
    }
    if (environment.atMostOnce) {
      claim(draining, now);
      return;
    }
    long done = messages.window().committed();
    if (done <= committed) {
      return;
    }
    boolean urgent = draining || isMany() || messages.isCareful();
    if (!hasNewState()) {
      // Asking costs as much as handling a message: once a millisecond is enough.
      if (!wanted || urgent && now != askedMillis) {
        askedMillis = now;
        environment.commits.want(this, urgent, now);
      }
    } else if (now - lastMillis
        >= (urgent ? PositionCommits.GAP_MILLIS : environment.options.getCommitMillis())) {
      stateSent = stateOffset;
      commit(done, stateOffset, state, now);
    }
  }

  private boolean hasNewState() {
    return stateOffset > stateTaken;
  }

  @Override
  public Position takePosition(long now) {
    wanted = false;
    if (inFlight || !shard.works() || now < notBeforeMillis || hasNewState()) {
      return null;
    }
    long done = messages.window().committed();
    if (done <= committed) {
      return null;
    }
    inFlight = true;
    return new Position(
        environment.options.getGroup(), shard.shard(), shard.epoch(), done, emptyStateOffset);
  }

  /**
   * With at most once, commits the next messages so that they may start: as many as may be handed
   * out at once. A crash loses no more than those. While the shard is being given away, it only
   * repeats an earlier commit whose answer was lost.
   */
  private void claim(boolean draining, long now) {
    // A message that waits for this commit would pass over it only once it starts.
    messages.passAbsent();
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
            environment.options.getGroup(), shard.shard(), shard.epoch(), offset, atOffset, with);
    environment.act(new ConsumerAction.Commit(shard, command));
  }

  @Override
  public void committed(long offset) {
    boolean careful = messages.isCareful();
    inFlight = false;
    inDoubt = false;
    committed = Math.max(committed, offset);
    stateTaken = Math.max(stateTaken, stateSent);
    care.committed(offset);
    if (shard.state().over()) {
      return;
    }
    messages.startableTo(offset);
    if (environment.atMostOnce || careful) {
      shard.ready();
    }
  }

  @Override
  public void commitFailed(RefusedException refused, long now) {
    inFlight = false;
    inDoubt |= refused.refusal() == Refusal.INDETERMINATE;
    if (shard.works() && !shard.fenced(refused, now)) {
      notBeforeMillis = now + log.pause("its progress cannot be committed", refused);
    }
  }

  void linkUp(long now) {
    notBeforeMillis = now;
  }
}
