package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refusal;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests for retries and dead letters, of which the log has the messages. */
class FailureRequestsTest {
  private Bench bench;
  private Shard shard;

  @BeforeEach
  void begin() throws Exception {
    bench = Bench.one();
    shard = new Shard(bench.create("orders", 1).id(), 0);
    get(bench.append(shard, Rig.batch(7, 0, 0, 3), Rig.batch(7, 0, 3, 2)));
    bench.grant("g", shard, "a", 0);
    record(failed(1, Outcome.Way.MOVED), failed(3, Outcome.Way.MOVED), failed(4, Outcome.Way.DEAD));
  }

  @AfterEach
  void close() throws Exception {
    bench.close();
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
    return ask(Op.FETCH_RETRIES, request.encode()).map(RetryAnswer::decode);
  }

  private Future<DeadLettersAnswer> deadLetters() {
    Bytes body = new Bytes().text("g");
    RecordCodec.write(body, shard);
    body.i64(0).i32(100).i32(1 << 20);
    return ask(Op.READ_DEAD_LETTERS, body).map(DeadLettersAnswer::decode);
  }

  @Test
  void theirMessagesComeFromTheLog() throws Exception {
    assertThat(get(retries()).due())
        .extracting(each -> new String(MessageCodec.decode(each.copy()).payload(), UTF_8))
        .containsExactly("7/0/1", "7/0/3");
    assertThat(get(deadLetters()).opened())
        .extracting(each -> new String(each.message().payload(), UTF_8))
        .containsExactly("7/0/4");
  }

  @Test
  void aDamagedBatchIsReportedAndNotServed() throws Exception {
    DataState state = bench.nodes.get("n1").data().get(bench.groupOf(shard));
    IndexEntry entry = state.read(store -> BatchIndex.at(store, shard, 3));
    Damage.endOf(state.bytes(entry), bench.directories.get("n1").resolve("bodies"));

    assertThat(get(retries()).due()).extracting(RetryAnswer.Retry::offset).containsExactly(1L);
    record(new Outcome.Settled(1));
    RefusedException refused = refusal(retries());
    assertThat(refused.refusal()).isEqualTo(Refusal.CORRUPT);
    assertThat(refused).hasMessageContaining("'orders' shard 0 on n1, offset 3: corrupt batch");
    assertThat(refusal(deadLetters()).refusal()).isEqualTo(Refusal.CORRUPT);
    assertThat(
            bench.nodes.get("n1").log().data().get(bench.groupOf(shard)).eligibility().reasons())
        .containsKey(Eligibility.Reason.DAMAGED);
  }
}
