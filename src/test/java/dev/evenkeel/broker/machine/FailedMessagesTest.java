package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.BatchSource;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchMessages;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages of retries and dead letters in segments that are written anew. */
class FailedMessagesTest {
  private static final LeaseKey KEY = new LeaseKey(SHARD, "g");
  private static final int BATCHES = 20;
  private static final int BATCH_MESSAGES = 30;

  private final Rig rig = new Rig();
  private SegmentBodies bodies;

  private void open() throws IOException {
    rig.data.close();
    bodies = new SegmentBodies(rig.directory.resolve("bodies"), 1 << 20);
    bodies.open(-1);
    rig.data = States.data(rig.directory.resolve("d0"), rig.disk::open, bodies, 0);
    rig.data.open();
  }

  @AfterEach
  void close() throws IOException {
    rig.data.close();
    bodies.close();
  }

  private void append(Compression compression) {
    BatchBuilder builder = new BatchBuilder(4_096, BatchPacker.of(compression));
    long base = rig.tables().shard(SHARD).end();
    for (long offset = base; offset < base + BATCH_MESSAGES; offset++) {
      builder.add(new Message(null, null, offset, payload(offset).getBytes(UTF_8)));
    }
    rig.append(SHARD, builder.build(0, 0, 0));
  }

  private static String payload(long offset) {
    Random random = new Random(offset);
    String text = "message " + offset;
    for (int i = 0; i < 10; i++) {
      text += " " + random.nextInt();
    }
    return text;
  }

  private void record(long offset, int attempt, Outcome.Way way) {
    Outcome outcome = new Outcome.Failed(offset, attempt, way, 0, Outcome.NO_KEY, "no", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(outcome)));
  }

  /** A round of the cleaner, on a node whose log has dropped all entries. */
  private List<BodyUse.Act> clean(String snapshot) throws IOException {
    rig.data.snapshot(rig.directory.resolve(snapshot));
    Segments segments = bodies.segments();
    BodyUse use = BodyUse.of(rig.data, segments.list(), 1_000, segments::length, () -> {});
    List<BodyUse.Act> acts = new ArrayList<>();
    for (BodyUse.Use each : use.segments()) {
      BodyUse.Act act = each.act(Long.MAX_VALUE);
      acts.add(act);
      if (act == BodyUse.Act.REWRITE) {
        segments.rewrite(each.segment(), each, bytes -> {});
      } else if (act == BodyUse.Act.DELETE) {
        segments.delete(each.segment());
      }
    }
    return acts;
  }

  private BatchSource source() {
    return new BatchSource() {
      @Override
      public byte[] read(BatchPlace place, int bytes) {
        return rig.data.bytes(place, bytes);
      }

      @Override
      public KeptPart part(BatchPlace place) {
        return rig.data.part(place);
      }
    };
  }

  private List<String> retries() {
    RetryRequest request = new RetryRequest("g", SHARD, 1, true, List.of(), 100, 1 << 20);
    RetryAnswer answer =
        rig.data.read(
            store -> new StoredFailures(store, source(), KEY).answer(request, rig.time()));
    BatchMessages batches = answer.messages();
    return answer.due().stream()
        .map(
            each ->
                each.copy() == null ? batches.at(each.offset()) : MessageCodec.decode(each.copy()))
        .map(message -> new String(message.payload(), UTF_8))
        .toList();
  }

  private List<String> deadLetters() {
    return rig
        .data
        .read(store -> new StoredFailures(store, source(), KEY).deadLetters(0, 100, 1 << 20))
        .opened()
        .stream()
        .map(opened -> new String(opened.message().payload(), UTF_8))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void outliveRetentionAndTheSegmentTheyCameIn(Compression compression) throws IOException {
    open();
    rig.open(new TopicConfig(0, -1, -1));
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.PARTIAL_BODIES));
    times(BATCHES, i -> append(compression));
    rig.grant("g", SHARD, "a", 0);
    record(100, 1, Outcome.Way.MOVED);
    record(101, 1, Outcome.Way.DEAD);
    record(333, 1, Outcome.Way.DEAD);
    long end = BATCHES * BATCH_MESSAGES;
    rig.run(Commands.commit("g", SHARD, 1, end));
    rig.pass(120_000);
    assertThat(rig.keys(Store.Table.INDEX)).as("retention has dropped all").isEmpty();

    long before = bodies.segments().bytes();
    assertThat(clean("first")).containsExactly(BodyUse.Act.REWRITE);
    assertThat(bodies.segments().bytes())
        .as("three messages of %s bytes", payload(100).length())
        .isLessThan(3 * (payload(100).length() + 200))
        .isLessThan(before / 5);
    assertThat(retries()).containsExactly(payload(100));
    assertThat(deadLetters()).containsExactly(payload(101), payload(333));

    open();
    assertThat(retries()).as("after a restart").containsExactly(payload(100));
    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(333L)));
    assertThat(retries()).containsExactlyInAnyOrder(payload(100), payload(333));
    record(100, 2, Outcome.Way.DEAD);
    assertThat(deadLetters()).containsExactly(payload(100), payload(101));

    long three = bodies.segments().bytes();
    rig.run(new DataCommand.DropDeadLetters("g", SHARD, List.of(100L)));
    record(333, 1, Outcome.Way.DEAD);
    rig.run(new DataCommand.DropDeadLetters("g", SHARD, List.of(333L)));
    assertThat(clean("second")).containsExactly(BodyUse.Act.REWRITE);
    assertThat(bodies.segments().bytes()).isLessThan(three / 2);
    assertThat(deadLetters()).containsExactly(payload(101));

    rig.run(new DataCommand.DropDeadLetters("g", SHARD, List.of(101L)));
    assertThat(clean("last")).containsOnly(BodyUse.Act.DELETE);
    assertThat(rig.tables().failures(KEY).dead()).isZero();
  }
}
