package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Requests for retries and dead letters, of which the log has the messages. */
class FailureRequestsTest {
  @Closing private Bench bench;
  private Shard shard;

  private void begin(String... nodes) throws Exception {
    bench = new Bench(1 << 20, new JsonObject(), 1, nodes);
    shard = new Shard(bench.create("orders", 1).id(), 0);
    get(bench.append(shard, Rig.batch(7, 0, 0, 3)));
    get(bench.append(shard, Rig.batch(7, 0, 3, 2)));
    bench.grant("g", shard, "a", 0);
    record(failed(1, Outcome.Way.MOVED), failed(3, Outcome.Way.MOVED), failed(4, Outcome.Way.DEAD));
  }

  private static Outcome failed(long offset, Outcome.Way way) {
    return new Outcome.Failed(offset, 1, way, 0, Outcome.NO_KEY, "broken", null);
  }

  private void record(Outcome... outcomes) throws Exception {
    bench.submit(
        "n1",
        bench.groupOf(shard),
        new DataCommand.RecordOutcomes("g", shard, 1, List.of(outcomes)));
  }

  private Future<ByteBuffer> ask(Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return bench.send(Addresses.control("n1"), request);
  }

  private Future<RetryAnswer> retries() {
    RetryRequest request = new RetryRequest("g", shard, 1, false, List.of(), 100, 1 << 20);
    return bench
        .send(Addresses.control("n1"), Calls.FETCH_RETRIES.request(request))
        .map(RetryAnswer.CODEC::decodeAll);
  }

  /** Whoever gets the answer unpacks its batches. */
  @Test
  void anAnswerBringsOnlySoMuchToUnpack() throws Exception {
    bench = new Bench(1 << 20, new JsonObject(), 1, "n1");
    shard = new Shard(bench.create("orders", 1).id(), 0);
    bench.grant("g", shard, "a", 0);
    int batches = 40;
    for (int i = 0; i < batches; i++) {
      get(bench.append(shard, Bombs.ofMessages(0, 0)));
      record(failed((long) i * Limits.BATCH_MESSAGES_MAX, Outcome.Way.DEAD));
    }
    long unpacked = Bombs.ofMessages(0, 0).unpackedLength();
    DeadLettersAnswer answer = get(deadLetters());
    assertThat((answer.batches().size() - 1) * unpacked).isLessThanOrEqualTo(4 << 20);
    assertThat(answer.letters()).hasSizeBetween(2, batches - 1);
  }

  private Future<DeadLettersAnswer> deadLetters() {
    return deadLetters(1 << 20);
  }

  private Future<DeadLettersAnswer> deadLetters(int bytesMax) {
    Bytes body = new Bytes().text("g");
    RecordCodec.write(body, shard);
    body.i64(0).i32(100).i32(bytesMax);
    return ask(Op.READ_DEAD_LETTERS, body).map(DeadLettersAnswer.CODEC::decodeAll);
  }

  /** The messages of the retries, by offset; null: lost. */
  private Map<Long, String> retried() throws Exception {
    Map<Long, String> payloads = new TreeMap<>();
    for (RetryAnswer.Retry each : get(retries()).due()) {
      payloads.put(each.offset(), each.copy().length == 0 ? null : payload(each.copy()));
    }
    return payloads;
  }

  private static String payload(byte[] copy) {
    return new String(MessageCodec.decode(copy).payload(), UTF_8);
  }

  private void damage(long offset) throws IOException {
    DataState state = bench.nodes.get("n1").data().get(0);
    IndexEntry entry = state.read(store -> BatchIndex.at(store, shard, offset));
    Damage.endOf(state.bytes(entry), bench.directories.get("n1").resolve("bodies"));
  }

  private void assertSound() throws Exception {
    assertThat(retried()).isEqualTo(Map.of(1L, "7/0/1", 3L, "7/0/3"));
    assertThat(get(deadLetters()).opened())
        .extracting(each -> new String(each.message().payload(), UTF_8))
        .containsExactly("7/0/4");
  }

  @Test
  void theirMessagesComeFromTheLog() throws Exception {
    begin("n1");
    assertSound();
  }

  @Test
  void aDamagedBatchIsMendedBeforeItIsServed() throws Exception {
    begin("n1", "n2");
    damage(3);
    assertThat(retried()).as("what is sound comes first").containsKey(1L);
    record(new Outcome.Settled(1));
    assertThat(retried()).isEqualTo(Map.of(3L, "7/0/3"));
    assertThat(bench.nodes.get("n1").maintenance().mender(0).mendedBodies()).isEqualTo(1);
  }

  @Test
  void withoutTheirMessagesDeadLettersAreListedThoughThoseAreDamaged() throws Exception {
    begin("n1");
    record(failed(0, Outcome.Way.DEAD));
    damage(0);
    damage(4);
    DeadLettersAnswer answer = get(deadLetters(0));
    assertThat(answer.letters()).extracting(DeadLetter::offset).containsExactly(0L, 4L);
    assertThat(answer.letters())
        .allSatisfy(
            letter -> {
              assertThat(letter.copy()).isNull();
              assertThat(letter.error()).isEqualTo("broken");
            });
    assertThat(answer.batches()).isEmpty();
    assertThat(bench.nodes.get("n1").maintenance().mender(0).damagedBodies())
        .as("nothing was read")
        .isZero();
  }

  @Test
  void aLostMessageIsSaidToBeLost() throws Exception {
    begin("n1");
    damage(3);
    record(new Outcome.Settled(1));
    Map<Long, String> lost = new TreeMap<>();
    lost.put(3L, null);
    assertThat(retried()).isEqualTo(lost);
    assertThat(get(deadLetters()).letters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(letter.error()).startsWith("the message is lost").endsWith("broken"));
  }
}
