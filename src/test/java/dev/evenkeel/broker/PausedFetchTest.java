package dev.evenkeel.broker;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A paused group gets nothing until it is resumed. */
class PausedFetchTest {
  @Closing private Bench bench;
  private Shard shard;

  private void begin(String... nodes) throws Exception {
    bench = new Bench(1 << 20, new JsonObject(), 1, nodes);
    shard = new Shard(bench.create("orders", 2).id(), 0);
    Wait.until(() -> bench.nodes.get("n1").meta().tables().featureLevel() == FeatureLevel.NEWEST);
    for (String group : List.of("g", "h")) {
      meta(
          Commands.declareGroup(
              group, GroupPolicy.SHARDED, List.of("orders"), StartAt.EARLIEST, false));
      bench.grant(group, shard, "a", 0);
    }
  }

  private Reply meta(MetaCommand command) throws Exception {
    Bytes body = new Bytes();
    CommandCodec.write(body, command);
    return ReplyCodec.decode(bench.control(Op.SUBMIT_META, body));
  }

  private void pause(String topic, int number, boolean paused) throws Exception {
    assertThat(meta(new MetaCommand.PauseGroup("g", topic, number, paused))).isEqualTo(Reply.DONE);
  }

  private void pause() throws Exception {
    pause(null, Pause.ALL_SHARDS, true);
  }

  private void resume() throws Exception {
    pause(null, Pause.ALL_SHARDS, false);
  }

  private static Batch batch(String... keys) {
    BatchBuilder builder = new BatchBuilder(64);
    each(keys, key -> builder.add(Message.of(key, 1, new byte[100])));
    return builder.build(0, 0, 0);
  }

  private FetchRequest fetch(Shard of, long offset, int wait, String... filter) {
    return new FetchRequest(
        "g",
        of,
        1,
        offset,
        1 << 20,
        1 << 20,
        0,
        wait,
        filter.length == 0 ? null : MessageFilter.of(filter));
  }

  private static List<Long> bases(FetchAnswer answer) {
    return answer.batches().stream().map(FetchAnswer.Placed::baseOffset).toList();
  }

  /** Long enough for whatever comes to reach a fetch that should not get it. */
  private static void assertWaits(Future<?> fetch) throws Exception {
    Thread.sleep(150);
    assertThat(fetch.isComplete()).isFalse();
  }

  @Test
  void aFetchOfAPausedGroupWaitsAndGoesOnAtOnce() throws Exception {
    begin("n1");
    get(bench.append(shard, batch("a")));
    pause();
    assertThat(get(bench.fetch("g", shard, 1, 0, 0)).batches()).isEmpty();
    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    Future<FetchAnswer> other = bench.fetch("h", shard, 1, 0, 15_000);
    assertThat(bases(get(other))).as("of another group").containsExactly(0L);
    get(bench.append(shard, batch("b")));
    assertWaits(waiting);
    long before = System.nanoTime();
    resume();
    assertThat(bases(get(waiting))).containsExactly(0L, 1L);
    assertThat(System.nanoTime() - before).isLessThan(10_000_000_000L);
  }

  @Test
  void aFetchThatWaitsWhenThePauseBeginsGetsNothing() throws Exception {
    begin("n1");
    Future<FetchAnswer> plain = bench.fetch("g", shard, 1, 0, 15_000);
    assertWaits(plain);
    pause("orders", 0, true);
    get(bench.append(shard, batch("a")));
    assertWaits(plain);
    pause("orders", 0, false);
    assertThat(bases(get(plain))).containsExactly(0L);
  }

  @Test
  void theWaitOfAPausedFetchEnds() throws Exception {
    begin("n1");
    get(bench.append(shard, batch("a", "b")));
    pause("orders", Pause.ALL_SHARDS, true);
    assertThat(get(bench.fetch(fetch(shard, 0, 50))).batches()).isEmpty();
    FetchAnswer filtered = get(bench.fetch(fetch(shard, 0, 50, "key=b")));
    assertThat(filtered.batches()).isEmpty();
    assertThat(filtered.next()).as("nothing was passed over").isEqualTo(-1);
  }

