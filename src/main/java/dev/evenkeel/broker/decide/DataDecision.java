package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.storage.Store;
import java.util.List;

/**
 * What decides about a command of a data log group may look at.
 *
 * @param index of the entry
 * @param level the feature level of the log group
 * @param retriesMax most messages of a group and shard that wait for another attempt
 */
public record DataDecision(
    DataTables tables, Store store, long index, LogTime time, int level, int retriesMax) {

  private static final Decision<Change> DONE = new Decision<>(List.of(), Reply.DONE);

  private static final DeciderRows<DataDecision, DataCommand, Change> ROWS =
      new DeciderRows<DataDecision, DataCommand, Change>()
          .on(DataCommand.Commit.class, (by, c) -> by.leases().commit(c))
          .on(DataCommand.CommitMany.class, (by, c) -> by.leases().commit(c))
          .on(DataCommand.Grant.class, (by, c) -> by.leases().grant(c, by.level))
          .on(DataCommand.OpenLease.class, (by, c) -> by.leases().open(c))
          .on(DataCommand.SetDrain.class, (by, c) -> by.leases().drain(c))
          .on(DataCommand.TakeSteps.class, (by, c) -> by.leases().steps(c, by.level))
          .on(DataCommand.Release.class, (by, c) -> by.leases().release(c, by.level))
          .on(DataCommand.ForgetLeases.class, (by, c) -> by.leases().forget(c, by.level))
          .on(DataCommand.ResetLease.class, (by, c) -> by.leases().reset(c))
          .on(DataCommand.SetPublisher.class, (by, c) -> by.leases().publisher(c))
          .on(DataCommand.OpenProducer.class, (by, c) -> by.producers().open(c))
          .on(DataCommand.OpenPublisher.class, (by, c) -> by.producers().open(c))
          .on(DataCommand.OpenShards.class, (by, c) -> by.shards().open(c))
          .on(DataCommand.ConfigureShards.class, (by, c) -> by.shards().configure(c))
          .on(DataCommand.DropShards.class, (by, c) -> by.shards().drop(c))
          .on(DataCommand.SealShards.class, (by, c) -> by.shards().seal(c))
          .on(DataCommand.DropSealed.class, (by, c) -> by.shards().dropSealed(c))
          .on(DataCommand.DropDelayed.class, (by, c) -> by.due().drop(c))
          .on(DataCommand.DeliverDue.class, (by, c) -> by.due().decide(c))
          .on(
              DataCommand.CancelDelayed.class,
              (by, c) -> new CancelDecider(by.tables, by.store, by.index).decide(c))
          .on(DataCommand.RecordOutcomes.class, (by, c) -> by.failures().record(c))
          .on(DataCommand.ReplayDeadLetters.class, (by, c) -> by.failures().replay(c))
          .on(DataCommand.DropDeadLetters.class, (by, c) -> by.failures().drop(c))
          .on(
              DataCommand.Retain.class,
              (by, c) ->
                  new RetainDecider(by.tables, by.store, by.time.millis(), by.level).decide())
          .on(DataCommand.RaiseFeatureLevel.class, (by, c) -> DONE)
          .on(DataCommand.FillLog.class, (by, c) -> DONE)
          .completeFor(DataCommand.class);

  public Decision<Change> of(DataCommand command) {
    return ROWS.decide(this, command);
  }

  private LeaseDecider leases() {
    return new LeaseDecider(tables, store);
  }

  private ProducerDecider producers() {
    return new ProducerDecider(tables, time.millis(), level);
  }

  private ShardDecider shards() {
    return new ShardDecider(tables, level);
  }

  private DueDecider due() {
    return new DueDecider(tables, store, time, level);
  }

  private FailureDecider failures() {
    return new FailureDecider(tables, store, time, retriesMax);
  }
}
