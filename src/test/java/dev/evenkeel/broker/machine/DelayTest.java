package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataListener;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody.Item;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.storage.Store;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DelayTest {
  private static final DataCommand.DeliverDue ALL = new DataCommand.DeliverDue(1_000, 1 << 20);

  private final Rig rig = Rig.opened();

  private Result delayed(Shard shard, Batch batch, long due) {
    return rig.append(new Item(shard, batch, due)).results().get(0);
  }

  private long deliver(DataCommand.DeliverDue command) {
    return ((Reply.OfDelivered) rig.run(command)).messages();
  }

  private long end(Shard shard) {
    return rig.tables().shard(shard).end();
  }

  @Test
  void aBatchGetsItsOffsetsWhenItIsDueAndNotBefore() {
    assertThat(delayed(SHARD, batch(7, 0, 0, 3), rig.now + 50))
        .isEqualTo(new Result(null, Result.OFFSET_FORGOTTEN));
    rig.fill(SHARD, 2);
    assertThat(end(SHARD)).isEqualTo(2);
    assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(rig.now + 50);
    assertThat(rig.tables().delays().of(SHARD).messages()).isEqualTo(3);

    rig.now += 49;
    assertThat(deliver(ALL)).isZero();
    assertThat(end(SHARD)).isEqualTo(2);

    rig.now += 6;
    assertThat(rig.run(ALL)).isEqualTo(new Reply.OfDelivered(3, 5));
    assertThat(end(SHARD)).isEqualTo(5);
    assertThat(rig.tables().shard(SHARD).appendMillis()).isEqualTo(rig.now);
    assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(rig.keys(Store.Table.DELAYED)).isEmpty();
    assertThat(deliver(ALL)).as("once").isZero();
    assertThat(end(SHARD)).isEqualTo(5);
  }

  @Test
  void aRepeatIsTakenOnceWhetherItWaitsOrWasDelivered() {
    Batch first = batch(7, 0, 0, 3);
    delayed(SHARD, first, rig.now + 50);
    assertThat(delayed(SHARD, first, rig.now + 50).ok()).isTrue();
    assertThat(rig.tables().delays().of(SHARD).messages()).isEqualTo(3);
    assertThat(delayed(SHARD, batch(7, 0, 5, 1), rig.now + 50))
        .isEqualTo(new Result(Refusal.SEQUENCE_GAP, 3));
    rig.now += 60;
    assertThat(deliver(ALL)).isEqualTo(3);
    assertThat(delayed(SHARD, first, rig.now + 50).ok()).isTrue();
    rig.now += 100;
    assertThat(deliver(ALL)).isZero();
    assertThat(rig.append(SHARD, batch(7, 0, 3, 1)).value()).isEqualTo(3);
  }

  @Test
  void oneCommandMovesABoundedNumberAndTheRestStays() {
    times(5, i -> delayed(i % 2 == 0 ? SHARD : OTHER, batch(0, 0, 0, 1), rig.now + i));
    rig.now += 10;
    assertThat(deliver(new DataCommand.DeliverDue(2, 1 << 20))).isEqualTo(2);
    assertThat(deliver(new DataCommand.DeliverDue(1_000, 1))).as("at least one").isEqualTo(1);
    assertThat(deliver(ALL)).isEqualTo(2);
    assertThat(end(SHARD)).isEqualTo(3);
    assertThat(end(OTHER)).isEqualTo(2);
  }

  @Test
  void whatIsDueAlreadyGoesBehindWhatWasDueBefore() {
    delayed(SHARD, batch(7, 0, 0, 1), rig.now - 5);
    assertThat(end(SHARD)).as("it waits for its turn").isZero();
    assertThat(deliver(ALL)).isEqualTo(1);
  }

  @Test
  void tooLongAndTooMuchIsRefused() {
    long far = rig.now + Limits.DELAY_MILLIS_MAX + 4_000_000;
    assertThat(delayed(SHARD, batch(7, 0, 0, 1), far).refusal()).isEqualTo(Refusal.INVALID);
    var full = new DelayCounts(Limits.DELAYED_MESSAGES_MAX - 2, 1, 100, rig.now + 900, 0, 1);
    Change.putDelays(SHARD, full).show(rig.tables());
    assertThat(delayed(SHARD, batch(7, 0, 0, 3), rig.now + 50).refusal())
        .isEqualTo(Refusal.TOO_LARGE);
    assertThat(delayed(SHARD, batch(7, 0, 0, 2), rig.now + 50).ok()).isTrue();
    assertThat(delayed(OTHER, batch(7, 0, 0, 3), rig.now + 50).ok()).as("a shard each").isTrue();
    DelayCounts heavy = new DelayCounts(1, 1, Limits.DELAYED_BYTES_MAX - 10, rig.now + 900, 0, 1);
    Change.putDelays(OTHER, heavy).show(rig.tables());
    assertThat(delayed(OTHER, batch(7, 0, 3, 1), rig.now + 50).refusal())
        .isEqualTo(Refusal.TOO_LARGE);
  }

  @Test
  void aDroppedTopicTakesItsDelayedMessagesAlong() {
    delayed(SHARD, batch(7, 0, 0, 3), rig.now + 50);
    rig.run(new DataCommand.DropShards(1));
    assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(rig.keys(Store.Table.DELAYED)).isEmpty();
    rig.now += 60;
    assertThat(deliver(ALL)).isZero();
  }

  @Test
  void retentionPassesThemByAndASnapshotHasThem() throws Exception {
    rig.run(new DataCommand.ConfigureShards(1, new TopicConfig(0, 1, 1)));
    delayed(SHARD, batch(7, 0, 0, 3), rig.now + 10_000);
    rig.fill(SHARD, 1);
    rig.now += 9_000;
    rig.run(new DataCommand.Retain());
    assertThat(rig.tables().shard(SHARD).start()).isEqualTo(1);
    Path snapshot = rig.directory.resolve("snapshot");
    rig.data.snapshot(snapshot);
    Rig other = new Rig();
    other.data.restore(snapshot);
    assertThat(other.tables().delays().of(SHARD)).isEqualTo(rig.tables().delays().of(SHARD));
    rig.data.restore(snapshot);
    rig.now += 2_000;
    assertThat(deliver(ALL)).isEqualTo(3);
  }

  @Test
  void whoListensHearsOfAnotherTime() {
    AtomicInteger told = new AtomicInteger();
    rig.data.listen(
        new DataListener() {
          @Override
          public void shardChanged(Shard shard) {}

          @Override
          public void leaseChanged(dev.evenkeel.protocol.Lease lease) {}

          @Override
          public void leaseForgotten(dev.evenkeel.protocol.Lease former) {}

          @Override
          public void retriesAdded(dev.evenkeel.broker.state.LeaseKey key) {}

          @Override
          public void everythingChanged() {}

          @Override
          public void nextDueChanged() {
            told.incrementAndGet();
          }
        });
    delayed(SHARD, batch(0, 0, 0, 1), rig.now + 50);
    assertThat(told).hasValue(1);
    delayed(OTHER, batch(0, 0, 0, 1), rig.now + 60);
    assertThat(told).as("later than the next").hasValue(1);
    delayed(OTHER, batch(0, 0, 0, 1), rig.now + 40);
    assertThat(told).hasValue(2);
  }
}
