package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.function.Consumer;

/** What moves the data of a running {@link OwnedShard}: fetches in, commits out. */
final class Puller {
  /** Two commits of a shard are this far apart, so that a fast consumer does not flood the log. */
  static final long COMMIT_GAP_MILLIS = 50;

  /** A fetch that brought nothing, and did not wait either, is not repeated sooner. */
  private static final long EMPTY_GAP_MILLIS = 100;

  /** After a fetch without an answer the next one waits so long: it may get none either. */
  private static final int AFTER_LOSS_MILLIS = 1_000;

  private final ConsumerOptions options;
  private final FlowControl flow;
  private final ShardLifecycle.Owner owner;
  private final Reports reports;
  private final Consumer<ConsumerAction> out;
  private boolean linkUp = true;
  private boolean paused;

  Puller(
      ConsumerOptions options,
      FlowControl flow,
      ShardLifecycle.Owner owner,
      Reports reports,
      Consumer<ConsumerAction> out) {
    this.options = options;
    this.flow = flow;
    this.owner = owner;
    this.reports = reports;
    this.out = out;
  }

  void link(boolean up) {
    linkUp = up;
  }

  void pause(boolean on) {
    paused = on;
  }

  /** Whether the application wants messages. */
  boolean pulls() {
    return !paused;
  }

  /** A retry came to be in hand. */
  void added(Task retry) {
    flow.added(1, retry.bytes);
  }

  /** Pulls if the hold may. */
  void fetch(OwnedShard hold, long now) {
    if (hold.state != OwnedShardState.RUNNING
        || hold.fetch != null
        || paused
        || !linkUp
        || now < hold.fetchRetryMillis
        || !flow.mayPull(hold.pendingMessages)) {
      return;
    }
    hold.fetchAskedMillis = now;
    hold.fetch =
        new FetchRequest(
            options.getGroup(),
            hold.shard,
            hold.epoch,
            hold.fetchOffset,
            flow.fetchBytes(options.getFetchBytesMax(), owner.holds()),
            flow.fetchMessages(owner.holds()),
            hold.retries.told(),
            hold.fetchLost
                ? Math.min(AFTER_LOSS_MILLIS, options.getFetchWaitMillis())
                : options.getFetchWaitMillis());
    out.accept(new ConsumerAction.Fetch(hold, hold.fetch));
    if (hold.firstFetchMillis < 0) {
      hold.firstFetchMillis = now;
      out.accept(new ConsumerAction.HeartbeatSoon());
    }
  }

  /** Takes in what a fetch has brought. */
  void accept(OwnedShard hold, FetchAnswer answer, long now) {
    if (answer.batches().isEmpty() && now - hold.fetchAskedMillis < EMPTY_GAP_MILLIS) {
      hold.fetchRetryMillis = now + EMPTY_GAP_MILLIS;
    }
    hold.fetchLost = false;
    hold.logEnd = answer.endOffset();
    hold.retries.hinted(answer.failures(), now);
    for (FetchAnswer.Placed placed : answer.batches()) {
      if (placed.endOffset() <= hold.fetchOffset) {
        continue;
      }
      long wanted = placed.endOffset() - Math.max(placed.baseOffset(), hold.fetchOffset);
      if (!flow.takes(wanted, placed.batch().length(), hold.pendingMessages)) {
        // It is fetched again once there is room.
        break;
      }
      try {
        placed.batch().verified();
      } catch (RefusedException e) {
        unreadable(hold, Math.max(placed.baseOffset(), hold.fetchOffset), e, now);
        return;
      }
      if (placed.baseOffset() > hold.fetchOffset) {
        skipped(hold, placed.baseOffset());
      }
      long messages = hold.add(placed);
      flow.added(messages, messages * Backlog.share(placed));
      hold.reported = null;
      owner.ready(hold);
    }
  }

  /** Data that cannot be read is never handed out: the shard waits, visibly, and fetches again. */
  private void unreadable(OwnedShard hold, long offset, RefusedException e, long now) {
    if (hold.corruptOffset != offset) {
      hold.corruptOffset = offset;
      hold.failures = 0;
      reports.error(
          hold
              + ": unreadable batch at offset "
              + offset
              + ", it is fetched again until it is"
              + " readable",
          e);
    }
    hold.fetchRetryMillis = now + Backoff.steps(++hold.failures);
  }

