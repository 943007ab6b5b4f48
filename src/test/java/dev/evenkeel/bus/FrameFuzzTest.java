package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Mutants;
import dev.evenkeel.protocol.wire.PlacedBatch;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Frames of the event bus with faults in them cost a refusal: no other exception, no end of memory,
 * no loop without an end; and no batch with a wrong checksum.
 */
class FrameFuzzTest {
  private static final Shard SHARD = new Shard(7, 3);
  private static final Batch BATCH = batch();

  private record Sample(Buffer frame, Consumer<Buffer> reader) {}

  @Test
  @Timeout(900)
  void aFaultCostsARefusal() {
    long seed = Mutants.seed();
    Random random = new Random(seed);
    List<Sample> samples = samples();
    samples.forEach(sample -> sample.reader().accept(sample.frame()));
    int refused = 0;
    for (int mutant = 0; mutant < Mutants.COUNT; mutant++) {
      int which = mutant % samples.size();
      Sample sample = samples.get(which);
      Buffer changed = Buffer.buffer(Mutants.of(sample.frame().getBytes(), random));
      try {
        sample.reader().accept(changed);
      } catch (RefusedException expected) {
        refused++;
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            "seed " + seed + ", mutant " + mutant + " of sample " + which + ": " + e, e);
      }
    }
    assertThat(refused).isGreaterThan(Mutants.COUNT / 4);
  }

  private static List<Sample> samples() {
    List<Sample> all = new ArrayList<>();
    Bytes append = new Bytes();
    AppendBody.write(append, SHARD, BATCH);
    AppendBody.write(append, new Shard(7, 6), BATCH);
    all.add(new Sample(Frames.request(Op.APPEND, append), FrameFuzzTest::append));
    request(
        all,
        Op.FETCH,
        new FetchRequest("g", SHARD, 4, 100, 1 << 20, 300, 2, 5).encode(),
        FetchRequest::decode);
    FetchRequest one = new FetchRequest("g", SHARD, 4, 100, 1 << 20, 300, 2, 5);
    request(
        all,
        Op.FETCH_MANY,
        new FetchManyRequest(List.of(one, one)).encode(),
        FetchManyRequest::decode);
    request(all, Op.AWAIT_REPLICAS, new ReplicasRequest(1, 9, 5).encode(), ReplicasRequest::decode);
    request(
        all,
        Op.FETCH_RETRIES,
        new Bytes()
            .raw(
                RetryRequest.CODEC.encode(
                    new RetryRequest("g", SHARD, 4, true, List.of(1L, 2L), 9, 1_000))),
        RetryRequest::decode);
    request(
        all,
        Op.LEVEL_START,
        new SessionStart("g", 1, 2, "n", true, 3).encode(),
        SessionStart::decode);
    request(
        all,
        Op.LEVEL_HAND_OUT,
        new HandOut(1, 2, 3, new byte[] {1}, Map.of(7, "t"), Map.of(SHARD, 5L), List.of(dealt()))
            .encode(),
        HandOut::decode);
    for (DataCommand command :
        List.of(
            Commands.grant("g", SHARD, "m", "i", 4, StartAt.timestamp(99)),
            Commands.commit("g", SHARD, 4, 100),
            Commands.openShards(7, "t", List.of(0, 2), TopicConfig.DEFAULT),
            new DataCommand.Release("g", SHARD, 4, 100, 100, new byte[] {1, 2, 3}))) {
      Bytes body = new Bytes().i32(1);
      CommandCodec.write(body, command);
      request(
          all,
          Op.SUBMIT_DATA,
          body,
          bytes -> {
            ByteReader in = new ByteReader(bytes);
            in.i32();
            CommandCodec.data(in);
          });
    }
    for (MetaCommand command :
        List.of(
            new MetaCommand.RegisterProducer("p"),
            new MetaCommand.DeclareGroup(
                "g",
                GroupPolicy.SHARDED,
                List.of("a", "b"),
                StartAt.LATEST,
                true,
                "average",
                List.of()),
            new MetaCommand.RecordMoves(
                List.of(
                    new MoveRecord(
                        1, "g", "t", SHARD, "a", "b", "joined", 5L, 0L, 7L, true, 3, 99L))),
            new MetaCommand.CreateTopic("t", 12, TopicConfig.DEFAULT))) {
      Bytes body = new Bytes();
      CommandCodec.write(body, command);
      request(all, Op.SUBMIT_META, body, bytes -> CommandCodec.meta(new ByteReader(bytes)));
    }
    answers(all);
    return all;
  }

  private static void answers(List<Sample> all) {
    Bytes fetched = FetchAnswer.head(1, 9, 100).i64(1);
    fetched.raw(BATCH.bytes().array(), BATCH.bytes().arrayOffset(), BATCH.length());
    answer(
        all, fetched, bytes -> FetchAnswer.decode(bytes).batches().forEach(p -> taken(p.batch())));
    answer(
        all, new ReplicasAnswer(9, List.of("n1", "n3")).encode(), reader(ReplicasAnswer::decode));
    answer(
        all,
        new NodeLogs(
                "n",
                "h",
                List.of(
                    new NodeLogs.Group(
                        "d0",
                        "n",
                        1,
                        true,
                        2,
                        3,
                        Map.of("m", 4L),
                        new NodeLogs.Condition(
                            Map.of("DAMAGED", "x"),
                            new StateDigest(1, 2, new TreeMap<>(Map.of(1024L, 5L, 1030L, -6L))),
                            Map.of("m", "y"),
                            new NodeLogs.Bodies(6, 7, 8)))),
                NodeLogs.Levels.FIRST)
            .encode(),
        reader(NodeLogs::decode));
    Lease lease = Commands.lease("g", SHARD, 5, "m", "i", 100, 90, new byte[] {1}, null);
    Bytes statuses = new Bytes();
    ShardStatus.LIST.write(
        statuses,
        List.of(
            new ShardStatus(
                SHARD, 1, 2, 3, 4, List.of(lease), List.of(), ShardStatus.Delayed.NONE)));
    answer(all, statuses, reader(ShardStatus.LIST::read));
    Bytes figures = new Bytes();
    FailureFigures.LIST.write(figures, List.of(new FailureFigures("g", SHARD, 1, 2, 3, 4, 5)));
    answer(all, figures, reader(FailureFigures.LIST::read));
    answer(
        all,
        new Bytes()
            .raw(
                RetryAnswer.CODEC.encode(
                    new RetryAnswer(
                        5,
                        List.of(new RetryAnswer.Retry(1, 2, 3, new byte[] {4})),
                        new RetryAnswer.Known(
                            List.of(1L),
                            List.of(new RetryAnswer.Held(1, 2, 3)),
                            List.of(new RetryAnswer.KeyQueue(1, 2, 3))),
                        List.of(new PlacedBatch(1, new byte[] {5}))))),
        RetryAnswer.CODEC::decodeAll);
    answer(
        all,
        new SessionState(new byte[] {1}, 2, List.of(new MessageId(SHARD, 3, 0)), List.of(), 4)
            .encode(),
        SessionState::decode);
    answer(all, new StartPermission(1, 2).encode(), StartPermission::decode);
    AppendResults results =
        new AppendResults(
            77,
            List.of(
                new AppendResults.Result(null, 1_000),
                new AppendResults.Result(Refusal.SEQUENCE_GAP, 3)));
    all.add(
        new Sample(
            Frames.answer(results.encode()),
            frame -> AppendResults.decode(Frames.answerBody(frame))));
    GroupInfo group = Commands.group("g", GroupPolicy.SHARDED, List.of("t"), 2, "average");
    for (Reply reply :
        List.of(
            new Reply.OfLease(lease),
            new Reply.OfGroup(group),
            new Reply.OfSequences(Map.of(SHARD, 5L)))) {
      all.add(
          new Sample(
              Frames.answer(ReplyCodec.encode(reply)),
              frame -> ReplyCodec.decode(Frames.answerBody(frame))));
    }
  }

  private static Consumer<ByteBuffer> reader(Consumer<ByteReader> reader) {
    return bytes -> reader.accept(new ByteReader(bytes));
  }

  private static void request(List<Sample> all, Op op, Bytes body, Consumer<ByteBuffer> reader) {
    all.add(
        new Sample(
            Frames.request(op, body),
            frame -> {
              // Of another operation it is another's to read.
              if (Frames.op(frame) == op) {
                reader.accept(Frames.body(frame));
              }
            }));
  }

  private static void answer(List<Sample> all, Bytes body, Consumer<ByteBuffer> reader) {
    all.add(
        new Sample(Frames.answer(body.view()), frame -> reader.accept(Frames.answerBody(frame))));
  }

  private static void append(Buffer frame) {
    if (Frames.op(frame) == Op.APPEND) {
      AppendBody.read(Frames.body(frame)).forEach(item -> taken(item.batch().verified()));
    }
  }

  /** What passes for a batch, once its checksum is looked at, is the one that was written. */
  private static void taken(Batch batch) {
    assertThat(batch.verified().bytes()).isEqualTo(BATCH.bytes());
  }

  private static HandOut.Entry dealt() {
    return new HandOut.Entry(
        new MessageId(SHARD, 3, 0),
        4,
        1,
        new Message(new byte[] {1}, Map.of("h", new byte[] {2}), 5, new byte[] {6, 7}));
  }

  private static Batch batch() {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(new Message(new byte[] {1, 2}, Map.of("h", new byte[] {3}), 5, new byte[] {4}));
    builder.add(new Message(null, Map.of(), 6, new byte[] {5, 6, 7}));
    return builder.build(7, 1, 12);
  }
}
