package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.decide.StartFinder;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.storage.Store;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Turns a {@link StartAt} into an offset, also by the timestamps inside a batch, before a command
 * goes to the log: applying it may look at the index only, see {@link StartFinder}.
 */
record OffsetFinder(ServeContext serve) {
  /** The offset, between the shard's start and end, both included. Waits for the disk. */
  static long find(Store store, LogGroupServer group, Shard shard, StartAt start) {
    ShardRecord record = group.state().tables().shard(shard);
    if (start.kind() == StartAt.Kind.TIMESTAMP) {
      IndexEntry entry = StartFinder.batchAt(store, shard, record, start.value());
      byte[] bytes = entry == null ? null : group.state().bytes(entry);
      if (bytes != null) {
        return within(bytes, entry.base(), start.value());
      }
    }
    return StartFinder.find(store, shard, record, start);
  }

  /** The command with an offset in place of a time. */
  Future<DataCommand> located(LogGroupServer group, DataCommand command) {
    if (command instanceof DataCommand.Grant grant && isTime(grant.start())) {
      return offset(group, grant.shard(), grant.start()).map(grant::startingAt);
    }
    if (command instanceof DataCommand.OpenLease open && isTime(open.start())) {
      return offset(group, open.shard(), open.start()).map(open::startingAt);
    }
    if (command instanceof DataCommand.ResetLease reset && isTime(reset.to())) {
      return offset(group, reset.shard(), reset.to())
          .map(
              at ->
                  new DataCommand.ResetLease(
                      reset.group(), reset.shard(), reset.expectedEpoch(), at));
    }
    if (command instanceof DataCommand.TakeSteps take
        && take.steps().stream().anyMatch(OffsetFinder::namesTime)) {
      List<Future<DataCommand>> located =
          take.steps().stream().map(step -> located(group, step.command())).toList();
      return Future.all(located).map(all -> new DataCommand.TakeSteps(all.list()));
    }
    return Future.succeededFuture(command);
  }

  private static boolean namesTime(DataCommand.Step step) {
    return step instanceof DataCommand.Grant grant && isTime(grant.start())
        || step instanceof DataCommand.OpenLease open && isTime(open.start())
        || step instanceof DataCommand.ResetLease reset && isTime(reset.to());
  }

  private static boolean isTime(StartAt start) {
    return start != null && start.kind() == StartAt.Kind.TIMESTAMP;
  }

  private Future<StartAt> offset(LogGroupServer group, Shard shard, StartAt start) {
    return serve.read(
        Asker.NODE,
        group,
        store -> {
          group.shard(shard);
          return StartAt.offset(find(store, group, shard, start));
        });
  }

  /**
   * The first message at or after {@code millis}. Producers fill batches, and the log does not look
   * inside: one that cannot be read counts from its beginning, which is early but never too late.
   */
  private static long within(byte[] bytes, long base, long millis) {
    try {
      BatchReader reader = Batch.whole(ByteBuffer.wrap(bytes)).reader(base);
      while (reader.hasNext()) {
        long offset = reader.nextOffset();
        if (reader.next().timestampMillis() >= millis) {
          return offset;
        }
      }
      return base;
    } catch (RefusedException malformed) {
      return base;
    }
  }
}
