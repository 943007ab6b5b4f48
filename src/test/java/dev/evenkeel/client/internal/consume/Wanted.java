package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.List;
import org.slf4j.event.Level;

/** What a core wants done, as a value: each {@link ConsumerAction} as the record of its call. */
public sealed interface Wanted {
  record ReadLease(OwnedShard owned) implements Wanted {}

  record ReadParents(OwnedShard owned, List<Integer> parents) implements Wanted {}

  record OpenPublisher(OwnedShard owned, long producerId) implements Wanted {}

  record CallAssign(
      OwnedShard owned, ShardContext shard, byte[] state, List<ConsumerAction.Parent> parents)
      implements Wanted {}

  record Fetch(OwnedShard owned, FetchRequest request) implements Wanted {}

  record FetchRetries(OwnedShard owned, RetryRequest request) implements Wanted {}

  record GiveBack(Task task) implements Wanted {}

  record RecordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command) implements Wanted {}

  record Publish(OwnedShard owned, PublishRequest request) implements Wanted {}

  record Commit(OwnedShard owned, DataCommand.Commit command) implements Wanted {}

  record CommitPositions(CommitBatch batch) implements Wanted {}

  record CallRelease(OwnedShard owned, ShardContext shard) implements Wanted {}

  record Release(OwnedShard owned, DataCommand.Release command) implements Wanted {}

  record CallDraining(ShardContext shard) implements Wanted {}

  record CallKept(ShardContext shard) implements Wanted {}

  record CallPaused(ShardContext shard, boolean on) implements Wanted {}

  record CallLost(ShardContext shard) implements Wanted {}

  record LeadChanged(Assignment.Lead lead) implements Wanted {}

  record HeartbeatNow() implements Wanted {}

  record HeartbeatSoon() implements Wanted {}

  record OwnedChanged(int count) implements Wanted {}

  record Stop(String text, Throwable cause) implements Wanted {}

  record Report(Level level, String text, Throwable cause) implements Wanted {}

  /** The next action of {@code core}, or null. */
  static Wanted poll(ConsumerCore core) {
    ConsumerAction action = core.poll();
    return action == null ? null : of(action);
  }

  /** The record of the call that {@code action} makes. */
  static Wanted of(ConsumerAction action) {
    Recorder recorder = new Recorder();
    action.performBy(recorder);
    return recorder.wanted;
  }

  /** Keeps the one call that it gets. */
  final class Recorder implements ConsumerAction.Performer {
    private Wanted wanted;

    private Recorder() {}

    @Override
    public void readLease(OwnedShard owned) {
      wanted = new ReadLease(owned);
    }

    @Override
    public void openPublisher(OwnedShard owned, long producerId) {
      wanted = new OpenPublisher(owned, producerId);
    }

    @Override
    public void readParents(OwnedShard owned, List<Integer> parents) {
      wanted = new ReadParents(owned, parents);
    }

    @Override
    public void callAssign(
        OwnedShard owned, ShardContext shard, byte[] state, List<ConsumerAction.Parent> parents) {
      wanted = new CallAssign(owned, shard, state, parents);
    }

    @Override
    public void fetch(OwnedShard owned, FetchRequest request) {
      wanted = new Fetch(owned, request);
    }

    @Override
    public void fetchRetries(OwnedShard owned, RetryRequest request) {
      wanted = new FetchRetries(owned, request);
    }

    @Override
    public void giveBack(Task task) {
      wanted = new GiveBack(task);
    }

    @Override
    public void recordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command) {
      wanted = new RecordOutcomes(owned, command);
    }

    @Override
    public void publish(OwnedShard owned, PublishRequest request) {
      wanted = new Publish(owned, request);
    }

    @Override
    public void commit(OwnedShard owned, DataCommand.Commit command) {
      wanted = new Commit(owned, command);
    }

    @Override
    public void commitPositions(CommitBatch batch) {
      wanted = new CommitPositions(batch);
    }

    @Override
    public void callRelease(OwnedShard owned, ShardContext shard) {
      wanted = new CallRelease(owned, shard);
    }

    @Override
    public void release(OwnedShard owned, DataCommand.Release command) {
      wanted = new Release(owned, command);
    }

    @Override
    public void callDraining(ShardContext shard) {
      wanted = new CallDraining(shard);
    }

    @Override
    public void callKept(ShardContext shard) {
      wanted = new CallKept(shard);
    }

    @Override
    public void callPaused(ShardContext shard, boolean on) {
      wanted = new CallPaused(shard, on);
    }

    @Override
    public void callLost(ShardContext shard) {
      wanted = new CallLost(shard);
    }

    @Override
    public void leadChanged(Assignment.Lead lead) {
      wanted = new LeadChanged(lead);
    }

    @Override
    public void heartbeatNow() {
      wanted = new HeartbeatNow();
    }

    @Override
    public void heartbeatSoon() {
      wanted = new HeartbeatSoon();
    }

    @Override
    public void ownedChanged(int count) {
      wanted = new OwnedChanged(count);
    }

    @Override
    public void stop(String text, Throwable cause) {
      wanted = new Stop(text, cause);
    }

    @Override
    public void report(Level level, String text, Throwable cause) {
      wanted = new Report(level, text, cause);
    }
  }
}
