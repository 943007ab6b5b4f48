package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.protocol.Shard;
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
 * @param groups the data log groups, in their order
 * @param context on which the parts run
 * @param meters what is counted while serving
 */
record ServeContext(
    BrokerNode node,
    List<LogGroupServer> groups,
    Vertx vertx,
    Context context,
    ServeOptions options,
    RequestMetrics meters) {

  /** Runs a task on the context. */
  void run(Runnable task) {
    context.runOnContext(ignored -> task.run());
  }

  /** The data log group that has the shard. */
  LogGroupServer groupOf(Shard shard) {
    return groups.get(shard.dataGroup(groups.size()));
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
  <T> Future<T> read(LogGroupServer group, Function<Store, T> reader) {
    return read(() -> group.state().read(reader));
  }

  /** Runs a task that reads the disk; the future completes on the context. */
  <T> Future<T> read(Callable<T> task) {
    return Answers.on(vertx, node.readers(), task);
  }
}
