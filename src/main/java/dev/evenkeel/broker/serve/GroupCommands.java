package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Submits commands about shards to the data log groups, on whichever node leads them. The commands
 * may be repeated, so it retries every failure that may pass, until a deadline.
 */
final class GroupCommands {
  private static final long PAUSE_MILLIS = 100;
  private static final long REQUEST_MILLIS_MAX = 3_000;

  private final BrokerNode node;
  private final List<LogGroupServer> groups;
  private final LeaderClient leaders;
  private final Vertx vertx;
  private final Context context;

  GroupCommands(ServeContext serve) {
    node = serve.node();
    groups = serve.groups();
    vertx = serve.vertx();
    context = serve.context();
    leaders = new LeaderClient(vertx, new Logs());
  }

  /** Appends to the log; fails as {@link LogGroup#append} does. */
  Future<Reply> append(LogGroup log, byte[] entry) {
    return Future.fromCompletionStage(log.append(entry), context).map(ReplyCodec::decode);
  }

  /**
   * The reply of the data log group; fails with the last refusal after {@code withinMillis}.
   *
   * @param withinMillis on a monotonic clock
   */
  Future<Reply> submit(int group, DataCommand command, long withinMillis) {
    return leaders.ask(
        group,
        Retry.within(withinMillis, PAUSE_MILLIS, () -> false),
        (asked, leader) -> once(asked, leader, command));
  }

  /**
   * The answer to batches for one data group; fails with the last refusal of all of them after
   * {@code withinMillis}.
   *
   * @param op APPEND or MOVE_DELAYED
   */
  Future<ByteBuffer> appendBatches(int group, Op op, Bytes body, long withinMillis) {
    return leaders.ask(
        group,
        Retry.within(withinMillis, PAUSE_MILLIS, () -> false),
        (asked, leader) ->
            VertxLink.send(
                    vertx, Addresses.data(leader), Frames.request(op, body), REQUEST_MILLIS_MAX)
                .map(Frames::answerBody));
  }

  /** Which of some producers a data group remembers; fails as {@link #submit} does. */
  Future<List<Long>> producers(int group, List<Long> ids, long withinMillis) {
    Buffer request = Calls.READ_PRODUCERS.request(new Calls.ReadProducers(group, ids));
    return leaders.ask(
        group,
        Retry.within(withinMillis, PAUSE_MILLIS, () -> false),
        (asked, leader) ->
            VertxLink.send(vertx, Addresses.control(leader), request, REQUEST_MILLIS_MAX)
                .map(Calls.READ_PRODUCERS::answered));
  }

  /** The shards of a data group, as its leader has them; fails as {@link #submit} does. */
  Future<List<ShardStatus>> statuses(int group, long withinMillis) {
    Buffer request = Calls.READ_SHARDS.request(new Calls.ReadShards(group, null, null));
    return leaders.ask(
        group,
        Retry.within(withinMillis, PAUSE_MILLIS, () -> false),
        (asked, leader) ->
            VertxLink.send(vertx, Addresses.control(leader), request, REQUEST_MILLIS_MAX)
                .map(Calls.READ_SHARDS::answered));
  }

  private Future<Reply> once(int group, String leader, DataCommand command) {
    LogGroupServer target = groups.get(group);
    if (leader.equals(target.nodeId())) {
      return append(target.log(), Entry.of(command, node.nowMillis()))
          // As long as another node would get for its answer.
          .timeout(REQUEST_MILLIS_MAX, TimeUnit.MILLISECONDS)
          .recover(failure -> Future.failedFuture(refused(target.log(), failure)));
    }
    Call<Calls.ToGroup, Reply> call =
        command instanceof DataCommand.Managed ? Calls.MANAGE_SHARDS : Calls.SUBMIT_DATA;
    return VertxLink.send(
            vertx,
            Addresses.control(leader),
            call.request(new Calls.ToGroup(group, command)),
            REQUEST_MILLIS_MAX)
        .map(call::answered);
  }

  private static Throwable refused(LogGroup log, Throwable failure) {
    return failure instanceof TimeoutException
        ? INDETERMINATE.error(
            "log group %s has not answered within %d ms", log.name(), REQUEST_MILLIS_MAX)
        : Answers.unwrap(failure);
  }

  /** Leaders as this node's logs know them. */
  private final class Logs implements LeaderClient.Leaders {
    @Override
    public int dataGroups() {
      return groups.size();
    }

    @Override
    public ShardGroups shardGroups() {
      return ShardGroups.of(node.log().formedGroups(), node.meta().tables().topics());
    }

    @Override
    public String leader(int group) {
      // One that was added may not be open here yet.
      return group < groups.size() ? groups.get(group).log().leadership().leader() : null;
    }
  }
}
