package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.ShardGroups;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

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
  private static final class LogGroup {
    /** Shards whose position the log does not have yet, and that no batch contains. */
    final Set<ShardCommits> changed = new LinkedHashSet<>();

    boolean urgent;
    boolean inFlight;
    long sentMillis = Long.MIN_VALUE / 2;
  }

  private final Environment environment;
  private final long delayMillis;
  private final Map<Integer, LogGroup> groups = new TreeMap<>();
  private ShardGroups shardGroups = ShardGroups.UNKNOWN;

  PositionCommits(Environment environment) {
    this.environment = environment;
    // A batch that is not urgent goes out with a tick, which may come late.
    long wanted =
        Math.min(environment.options.getCommitDelayMillis(), environment.options.getCommitMillis());
    delayMillis = Math.max(0, wanted - ConsumerCore.TICK_MILLIS);
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
  void want(ShardCommits shard, boolean urgent, long now) {
    if (!shardGroups.known()) {
      return;
    }
    int number = shardGroups.of(shard.shard());
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
    long gap = group.urgent ? Math.min(ShardCommits.COMMIT_GAP_MILLIS, delayMillis) : delayMillis;
    if (group.inFlight
        || group.changed.isEmpty()
        || !environment.linkUp()
        || now - group.sentMillis < gap) {
      return;
    }
    List<ShardCommits> shards = new ArrayList<>();
    List<Position> positions = new ArrayList<>();
    Iterator<ShardCommits> changed = group.changed.iterator();
    while (changed.hasNext() && positions.size() < Limits.COMMITS_A_COMMAND_MAX) {
      ShardCommits shard = changed.next();
      changed.remove();
      Position position = shard.takePosition(now);
      if (position != null) {
        shards.add(shard);
        positions.add(position);
      }
    }
    group.urgent &= !group.changed.isEmpty();
    if (!positions.isEmpty()) {
      group.inFlight = true;
      group.sentMillis = now;
      List<OwnedShard> owned = shards.stream().map(ShardCommits::owned).toList();
      Runnable ended = () -> group.inFlight = false;
      CommitBatch batch = new CommitBatch(number, owned, positions, ended);
      environment.act(by -> by.commitPositions(batch));
    }
  }
}
