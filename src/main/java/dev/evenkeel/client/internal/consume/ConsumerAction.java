package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.slf4j.event.Level;

/** Something that a {@link ConsumerCore} wants done. */
public sealed interface ConsumerAction {
  /**
   * An action that {@link ConsumerCore#answered} gets the answer to, also when it failed, however
   * late.
   *
   * @param <R> the answer
   */
  sealed interface Request<R> extends ConsumerAction {}

  /** A request for one shard. */
  sealed interface ShardRequest<R> extends Request<R> {
    Owned owned();
  }

  // ---- Requests to the log

  record ReadLease(Owned owned) implements ShardRequest<Lease> {}

  /** Reads the leases on the sealed shards with these numbers. Answered once for each of them. */
  record ReadParents(Owned owned, List<Integer> parents) implements ShardRequest<Lease> {}

  /**
   * Opens the lease's epoch in every data group, so that handlers can publish.
   *
   * @param producerId from the lease; 0: it has none yet
   */
  record OpenPublisher(Owned owned, long producerId) implements ShardRequest<Opened> {}

  /**
   * The lease's epoch may publish.
   *
   * @param groups gives the data group of a shard
   * @param last by shard, the last sequence that it took of the producer
   */
  record Opened(long producerId, ToIntFunction<Shard> groups, Map<Shard, Long> last) {}

  /**
   * @param quiet whether the last fetch brought no messages, or there was none
   */
  record Fetch(Owned owned, FetchRequest request, boolean quiet)
      implements ShardRequest<FetchAnswer> {}

  record FetchRetries(Owned owned, RetryRequest request) implements ShardRequest<RetryAnswer> {}

  /** Answered with {@link Reply.OfOffsets}: of the outcomes that the log has no room for. */
  record RecordOutcomes(Owned owned, DataCommand.RecordOutcomes command)
      implements ShardRequest<Reply> {}

  record Publish(Owned owned, PublishRequest request) implements ShardRequest<AppendResults> {}

  record Commit(Owned owned, DataCommand.Commit command) implements ShardRequest<Reply> {}

  /**
   * Commits positions of shards of one data log group together.
   *
   * @param dataGroup the number of the log group
   * @param positions of {@code shards}, in the same order
   */
  record CommitPositions(int dataGroup, List<Ownership> shards, List<Position> positions)
      implements Request<Reply> {
    /** The command for the log. */
    public DataCommand command() {
      return positions.size() == 1
          ? positions.get(0).command()
          : new DataCommand.CommitMany(positions);
    }

    /**
     * Why the log has not taken some of the positions, by their places in the list.
     *
     * @param reply to {@link #command}
     */
    public static Map<Integer, RefusedException> refused(Reply reply) {
      Map<Integer, RefusedException> refused = new HashMap<>();
      if (reply instanceof Reply.OfCommits of) {
        for (RefusedCommit each : of.refused()) {
          refused.put(each.index(), each.exception());
        }
      }
      return refused;
    }
  }

  record Release(Owned owned, DataCommand.Release command) implements ShardRequest<Reply> {}

  // ---- Calls of the handler

  /**
   * What a former shard has left to one in its place; compare {@link
   * dev.evenkeel.client.ParentState}.
   */
  record Parent(int shard, byte[] state, boolean heir) {}

  /**
   * Calls onAssign.
   *
   * @param state of the former owner, or null
   * @param parents of the first owner of a shard that has parents, their states; else empty
   * @param crashes what the log knew of owners that died when the shard was granted; null: nothing
   */
  record CallAssign(
      Owned owned, ShardContext shard, byte[] state, List<Parent> parents, Crashes crashes)
      implements ShardRequest<Void> {}

  /** Calls onRelease. Answered with what it gave; null or empty: no state. */
  record CallRelease(Owned owned, ShardContext shard) implements ShardRequest<byte[]> {}

  /** Calls onDraining. */
  record CallDraining(ShardContext shard) implements ConsumerAction {}

  /** Calls onKept. */
  record CallKept(ShardContext shard) implements ConsumerAction {}

  /** Nothing of the shard begins while the group is paused. */
  record CallPaused(ShardContext shard, boolean on) implements ConsumerAction {}

  /** Calls onLost. */
  record CallLost(ShardContext shard) implements ConsumerAction {}

  // ---- For the consumer around it

  /**
   * A message that was {@link ConsumerCore#holds held} does not begin: it has failed with a {@link
   * dev.evenkeel.client.GivenBackException}, and whoever hands messages to handlers says so to
   * where it came from.
   */
  record GiveBack(Task task) implements ConsumerAction {}

  /**
   * Mode singleton: this member now leads its group, leads it no more, or must hand over.
   *
   * @param lead null: it does not lead
   */
  record LeadChanged(Assignment.Lead lead) implements ConsumerAction {}

  /** Something has changed that the dispatcher must know before the next heartbeat is due. */
  record HeartbeatNow() implements ConsumerAction {}

  /**
   * As {@link HeartbeatNow}, but it can wait a moment, so that one heartbeat reports many shards.
   */
  record HeartbeatSoon() implements ConsumerAction {}

  /**
   * The member gained or lost shards.
   *
   * @param count how many it owns now
   */
  record OwnedChanged(int count) implements ConsumerAction {}

  /** A message has failed for good, and the options say that the consumer then ends. */
  record Stop(String text, Throwable cause) implements ConsumerAction {}

  /**
   * Logs a line.
   *
   * @param cause or null
   */
  record Report(Level level, String text, Throwable cause) implements ConsumerAction {}
}
