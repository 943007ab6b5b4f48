package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.node.HeapShares;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.storage.Store;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;

/**
 * The objects that the parts of a serving broker share.
 *
 * @param groups the data log groups, in their order; it grows as some are added
 * @param context on which the parts run
 * @param meters what is counted while serving
 * @param reads reads of the disk that wait for a thread
 * @param readsShare divides their number among users
 */
record ServeContext(
    BrokerNode node,
    List<LogGroupServer> groups,
    Vertx vertx,
    Context context,
    BrokerOptions options,
    RequestMetrics meters,
    LookQueue reads,
    FairShare readsShare) {

  /** Most bytes of appends of one log group that wait, if so many log groups share the heap. */
  long appendBytesMax(int dataGroups) {
    long set = options.get(BrokerOptions.APPEND_BYTES_WAITING_MAX);
    return set > 0 ? set : HeapShares.ofThisProgram().appendBytes(dataGroups);
  }

  /** Runs a task on the context. */
  void run(Runnable task) {
    context.runOnContext(ignored -> task.run());
  }

  /** How many data log groups work, so that they may have shards. */
  int openGroups() {
    int open = node.log().formedGroups() + node.meta().tables().openGroups();
    return Math.min(open, groups.size());
  }

  /** The number of the data log group that has the shard. */
  int numberOf(Shard shard) {
    int formed = node.log().formedGroups();
    TopicInfo topic = node.meta().tables().topic(shard.topicId());
    if (topic != null && topic.hasEver(shard.shard())) {
      return topic.group(shard.shard(), formed);
    }
    // This node's copy of meta may be behind that of the data log group.
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).state().tables().shard(shard) != null) {
        return i;
      }
    }
    return shard.dataGroup(formed);
  }

  /** The data log group that has the shard. */
  LogGroupServer groupOf(Shard shard) {
    return group(numberOf(shard));
  }

  /**
   * The data log group of that number.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID if there is none, UNAVAILABLE if it was
   *     added, and this node is about to open it
   */
  LogGroupServer group(int number) {
    if (number >= 0 && number < groups.size()) {
      return groups.get(number);
    }
    int all = node.log().formedGroups() + node.meta().tables().addedGroups().size();
    throw number >= 0 && number < all
        ? UNAVAILABLE.error("node %s is about to open data group %s", node.nodeId(), number)
        : INVALID.error("data group %s: use 0 to %s", number, all - 1);
  }

  /**
   * The same, if its state is current and it has the shard.
   *
   * @throws dev.evenkeel.protocol.RefusedException as {@link LogGroupServer#requireReady} and
   *     {@link LogGroupServer#shard} do
   */
  LogGroupServer readyGroupOf(Shard shard) {
    LogGroupServer group = groupOf(shard);
    group.requireReady();
    group.shard(shard);
    return group;
  }

  /** Reads the store of a group; the future completes on the context. */
  <T> Future<T> read(Asker asker, LogGroupServer group, Function<Store, T> reader) {
    return read(asker, () -> group.state().read(reader));
  }

  /**
   * Runs a task that reads the disk, when it is the asker's turn; the future completes on the
   * context.
   */
  <T> Future<T> read(Asker asker, Callable<T> task) {
    FairShare.Account account = readsShare.of(asker.user());
    if (!account.tryTake(1)) {
      return Future.failedFuture(account.refusal());
    }
    return reads
        .run(asker, () -> true, () -> Answers.on(vertx, node.readers(), task))
        .onComplete(done -> account.give(1));
  }
}