  @Test
  void aFetchWithAFilterWaitsToo() throws Exception {
    begin("n1");
    // One that waits together with others when the pause begins.
    Future<FetchAnswer> watching = bench.fetch(fetch(shard, 0, 15_000, "key=a"));
    assertWaits(watching);
    pause();
    get(bench.append(shard, batch("b", "a")));
    assertWaits(watching);
    resume();
    assertThat(bases(get(watching))).containsExactly(1L);
    // One that comes while the group is paused.
    pause();
    Future<FetchAnswer> late = bench.fetch(fetch(shard, 0, 15_000, "key=a"));
    assertWaits(late);
    resume();
    assertThat(bases(get(late))).containsExactly(1L);
  }

  @Test
  void ofManyFetchesOnlyThePausedOnesWait() throws Exception {
    begin("n1");
    Shard other = new Shard(shard.topicId(), 1);
    bench.grant("g", other, "a", 0);
    pause("orders", 0, true);
    var waiting = bench.fetchMany(fetch(shard, 0, 15_000), fetch(other, 0, 15_000));
    get(bench.append(shard, batch("a")));
    assertWaits(waiting);
    get(bench.append(other, batch("b")));
    assertThat(get(waiting).parts()).extracting(FetchManyAnswer.Part::index).containsExactly(1);
    var again = bench.fetchMany(fetch(shard, 0, 15_000), fetch(other, 1, 15_000));
    assertWaits(again);
    pause("orders", 0, false);
    assertThat(get(again).parts()).extracting(FetchManyAnswer.Part::index).containsExactly(0);
  }

  @Test
  void aPauseEndsWithItsGroupAndItsLeasesStay() throws Exception {
    begin("n1");
    get(bench.append(shard, batch("a")));
    pause();
    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    bench.grant("g", shard, "b", 1);
    refused(Refusal.FENCED, waiting);
    Future<FetchAnswer> next = bench.fetch("g", shard, 2, 0, 15_000);
    assertWaits(next);
    meta(new MetaCommand.ForgetGroup("g"));
    assertThat(bases(get(next))).containsExactly(0L);
  }

  @Test
  void anotherNodeThatLeadsKeepsThePause() throws Exception {
    begin("n1", "n2");
    get(bench.append(shard, batch("a")));
    pause();
    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    bench.cluster.group("d0").lead("n2", true);
    refused(Refusal.NOT_LEADER, waiting);
    FetchRequest request = new FetchRequest("g", shard, 1, 0, 1 << 20, 1 << 20, 0, 15_000);
    Future<FetchAnswer> there =
        bench
            .send(Addresses.data("n2"), Frames.request(Op.FETCH, request.encode()))
            .map(FetchAnswer::decode);
    assertWaits(there);
    resume();
    assertThat(bases(get(there))).containsExactly(0L);
  }

  @Test
  void retriesAreNotGivenOutMeanwhile() throws Exception {
    begin("n1");
    get(bench.append(shard, Rig.batch(7, 0, 0, 3)));
    Outcome failed = new Outcome.Failed(1, 1, Outcome.Way.MOVED, 0, Outcome.NO_KEY, "broken", null);
    bench.submit("n1", 0, new DataCommand.RecordOutcomes("g", shard, 1, List.of(failed)));
    pause();
    RetryAnswer paused = get(retries());
    assertThat(paused.due()).isEmpty();
    assertThat(paused.nextInMillis()).as("the owner asks again").isEqualTo(1_000);
    assertThat(paused.known().marks()).as("the owner can begin").containsExactly(1L);
    resume();
    assertThat(get(retries()).due()).extracting(RetryAnswer.Retry::offset).containsExactly(1L);
  }

  private Future<RetryAnswer> retries() {
    RetryRequest request = new RetryRequest("g", shard, 1, true, List.of(), 100, 1 << 20);
    return bench
        .send(Addresses.control("n1"), Calls.FETCH_RETRIES.request(request))
        .map(RetryAnswer.CODEC::decodeAll);
  }
}
