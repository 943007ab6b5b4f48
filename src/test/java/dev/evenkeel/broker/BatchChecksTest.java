package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refusal;
import static dev.evenkeel.broker.Bench.refused;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is acknowledged can be read, and what cannot be read keeps nothing else from the log. */
class BatchChecksTest {
  @Closing private Bench bench;
  private Shard shard;

  @BeforeEach
  void begin() throws Exception {
    bench = Bench.one();
    shard = new Shard(bench.create("orders", 2).id(), 0);
    Wait.until(
        () ->
            bench.nodes.get("n1").data().stream()
                .allMatch(group -> group.level() == FeatureLevel.reads()));
  }

  /**
   * A batch whose payloads hardly become smaller.
   *
   * @param bytes of all payloads; above 256 KiB, a worker thread checks the batch
   */
  private static Batch compressed(Compression compression, int producer, int sequence, int bytes) {
    Random random = new Random(1);
    BatchBuilder builder = new BatchBuilder(1 << 10, BatchPacker.of(compression));
    for (int i = 0; i < 10; i++) {
      byte[] payload = new byte[bytes / 10];
      random.nextBytes(payload);
      builder.add(new Message(null, null, 0, payload));
    }
    builder.add(new Message(null, null, 0, new byte[10_000]));
    Batch batch = builder.build(producer, 0, sequence);
    assertThat(batch.compression()).isEqualTo(compression);
    return batch;
  }

  /** With a right checksum. */
  private static Batch withoutItsEnd(Batch batch) {
    int at = batch.length() - 1;
    batch.bytes().put(at, (byte) (batch.bytes().get(at) ^ 0x55));
    batch.bytes().putInt(Batch.HEADER_BYTES, batch.bytes().getInt(Batch.HEADER_BYTES) - 1);
    return batch.stamped(0, 0, 0);
  }

  @Test
  void aBatchThatCannotBeReadIsRefusedWhereverItIsCheckedAndTheNextIsTaken() throws Exception {
    int before = entries();
    for (Compression compression : List.of(Compression.LZ4, Compression.ZSTD)) {
      for (int bytes : new int[] {4_000, 400_000}) {
        Batch poison = withoutItsEnd(compressed(compression, 0, 0, bytes));
        RefusedException refused = refused(Refusal.INVALID, bench.append(shard, poison));
        assertThat(refused.getMessage()).startsWith("malformed batch: it ");
        refused = refusal(bench.append(shard, batch(0, 0, 0, 2), poison));
        assertThat(refused.refusal()).as("the whole request").isEqualTo(Refusal.INVALID);
        refused =
            refusal(bench.send(Addresses.data("n1"), Frames.request(Op.APPEND, late(poison))));
        assertThat(refused.refusal()).as("a delayed one").isEqualTo(Refusal.INVALID);
      }
    }
    assertThat(entries()).isEqualTo(before);
    bench.grant("g", shard, "a", 0);
    List<Batch> sound = new ArrayList<>();
    for (Compression compression : List.of(Compression.LZ4, Compression.ZSTD)) {
      sound.add(compressed(compression, 0, 0, 4_000));
      sound.add(compressed(compression, 0, 0, 400_000));
    }
    long offset = 0;
    for (Batch each : sound) {
      assertThat(get(bench.append(shard, each)).results())
          .containsExactly(new AppendResults.Result(null, offset));
      FetchAnswer answer = get(bench.fetch("g", shard, 1, offset, 0));
      assertThat(answer.batches()).hasSize(1);
      for (BatchReader reader = answer.batches().get(0).batch().verified().reader(offset);
          reader.hasNext(); ) {
        reader.next();
      }
      offset += each.count();
    }
  }

  private Bytes late(Batch batch) {
    Bytes body = new Bytes();
    AppendBody.write(body, new AppendBody.Item(shard, batch, bench.now.get() + 500));
    return body;
  }