  /** A fetch was refused, but not because the shard is another's. */
  void failed(OwnedShard hold, RefusedException refused, long now) {
    hold.fetchLost = refused.refusal() == Refusal.INDETERMINATE;
    long start = refused instanceof RefusedException.OutOfRange range ? range.start() : -1;
    if (start > hold.fetchOffset) {
      skipped(hold, start);
      hold.fetchOffset = start;
      if (hold.pendingMessages == 0) {
        // So that the offset is committed even if no further message comes.
        hold.window.skipTo(start);
      }
    } else {
      hold.fetchRetryMillis = now + reports.pause(hold, "it cannot be fetched", refused);
    }
  }

  private void skipped(OwnedShard hold, long to) {
    long count = to - hold.fetchOffset;
    reports.error(
        hold
            + ": retention has dropped "
            + count
            + " messages before they were consumed, offsets "
            + hold.fetchOffset
            + " to "
            + (to - 1)
            + "; it goes on at "
            + to,
        null);
  }

  /**
   * Whether so many messages are finished and not committed that a commit is due. It begins at half
   * of what may be uncommitted, because handlers go on until it may be sent and while it is on its
   * way: so up to some 10,000 messages a second a shard, at the default, no more than that come
   * again after a crash.
   */
  boolean isMany(long progress) {
    return progress >= (options.getCommitMessages() + 1) / 2;
  }

  /** Commits if enough messages or enough time have gone by. */
  void commitIfDue(OwnedShard hold, long now) {
    if (hold.atMostOnce()) {
      claim(hold, now);
      return;
    }
    long progress = hold.window.committed() - hold.committed;
    if (progress <= 0 || hold.commitInFlight || !linkUp || now < hold.commitRetryMillis) {
      return;
    }
    boolean many = isMany(progress) || hold.state == OwnedShardState.DRAINING;
    long gap = many ? COMMIT_GAP_MILLIS : options.getCommitMillis();
    if (now - hold.lastCommitMillis < gap) {
      return;
    }
    boolean state = hold.keptOffset > hold.keptTaken;
    hold.keptSent = hold.keptOffset;
    commit(
        hold,
        hold.window.committed(),
        state ? hold.keptOffset : hold.markOffset,
        state ? hold.keptState : null,
        now);
  }

  private void commit(OwnedShard hold, long offset, long stateOffset, byte[] state, long now) {
    hold.commitInFlight = true;
    hold.lastCommitMillis = now;
    out.accept(
        new ConsumerAction.Commit(
            hold,
            new DataCommand.Commit(
                options.getGroup(), hold.shard, hold.epoch, offset, stateOffset, state)));
  }

  /**
   * With at most once, commits the next messages so that they may be started: as many as may be
   * handed out at once. A crash loses no more than those. While the shard is let go, no more than
   * what was asked for before: where the answer got lost, that may be committed.
   */
  private void claim(OwnedShard hold, long now) {
    if (hold.commitInFlight || !linkUp || now < hold.commitRetryMillis) {
      return;
    }
    if (hold.state != OwnedShardState.RUNNING) {
      if (hold.claimAsked > hold.claimed) {
        commit(hold, hold.claimAsked, -1, null, now);
      }
      return;
    }
    long done = hold.window.committed();
    long to = Math.min(hold.fetchOffset, done + options.getHandOutMessages());
    boolean few = to - hold.claimed < (options.getHandOutMessages() + 1) / 2;
    if (to > hold.claimed && (!few || hold.claimed <= done)) {
      hold.claimAsked = Math.max(hold.claimAsked, to);
      commit(hold, to, -1, null, now);
    }
  }

  /** Takes messages that are not to be handled out of the consumer's books. */
  void dropped(OwnedShard.Dropped dropped, long now) {
    if (flow.removed(dropped.messages(), dropped.bytes())) {
      owner.resumed(now);
    }
  }
}
