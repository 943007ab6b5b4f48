package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import java.util.ArrayList;
import java.util.List;

/** Positions of shards of one data log group that are committed together. */
public final class CommitBatch {
  /** A shard, and the offset up to which the log has taken its progress. */
  public record Taken(OwnedShard owned, long offset) {}

  private final int dataGroup;
  private final List<OwnedShard> shards;
  private final List<Position> positions;
  private final Runnable ended;

  /**
   * @param positions of {@code shards}, in the same order
   * @param ended called when the batch is answered or has failed
   */
  CommitBatch(int dataGroup, List<OwnedShard> shards, List<Position> positions, Runnable ended) {
    this.dataGroup = dataGroup;
    this.shards = shards;
    this.positions = positions;
    this.ended = ended;
  }

  /** The number of the log group. */
  public int dataGroup() {
    return dataGroup;
  }

  /** The command for the log. */
  public DataCommand command() {
    return positions.size() == 1
        ? positions.get(0).command()
        : new DataCommand.CommitMany(positions);
  }

  /**
   * The log has answered. Returns what it has taken.
   *
   * @param reply to {@link #command}
   */
  public List<Taken> answered(Reply reply, long now) {
    ended.run();
    RefusedException[] refused = new RefusedException[positions.size()];
    if (reply instanceof Reply.OfCommits of) {
      for (RefusedCommit each : of.refused()) {
        refused[each.index()] = each.exception();
      }
    }
    List<Taken> taken = new ArrayList<>();
    for (int i = 0; i < refused.length; i++) {
      OwnedShard owned = shards.get(i);
      if (refused[i] == null) {
        owned.committed(positions.get(i).offset());
        taken.add(new Taken(owned, positions.get(i).offset()));
      } else {
        owned.commitFailed(refused[i], now);
      }
    }
    return taken;
  }

  /** The whole batch was refused, or the answer was lost. */
  public void failed(RefusedException refused, long now) {
    ended.run();
    shards.forEach(owned -> owned.commitFailed(refused, now));
  }
}
