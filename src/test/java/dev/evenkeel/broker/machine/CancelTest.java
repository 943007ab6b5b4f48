package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody.Item;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CancelTest {
  private static final DataCommand.DeliverDue ALL = new DataCommand.DeliverDue(1_000, 1 << 20);

  private final Rig rig = Rig.opened();
  private final long due = rig.now + 50;

  @BeforeEach
  void raiseLevel() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.CANCELLING));
  }

  private DelayedKey delayed(Shard shard, Batch batch) {
    Result result = rig.append(new Item(shard, batch, due)).results().get(0);
    assertThat(result.ok()).isTrue();
    return new DelayedKey(shard, due, Result.serial(result.value()));
  }

  private Reply cancel(DelayedKey key, int position) {
    return Cancels.cancel(rig, key, position);
  }

  private static void assertUnknown(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Refused.class);
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.UNKNOWN_MESSAGE);
  }

  private List<String> deliver() {
    rig.now = due + 10;
    rig.run(ALL);
    return payloads();
  }

  /** Payloads in shard 0, with their offsets. */
  private List<String> payloads() {
    List<String> found = new ArrayList<>();
    rig.data.read(
        store -> {
          try (Store.Cursor cursor =
              store.scan(
                  Store.Table.INDEX, Keys.batch(SHARD, 0), Keys.batch(SHARD, Long.MAX_VALUE))) {
            while (cursor.next()) {
              IndexEntry entry = IndexEntry.decode(cursor.key(), cursor.value());
              Batch batch = Batch.whole(ByteBuffer.wrap(rig.data.bytes(entry)));
              BatchReader reader = batch.reader(entry.base());
              while (reader.hasNext()) {
                long offset = reader.nextOffset();
                byte[] payload = reader.next().payload();
                found.add(offset + "=" + new String(payload, StandardCharsets.UTF_8));
              }
            }
          }
          return null;
        });
    return found;
  }

  @Test
  void theOtherMessagesOfItsBatchAreDeliveredInTheirOrder() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 4));
    DelayedKey behind = delayed(SHARD, batch(7, 0, 4, 1));
    assertThat(cancel(key, 1)).isEqualTo(Reply.DONE);
    DelayCounts counts = rig.tables().delays().of(SHARD);
    assertThat(counts.messages()).isEqualTo(4);
    assertThat(counts.batches()).isEqualTo(2);
    assertThat(cancel(key, 3))
        .as("positions are those of the batch that was sent")
        .isEqualTo(Reply.DONE);
    assertUnknown(cancel(key, 1));
    assertUnknown(cancel(key, 4));
    assertThat(deliver()).containsExactly("0=7/0/0", "1=7/0/2", "2=7/0/4");
    assertUnknown(cancel(key, 0));
    assertUnknown(cancel(behind, 0));
    assertThat(payloads()).hasSize(3);
  }

  @Test
  void theCountsAreThoseOfWhatIsLeft() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 3));
    delayed(SHARD, batch(7, 0, 3, 2));
    cancel(key, 0);
    cancel(key, 2);
    rig.reopen();
    DelayedBatch left = Cancels.find(rig, key);
    assertThat(left.batch().count()).isEqualTo(1);
    long bytes = left.batch().length() + batch(7, 0, 3, 2).length();
    assertThat(rig.tables().delays().of(SHARD))
        .isEqualTo(new DelayCounts(3, 2, bytes, due, key.serial(), key.serial() + 2));
    assertThat(cancel(key, 1)).isEqualTo(Reply.DONE);
    assertThat(rig.tables().delays().of(SHARD).serial()).isEqualTo(key.serial() + 1);
    assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(due);
    assertThat(deliver()).containsExactly("0=7/0/3", "1=7/0/4");
  }

  @Test
  void theLastMessageLeavesNothing() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 1));
    assertThat(cancel(key, 0)).isEqualTo(Reply.DONE);
    assertThat(rig.keys(Store.Table.DELAYED)).isEmpty();
    assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(Long.MAX_VALUE);
    assertUnknown(cancel(key, 0));
    assertThat(deliver()).isEmpty();
  }

  @Test
  void noIdIsGivenTwice() {
    DelayedKey first = delayed(SHARD, batch(0, 0, 0, 1));
    assertThat(deliver()).hasSize(1);
    rig.reopen();
    DelayedKey second = delayed(SHARD, batch(0, 0, 1, 1));
    assertThat(second).isNotEqualTo(first);
    assertUnknown(cancel(first, 0));
    cancel(second, 0);
    assertThat(delayed(SHARD, batch(0, 0, 2, 1))).isNotEqualTo(second);
    assertThat(delayed(OTHER, batch(0, 0, 2, 1)).serial()).isEqualTo(first.serial());
  }

  @Test
  void aRepeatedBatchHasTheSameIdAndDoesNotComeBack() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 2));
    assertThat(delayed(SHARD, batch(7, 0, 0, 2))).isEqualTo(key);
    cancel(key, 0);
    cancel(key, 1);
    assertThat(delayed(SHARD, batch(7, 0, 0, 2))).isEqualTo(key);
    assertThat(deliver()).isEmpty();
  }

  @Test
  void aBatchThatWasChangedAfterItWasReadIsLeftAlone() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 3));
    DelayedBatch former = Cancels.find(rig, key);
    cancel(key, 0);
    DelayedBatch before = Cancels.find(rig, key);
    Reply reply = Cancels.cancel(rig, key, 1, former);
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    reply = Cancels.cancel(rig, key, 1, null);
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    DelayedBatch after = Cancels.find(rig, key);
    assertThat(after.place()).isEqualTo(before.place());
    assertThat(after.absent()).isEqualTo(before.absent());
    assertThat(deliver()).containsExactly("0=7/0/1", "1=7/0/2");
  }

  @Test
  void aCompressedBatchStaysCompressed() {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(Compression.LZ4));
    times(3, i -> builder.add(new Message(null, null, 5, ("m" + i + "x".repeat(200)).getBytes())));
    DelayedKey key = delayed(SHARD, builder.build(0, 0, 0));
    cancel(key, 1);
    assertThat(Cancels.bytes(rig, Cancels.find(rig, key)).isCompressed()).isTrue();
    assertThat(deliver()).hasSize(2).first().asString().startsWith("0=m0");
    assertThat(payloads().get(1)).startsWith("1=m2");
  }

  @Test
  void theMessagesOfASealedShardAreListedAgain() {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 2));
    rig.run(new DataCommand.SealShards(SHARD.topicId(), 1));
    Reply reply = cancel(key, 0);
    assertUnknown(reply);
    assertThat(((Reply.Refused) reply).detail()).contains("list them again");
    assertThat(rig.tables().delays().of(SHARD).messages()).isEqualTo(2);
  }

  @Test
  void theBodyOfWhatIsCancelledIsNotNeeded() throws Exception {
    DelayedKey key = delayed(SHARD, batch(7, 0, 0, 2));
    long sent = rig.log.size() - 1;
    long changes = rig.data.freeingChanges();
    cancel(key, 0);
    long rest = rig.log.size() - 1;
    assertThat(rig.data.freeingChanges()).isGreaterThan(changes);
    assertThat(rig.data.read(store -> BodyRefs.of(store, java.util.Set.of(sent, rest))).needs(sent))
        .isFalse();
    assertThat(rig.data.read(store -> BodyRefs.of(store, java.util.Set.of(sent, rest))).needs(rest))
        .isTrue();
  }

  @Test
  void beforeTheLevelNobodyLearnsAnId() {
    Rig former = Rig.opened();
    Result result = former.append(new Item(SHARD, batch(7, 0, 0, 1), due)).results().get(0);
    assertThat(result.value()).isEqualTo(Result.OFFSET_FORGOTTEN);
    former.now = due + 10;
    former.run(ALL);
    assertThat(former.tables().delays().of(SHARD)).isEqualTo(DelayCounts.NONE);
  }
}
