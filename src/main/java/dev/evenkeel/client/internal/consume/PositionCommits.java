package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.ShardGroups;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Commits the positions of a consumer's shards: those of one log group in one batch, so that many
 * shards with a little traffic cost few entries of the log. Of each log group one batch is under
 * way at a time.
 *
 * <pre>
 * a position has changed                          in the next batch of its log group, which goes out
 *                                                 at most commitDelayMillis after the one before
 * a shard has many uncommitted messages, or is    in the next batch, which then goes out 50 ms after
 * being given away                                the one before
 * the log refuses a position, or a whole batch    the shards try again after a pause
 * </pre>
 */
final class PositionCommits {
  /** How often {@link #step} is called. */
  static final long TICK_MILLIS = 50;

  /** Shortest time between two commits, so that a fast consumer does not flood the log. */
  static final long GAP_MILLIS = 50;

  /** A shard whose position is committed. */
  interface Committing {
    Ownership ownership();

    /** Whether the next batch of the log group asks for the position. */
    void wanted(boolean on);

    /** The position for a batch that goes out now, or null if there is none to commit. */
    Position takePosition(long now);

    /** The log has taken a commit. */
    void committed(long offset);

    /** A commit was refused, or its answer was lost. */
    void commitFailed(RefusedException refused, long now);
  }

  private static final class LogGroup {
    /** Shards whose position the log does not have yet, and that no batch contains. */
    final Set<Committing> changed = new LinkedHashSet<>();

    boolean urgent;

    /** The shards of the batch under way, or null. */
    List<Committing> sent;

    long sentMillis = Long.MIN_VALUE / 2;
  }

  private final SelfFence fence;
  private final Consumer<ConsumerAction> out;
  private final long delayMillis;
  private final Map<Integer, LogGroup> groups = new TreeMap<>();
  private ShardGroups shardGroups = ShardGroups.UNKNOWN;

  PositionCommits(ConsumerOptions options, SelfFence fence, Consumer<ConsumerAction> out) {
    this.fence = fence;
    this.out = out;
    // A batch that is not urgent goes out with a tick, which may come late.
    long wanted = Math.min(options.getCommitDelayMillis(), options.getCommitMillis());
    delayMillis = Math.max(0, wanted - TICK_MILLIS);
  }

  /** Sets which log group holds which shard. */
  void shardGroups(ShardGroups now) {
    if (!now.equals(shardGroups)) {
      shardGroups = now;
      // Each shard asks again, perhaps in another log group.
      for (LogGroup group : groups.values()) {
        group.changed.forEach(shard -> shard.wanted(false));
        group.changed.clear();
      }
    }
  }

  /** A shard has a position to commit. As long as the log groups are unknown, it asks again. */
  void want(Committing shard, boolean urgent, long now) {
    if (!shardGroups.known()) {
      return;
    }
    int number = shardGroups.of(shard.ownership().shard());
    LogGroup group = groups.computeIfAbsent(number, any -> new LogGroup());
    group.changed.add(shard);
    shard.wanted(true);
    if (urgent) {
      group.urgent = true;
      sendIfDue(number, group, now);
    }
  }

  /** Sends the batches that are due. */
  void step(long now) {
    groups.forEach((number, group) -> sendIfDue(number, group, now));
  }

  private void sendIfDue(int number, LogGroup group, long now) {
    long gap = group.urgent ? Math.min(GAP_MILLIS, delayMillis) : delayMillis;
    if (group.sent != null
        || group.changed.isEmpty()
        || !fence.linkUp()
        || now - group.sentMillis < gap) {
      return;
    }
    List<Committing> shards = new ArrayList<>();
    List<Position> positions = new ArrayList<>();
    Iterator<Committing> changed = group.changed.iterator();
    while (changed.hasNext() && positions.size() < Limits.COMMITS_A_COMMAND_MAX) {
      Committing shard = changed.next();
      changed.remove();
      Position position = shard.takePosition(now);
      if (position != null) {
        shards.add(shard);
        positions.add(position);
      }
    }
    group.urgent &= !group.changed.isEmpty();
    if (!positions.isEmpty()) {
      group.sent = shards;
      group.sentMillis = now;
      List<Ownership> owned = shards.stream().map(Committing::ownership).toList();
      out.accept(new CommitPositions(number, owned, positions));
    }
  }

  /** The log has answered a batch; or it was refused as a whole, or the answer was lost. */
  void answered(CommitPositions batch, Answer<?> answer, long now) {
    LogGroup group = groups.get(batch.dataGroup());
    List<Committing> shards = group.sent;
    group.sent = null;
    if (answer.failure() != null) {
      RefusedException refused = RefusedException.of(answer.failure());
      shards.forEach(shard -> shard.commitFailed(refused, now));
      return;
    }
    Map<Integer, RefusedException> refused = CommitPositions.refused((Reply) answer.value());
    for (int i = 0; i < shards.size(); i++) {
      if (refused.containsKey(i)) {
        shards.get(i).commitFailed(refused.get(i), now);
      } else {
        shards.get(i).committed(batch.positions().get(i).offset());
      }
    }
  }
}