  /** A producer sends its next batches before the answer comes. None may overtake. */
  @Test
  void whatIsCheckedAtOnceWaitsForWhatAWorkerChecks() throws Exception {
    List<Future<AppendResults>> answers = new ArrayList<>();
    int sequence = 0;
    for (int i = 0; i < 20; i++) {
      Batch large = compressed(Compression.ZSTD, 7, sequence, 400_000);
      answers.add(bench.append(shard, large));
      sequence += large.count();
      answers.add(bench.append(shard, withoutItsEnd(compressed(Compression.LZ4, 0, 0, 400_000))));
      answers.add(bench.append(shard, batch(7, 0, sequence, 3)));
      sequence += 3;
    }
    long offset = 0;
    for (int i = 0; i < answers.size(); i += 3) {
      assertThat(get(answers.get(i)).results())
          .containsExactly(new AppendResults.Result(null, offset));
      refused(Refusal.INVALID, answers.get(i + 1));
      assertThat(get(answers.get(i + 2)).results())
          .containsExactly(new AppendResults.Result(null, offset + 11));
      offset += 14;
    }
  }

  @Test
  void aRequestMayNotBecomeTooLargeWhenItIsUnpacked() throws Exception {
    BatchBuilder builder = new BatchBuilder(1 << 20, BatchPacker.of(Compression.ZSTD));
    builder.add(new Message(null, null, 0, new byte[Limits.PAYLOAD_BYTES_MAX]));
    Batch batch = builder.build(0, 0, 0);
    assertThat(batch.length()).isLessThan(1_000);
    int most = Limits.APPEND_UNPACKED_BYTES_MAX / batch.unpackedLength();
    List<Batch> many = new ArrayList<>(Collections.nCopies(most + 1, batch));
    RefusedException refused =
        refused(Refusal.TOO_LARGE, bench.append(shard, many.toArray(Batch[]::new)));
    assertThat(refused).hasMessageContaining("at most 67108864 are allowed");
    many.remove(0);
    assertThat(get(bench.append(shard, many.toArray(Batch[]::new))).results())
        .hasSize(most)
        .allMatch(AppendResults.Result::ok);
    get(bench.append(shard, batch));
  }

  /** As nodes of former versions took it. */
  private void appendUnchecked(Batch batch) throws Exception {
    AppendBody.Item item = new AppendBody.Item(shard, batch);
    Bytes head = Entry.appending(FeatureLevel.COMPRESSION, bench.now.get());
    AppendHead.write(head, item);
    Bytes body = new Bytes();
    AppendBody.write(body, item);
    bench
        .nodes
        .get("n1")
        .log()
        .data()
        .get(bench.groupOf(shard))
        .append(head.view(), List.of(body.view()))
        .get(60, TimeUnit.SECONDS);
  }

  @Test
  void aGroupCanSkipABatchOfAFormerVersionThatCannotBeRead() throws Exception {
    get(bench.append(shard, batch(0, 0, 0, 2)));
    Batch poison = withoutItsEnd(compressed(Compression.ZSTD, 0, 0, 4_000));
    appendUnchecked(poison);
    get(bench.append(shard, batch(0, 0, 0, 3)));
    long behind = 2 + poison.count();
    long epoch = bench.grant("g", shard, "a", 0).epoch();
    FetchAnswer answer = get(bench.fetch("g", shard, epoch, 2, 0));
    assertThat(answer.batches().get(0).batch().verified().bytes()).isEqualTo(poison.bytes());
    for (StartAt to :
        List.of(StartAt.offset(behind), StartAt.timestamp(Long.MAX_VALUE), StartAt.LATEST)) {
      DataCommand.ResetLease reset = new DataCommand.ResetLease("g", shard, epoch, to);
      Lease lease = ((Reply.OfLease) bench.submit("n1", bench.groupOf(shard), reset)).lease();
      assertThat(lease.committed()).isGreaterThanOrEqualTo(behind);
      epoch = bench.grant("g", shard, "a", lease.epoch()).epoch();
    }
    answer = get(bench.fetch("g", shard, epoch, behind, 0));
    assertThat(answer.batches()).hasSize(1);
    assertThat(answer.batches().get(0).baseOffset()).isEqualTo(behind);
  }

  private int entries() {
    return bench.cluster.group("d" + bench.groupOf(shard)).entries.size();
  }
}
