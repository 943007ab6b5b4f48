package dev.evenkeel.broker;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refusal;
import static dev.evenkeel.broker.Bench.refused;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.CallsTest;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class BrokerVerticleTest {
  @Closing private Bench bench;
  private Shard shard;
  private Shard other;

  private void begin(Bench made) throws Exception {
    bench = made;
    shard = new Shard(bench.create("orders", 2).id(), 0);
    other = new Shard(shard.topicId(), 1);
  }

  /** One log group, and no entry that raises its level comes in between. */
  private void beginAtTheNewestLevel() throws Exception {
    begin(new Bench(1 << 20, new JsonObject(), 1, "n1"));
    awaitLevel();
  }

  private void beginWithTwoShardsOwned() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    bench.grant("g", other, "a", 0);
  }

  /** Two nodes, each of which leads one of two log groups, and which soon give up. */
  private void beginWithTwoLeaders() throws Exception {
    JsonObject options = new JsonObject().put("procedureMillisMax", 200).put("reconcileMillis", 50);
    bench = new Bench(1 << 20, options, 2, "n1", "n2");
    bench.cluster.group("d1").lead("n2", true);
  }

  private List<LeaseChange> leaseChanges() {
    List<LeaseChange> changes = new CopyOnWriteArrayList<>();
    bench
        .vertx
        .eventBus()
        .<JsonObject>consumer(
            Addresses.LEASE_CHANGES, m -> changes.add(LeaseChange.fromJson(m.body())));
    return changes;
  }

  /** The shard is to go from its first owner to b. */
  private void handOver() throws Exception {
    Drain drain = new Drain("b", 99, new Drain.Heir("b-1", 5_000));
    bench.submit("n1", 0, new DataCommand.SetDrain("g", shard, 1, drain));
  }

  @Test
  void theWayOfAMessageAndOfItsShard() throws Exception {
    begin(Bench.one());
    List<LeaseChange> changes = leaseChanges();

    AppendResults appended = get(bench.append(shard, batch(7, 0, 0, 3), batch(7, 0, 3, 2)));
    assertThat(appended.results()).extracting(AppendResults.Result::value).containsExactly(0L, 3L);

    assertThat(bench.grant("g", shard, "a", 0).epoch()).isEqualTo(1);
    FetchAnswer answer = get(bench.fetch("g", shard, 1, 4, 0));
    assertThat(answer.endOffset()).isEqualTo(5);
    assertThat(answer.batches()).hasSize(1);
    assertThat(answer.batches().get(0).baseOffset()).as("the whole batch").isEqualTo(3);
    assertThat(answer.batches().get(0).batch().verified().count()).isEqualTo(2);

    int group = bench.groupOf(shard);
    assertThat(bench.submit("n1", group, Commands.commit("g", shard, 1, 3))).isEqualTo(Reply.DONE);
    byte[] state = {1, 2, 3};
    assertThat(bench.submit("n1", group, new DataCommand.Release("g", shard, 1, 5, 5, state)))
        .isEqualTo(Reply.DONE);
    refused(Refusal.FENCED, bench.fetch("g", shard, 1, 5, 0));
    assertThat(bench.grant("g", shard, "b", 1).epoch()).isEqualTo(2);

    Bytes body = new Bytes().text("g");
    RecordCodec.write(body, shard);
    Lease lease = ((Reply.OfLease) ReplyCodec.decode(bench.control(Op.READ_LEASE, body))).lease();
    assertThat(lease.committed()).isEqualTo(5);
    assertThat(lease.state()).containsExactly(1, 2, 3);
    await().until(() -> changes.size() == 3);
    assertThat(changes).extracting(LeaseChange::owner).containsExactly("a", null, "b");
  }

  @Test
  void aDelayedBatchComesWhenTheLeadersClockSaysSoAndWakesALongPoll() throws Exception {
    begin(Bench.one());
    awaitLevel();
    bench.grant("g", shard, "a", 0);
    Bytes body = new Bytes();
    AppendBody.write(body, new AppendBody.Item(shard, batch(7, 0, 0, 3), bench.now.get() + 500));
    Buffer request = Frames.request(Op.APPEND, body);
    ByteBuffer answer = get(bench.send(Addresses.data("n1"), request));
    assertThat(AppendResults.decode(answer).results())
        .containsExactly(new AppendResults.Result(null, AppendResults.Result.delayed(0)));
    Bytes wanted = new Bytes().i32(bench.groupOf(shard)).text(null);
    ShardStatus.Delayed delayed =
        ShardStatus.LIST.read(new ByteReader(bench.control(Op.READ_SHARDS, wanted))).stream()
            .filter(status -> status.shard().equals(shard))
            .findFirst()
            .orElseThrow()
            .delayed();
    assertThat(delayed.messages()).isEqualTo(3);
    assertThat(delayed.nextDueMillis()).isEqualTo(bench.now.get() + 500);

    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    bench.now.addAndGet(499);
    get(bench.append(other, batch(7, 0, 0, 1)));
    assertThat(waiting.isComplete()).isFalse();
    bench.now.addAndGet(1);
    assertThat(get(waiting).batches().get(0).batch().count()).isEqualTo(3);
  }

  @Test
  void aLongPollWakesUp() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    get(bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(get(waiting).batches()).hasSize(1);

    FetchAnswer nothing = get(bench.fetch("g", shard, 1, 1, 20));
    assertThat(nothing.batches()).isEmpty();
    assertThat(nothing.endOffset()).isEqualTo(1);
  }

  @Test
  void aLongPollEndsWithItsLeaseAndWithTheLeadership() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> fenced = bench.fetch("g", shard, 1, 0, 15_000);
    bench.grant("g", shard, "b", 1);
    refused(Refusal.FENCED, fenced);

    Future<FetchAnswer> deposed = bench.fetch("g", shard, 2, 0, 15_000);
    bench.cluster.group("d" + bench.groupOf(shard)).lead("n2", true);
    RefusedException refused = refused(Refusal.NOT_LEADER, deposed);
    assertThat(refused.getMessage()).isEqualTo("n2");
    refused(Refusal.NOT_LEADER, bench.append(shard, batch(0, 0, 0, 1)));
    bench.cluster.group("d" + bench.groupOf(shard)).lead("n1", false);
    assertThat(refusal(bench.fetch("g", shard, 2, 0, 0)).refusal())
        .as("a leader that is catching up does not fence")
        .isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void anOwnerHearsOfRetriesAtTheEndOfAShardWithoutAWait() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(0, 0, 0, 3)));
    bench.grant("g", shard, "a", 0);
    int group = bench.groupOf(shard);
    List<Outcome> outcomes =
        List.of(
            new Outcome.Failed(1, 1, Outcome.Way.MOVED, 3_000, Outcome.NO_KEY, "broken", null),
            new Outcome.Failed(2, 1, Outcome.Way.DEAD, 0, Outcome.NO_KEY, "broken", null));
    bench.submit("n1", group, new DataCommand.RecordOutcomes("g", shard, 1, outcomes));
    bench.submit("n1", group, new DataCommand.Release("g", shard, 1, 3, -1, null));
    bench.grant("g", shard, "b", 1);

    FetchAnswer first = withoutAWait(bench.fetch("g", shard, 2, 3, 15_000));
    assertThat(first.failures()).as("a new owner knows of none").isEqualTo(1);
    assertThat(first.batches()).isEmpty();
    FetchAnswer waited = get(bench.fetch(atTheEnd(1, 20)));
    assertThat(waited.failures()).isEqualTo(1);

    bench.submit("n1", group, new DataCommand.ReplayDeadLetters("g", shard, List.of(2L)));
    FetchAnswer replayed = withoutAWait(bench.fetch(atTheEnd(1, 15_000)));
    assertThat(replayed.failures()).as("replayed while no fetch waited").isEqualTo(2);
  }

  private Future<FetchAnswer> fetchAhead(String group) {
    return bench.fetch(group, shard, 2, FetchRequest.AS_GRANTED, 15_000);
  }

  @Test
  void whoGetsAShardNextMayFetchBeforeItIsReleased() throws Exception {
    beginAtTheNewestLevel();
    bench.grant("g", shard, "a", 0);
    assertThat(refusal(fetchAhead("g")).refusal())
        .as("nobody gets it next")
        .isEqualTo(Refusal.FENCED);
    handOver();
    Future<FetchAnswer> owner = bench.fetch("g", shard, 1, 0, 15_000);
    Future<FetchAnswer> next = fetchAhead("g");
    get(bench.append(shard, batch(0, 0, 0, 3)));
    assertThat(get(owner).batches()).as("the owner's fetch goes on").hasSize(1);
    get(bench.append(shard, batch(0, 0, 3, 1)));
    assertThat(next.isComplete()).isFalse();
    bench.submit("n1", 0, new DataCommand.Release("g", shard, 1, 3, -1, null));
    FetchAnswer first = withoutAWait(next);
    assertThat(first.batches()).hasSize(1);
    assertThat(first.batches().get(0).baseOffset()).as("what was committed").isEqualTo(3);
    assertThat(get(fetchAhead("g")).batches()).as("too late, and still right").hasSize(1);
  }

  private Lease leaseOf(Bytes request) throws Exception {
    return ((Reply.OfLease) ReplyCodec.decode(bench.control(Op.READ_LEASE, request))).lease();
  }

  @Test
  void whoContinuesASealedShardIsToldItsStage() throws Exception {
    beginAtTheNewestLevel();
    bench.grant("g", shard, "a", 0);
    bench.control(Op.RESHARD_TOPIC, new Bytes().text("orders").i32(3));
    bench.submit(
        "n1",
        bench.groupOf(shard),
        new DataCommand.Release("g", shard, 1, 0, DataCommand.Release.FINISHED, null));
    Bytes request = new Bytes().text("g");
    RecordCodec.write(request, shard);
    assertThat(leaseOf(request).stage())
        .as("for clients of earlier versions")
        .isEqualTo(Lease.Stage.CONSUMING);
    assertThat(leaseOf(request.bool(true)).stage()).isEqualTo(Lease.Stage.FINISHED);
  }

  @Test
  void aFetchAheadEndsWhenTheHandoverIsCalledOff() throws Exception {
    beginAtTheNewestLevel();
    bench.grant("g", shard, "a", 0);
    handOver();
    Future<FetchAnswer> next = fetchAhead("g");
    bench.submit("n1", 0, new DataCommand.SetDrain("g", shard, 1, null));
    refused(Refusal.FENCED, next);
  }

  /** Sooner than the 15 s that it might wait. */
  private static FetchAnswer withoutAWait(Future<FetchAnswer> answer) {
    Wait.until(10, answer::isComplete);
    return answer.result();
  }

  @Test
  void anOwnerThatAsksAgainHasGivenUpItsFormerFetch() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    bench.grant("h", shard, "a", 0);
    Future<FetchAnswer> former = bench.fetch("g", shard, 1, 0, 15_000);
    Future<FetchAnswer> ofAnother = bench.fetch("h", shard, 1, 0, 15_000);
    Future<FetchAnswer> again = bench.fetch("g", shard, 1, 0, 15_000);
    assertThat(withoutAWait(former).batches()).isEmpty();
    assertThat(ofAnother.isComplete()).isFalse();
    get(bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(get(again).batches()).hasSize(1);
    assertThat(get(ofAnother).batches()).hasSize(1);
  }

  private static FetchRequest fetch(String group, Shard of, long offset, int waitMillis) {
    return new FetchRequest(group, of, 1, offset, 1 << 20, 1 << 20, 0, waitMillis);
  }

  private static FetchAnswer part(FetchManyAnswer answer, int index) {
    assertThat(answer.parts().get(index).index()).isEqualTo(index);
    return FetchAnswer.decode(Frames.answerBody(answer.parts().get(index).frame()));
  }

  @Test
  void fetchesThatWaitTogetherEndWithTheFirstMessage() throws Exception {
    beginWithTwoShardsOwned();
    var waiting = bench.fetchMany(fetch("g", shard, 0, 15_000), fetch("g", other, 0, 15_000));
    get(bench.append(other, batch(0, 0, 0, 2)));
    FetchManyAnswer woken = get(waiting);
    assertThat(woken.parts()).extracting(FetchManyAnswer.Part::index).containsExactly(1);
    FetchAnswer.Placed placed =
        FetchAnswer.decode(Frames.answerBody(woken.parts().get(0).frame())).batches().get(0);
    assertThat(placed.batch().verified().count()).isEqualTo(2);

    get(bench.append(shard, batch(0, 0, 0, 1)));
    var both = get(bench.fetchMany(fetch("g", shard, 0, 15_000), fetch("g", other, 0, 15_000)));
    assertThat(part(both, 0).batches()).hasSize(1);
    assertThat(part(both, 1).batches()).hasSize(1);
    assertThat(get(bench.fetchMany(fetch("g", shard, 1, 20), fetch("g", other, 2, 20))).parts())
        .as("nothing in time")
        .isEmpty();
  }

  @Test
  void oneOfManyFetchesIsRefusedAndNamed() throws Exception {
    beginWithTwoShardsOwned();
    var waiting = bench.fetchMany(fetch("g", shard, 0, 15_000), fetch("g", other, 0, 15_000));
    bench.grant("g", other, "b", 1);
    List<FetchManyAnswer.Part> parts = get(waiting).parts();
    assertThat(parts).extracting(FetchManyAnswer.Part::index).containsExactly(1);
    Refused.with(Refusal.FENCED, () -> Frames.answerBody(parts.get(0).frame()));
    FetchRequest[] tooMany = new FetchRequest[Limits.FETCHES_A_REQUEST_MAX + 1];
    Arrays.fill(tooMany, fetch("g", shard, 0, 15_000));
    refused(Refusal.INVALID, bench.fetchMany(tooMany));
  }

  @Test
  void aLaterFetchTakesTheShardOutOfThoseThatWaitTogether() throws Exception {
    beginWithTwoShardsOwned();
    var former = bench.fetchMany(fetch("g", shard, 0, 15_000), fetch("g", other, 0, 15_000));
    Future<FetchAnswer> alone = bench.fetch("g", shard, 1, 0, 15_000);
    get(bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(get(alone).batches()).hasSize(1);
    assertThat(former.isComplete()).isFalse();
    Future<FetchManyAnswer> again = bench.fetchMany(fetch("g", other, 0, 15_000));
    Wait.until(10, former::isComplete);
    assertThat(former.result().parts()).isEmpty();
    get(bench.append(other, batch(0, 0, 0, 1)));
    assertThat(part(get(again), 0).batches()).hasSize(1);
  }

  private FetchRequest atTheEnd(int failuresKnown, int waitMillis) {
    return new FetchRequest("g", shard, 2, 3, 1 << 20, 1 << 20, failuresKnown, waitMillis);
  }

  /** As members of a former version send it: bytes are its only bound, and it always waits. */
  @Test
  void aFetchInItsFormerFormIsAnswered() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(0, 0, 0, 4)));
    FetchRequest request = FetchRequest.browse(shard, 0, 1 << 20, 2, 0);
    ByteBuffer found = bench.control(Op.BROWSE, request.encodeFormer());
    assertThat(FetchAnswer.decode(found).batches()).hasSize(1);
    FetchRequest former = FetchRequest.decode(request.encodeFormer().view());
    assertThat(former.failuresKnown()).isEqualTo(FetchRequest.FAILURES_UNKNOWN);
    assertThat(former.messagesMax()).isEqualTo(Integer.MAX_VALUE);
    assertThat(FetchRequest.decode(request.encode().view())).isEqualTo(request);

    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> waiting =
        bench.fetch(
            new FetchRequest("g", shard, 1, 4, 1 << 20, 9, FetchRequest.FAILURES_UNKNOWN, 15_000));
    assertThat(waiting.isComplete()).isFalse();
    get(bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(get(waiting).batches()).hasSize(1);
  }

  @Test
  void anAnswerIsBoundByMessagesToo() throws Exception {
    begin(new Bench(3 * batch(0, 0, 0, 4).length(), new JsonObject(), 1, "n1"));
    times(6, i -> get(bench.append(shard, batch(0, 0, 0, 4))));
    bench.grant("g", shard, "a", 0);
    for (long from : new long[] {1, 13}) {
      String where = from == 1 ? "from the disk" : "from memory";
      assertThat(basesOf(from, 7)).as(where).containsExactly(from - 1, from + 3);
      assertThat(basesOf(from, 6)).as(where).containsExactly(from - 1);
      assertThat(basesOf(from, 1)).as("%s, at least one", where).containsExactly(from - 1);
    }
  }

  private List<Long> basesOf(long offset, int messagesMax) throws Exception {
    FetchRequest request = new FetchRequest("g", shard, 1, offset, 1 << 20, messagesMax, 0, 0);
    return get(bench.fetch(request)).batches().stream()
        .map(FetchAnswer.Placed::baseOffset)
        .toList();
  }

  @Test
  void whoNeedsNoLeaseWaitsLikeAnOwner() throws Exception {
    begin(Bench.one());
    Future<FetchAnswer> waiting = bench.browse(shard, 0, 15_000);
    bench.grant("g", shard, "a", 0);
    get(bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(get(waiting).batches()).hasSize(1);
    FetchAnswer nothing = get(bench.browse(shard, 1, 20));
    assertThat(nothing.batches()).isEmpty();
    assertThat(nothing.endOffset()).isEqualTo(1);
    Future<FetchAnswer> deposed = bench.browse(shard, 1, 15_000);
    bench.cluster.group("d" + bench.groupOf(shard)).lead("n2", true);
    refused(Refusal.NOT_LEADER, deposed);
  }

  @Test
  void fetchesOutsideOfTheShardAreTold() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(0, 0, 0, 4)));
    bench.grant("g", shard, "a", 0);
    RefusedException refused =
        refused(Refusal.OFFSET_OUT_OF_RANGE, bench.fetch("g", shard, 1, 5, 0));
    assertThat(refused.getMessage()).isEqualTo("0..4");
    refused(Refusal.UNKNOWN_SHARD, bench.fetch("g", new Shard(shard.topicId(), 9), 1, 0, 0));
    refused(Refusal.FENCED, bench.fetch("h", shard, 1, 0, 0));
    FetchRequest browse = FetchRequest.browse(shard, 0, 1, 1, 0);
    ByteBuffer found = bench.control(Op.BROWSE, browse.encode());
    assertThat(FetchAnswer.decode(found).batches()).hasSize(1);
  }

  @Test
  void aRepeatedBatchHasTheSameOffset() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(9, 0, 0, 2)));
    AppendResults first = get(bench.append(shard, batch(7, 0, 0, 3)));
    AppendResults again = get(bench.append(shard, batch(7, 0, 0, 3)));
    assertThat(again.results()).isEqualTo(first.results());
    assertThat(again.results().get(0).value()).isEqualTo(2);
  }

  @Test
  void waitingRequestsBecomeOneEntryAndGetTheirOwnShares() throws Exception {
    begin(new Bench(1 << 20, new JsonObject().put("entriesInFlightMax", 1), 1, "n1"));
    FakeCluster.Group log = bench.cluster.group("d0");
    log.hold();
    List<Future<AppendResults>> all = new ArrayList<>();
    all.add(bench.append(shard, batch(7, 0, 0, 1)));
    await().until(() -> log.held() == 1);
    int before = log.entries.size();
    for (int i = 1; i < 10; i++) {
      all.add(bench.append(shard, batch(7, 0, i, 1)));
    }
    all.add(bench.append(new Shard(shard.topicId(), 99), batch(0, 0, 0, 1)));
    // The answer to a later request shows that the earlier ones have been taken.
    bench.control(Op.READ_GROUPS, new Bytes());
    log.release();
    for (int i = 0; i < 10; i++) {
      assertThat(get(all.get(i)).results()).containsExactly(new AppendResults.Result(null, i));
    }
    assertThat(get(all.get(10)).results().get(0).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(log.entries).hasSize(before + 2);
  }

  @Test
  void tooMuchThatWaitsIsRefused() throws Exception {
    // A request counts more than its bytes, and two of them do not fit.
    int bytes = 900;
    begin(new Bench(1 << 20, new JsonObject().put("appendBytesWaitingMax", bytes), 1, "n1"));
    FakeCluster.Group log = bench.cluster.group("d0");
    log.hold();
    Future<AppendResults> first = bench.append(shard, batch(0, 0, 0, 1));
    await().until(() -> log.held() == 1);
    refused(Refusal.OVERLOADED, bench.append(shard, batch(0, 0, 0, 1)));
    log.release();
    get(first);
    get(bench.append(shard, batch(0, 0, 0, 1)));
  }

  @Test
  void malformedRequestsAreAnsweredAndChangeNothing() throws Exception {
    begin(Bench.one());
    // The verticle raises the feature level on its own, at any time after its start.
    awaitLevel();
    int entries = entries();
    Buffer good = Bench.appendRequest(shard, batch(0, 0, 0, 1));
    List<Buffer> bad = new ArrayList<>();
    times(good.length(), length -> bad.add(good.getBuffer(0, length)));
    for (int at : new int[] {0, 1, 10, 12, 30, good.length() - 1}) {
      bad.add(good.copy().setByte(at, (byte) (good.getByte(at) + 77)));
    }
    for (Buffer each : bad) {
      for (String address : List.of(Addresses.data("n1"), Addresses.control("n1"))) {
        assertThat(refusal(bench.send(address, each)).refusal())
            .as("%s to %s", each, address)
            .isIn(
                Refusal.INVALID,
                Refusal.WRONG_VERSION,
                Refusal.CORRUPT,
                Refusal.TOO_LARGE,
                Refusal.UNKNOWN_TOPIC);
      }
    }
    for (Op op : Op.values()) {
      for (int length : new int[] {1, 7, 300}) {
        Buffer request = Frames.request(op, new Bytes().raw(new byte[length]));
        for (String address : List.of(Addresses.data("n1"), Addresses.control("n1"))) {
          assertThat(refusal(bench.send(address, request))).as("%s %s", op, length).isNotNull();
        }
      }
    }
    for (Op op : CallsTest.withRows()) {
      Buffer request = Frames.request(op, new Bytes().raw(new byte[300]));
      assertThat(refusal(bench.send(Addresses.control("n1"), request)))
          .as("%s is answered", op)
          .hasMessageNotContaining("is not for the control address");
    }
    assertThat(
            get(bench.vertx.eventBus().<Buffer>request(Addresses.data("n1"), "text"))
                .body()
                .length())
        .isGreaterThan(2);
    assertThat(entries()).isEqualTo(entries);
  }

  private int entries() {
    return bench.cluster.group("d0").entries.size()
        + bench.cluster.group("d1").entries.size()
        + bench.cluster.group("meta").entries.size();
  }

  @Test
  void clientsMayNotSubmitWhatIsForBrokers() throws Exception {
    begin(Bench.one());
    Bytes retain = new Bytes().i32(0);
    CommandCodec.write(retain, new DataCommand.Retain());
    Bytes drop = new Bytes().i32(0);
    CommandCodec.write(drop, new DataCommand.DropShards(shard.topicId()));
    Bytes remove = new Bytes();
    CommandCodec.write(remove, new MetaCommand.RemoveTopic(shard.topicId(), 0));
    String control = Addresses.control("n1");
    refused(Refusal.INVALID, bench.send(control, Frames.request(Op.SUBMIT_DATA, retain)));
    refused(Refusal.INVALID, bench.send(control, Frames.request(Op.SUBMIT_DATA, drop)));
    refused(Refusal.INVALID, bench.send(control, Frames.request(Op.SUBMIT_META, remove)));
  }

  @Test
  void aFullDiskRefusesAppendsOnly() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(0, 0, 0, 2)));
    bench.grant("g", shard, "a", 0);
    BrokerNode node = bench.nodes.get("n1");
    bench.diskFree.set(999);
    node.checkDisk();
    RefusedException refused = refused(Refusal.DISK_FULL, bench.append(shard, batch(0, 0, 0, 1)));
    assertThat(refused.getMessage()).contains("999", "1000", "evenkeel-broker");
    assertThat(node.log().all()).noneMatch(group -> group.elections().eligibility().eligible());
    assertThat(get(bench.fetch("g", shard, 1, 0, 0)).batches()).hasSize(1);
    assertThat(bench.submit("n1", bench.groupOf(shard), Commands.commit("g", shard, 1, 2)))
        .isEqualTo(Reply.DONE);
    bench.diskFree.set(1000);
    node.checkDisk();
    assertThat(get(bench.append(shard, batch(0, 0, 0, 1))).results().get(0).value()).isEqualTo(2);
    bench.diskFree.set(1500);
    node.checkDisk();
    assertThat(node.log().all()).allMatch(group -> group.elections().eligibility().eligible());
  }

  @Test
  void readsFromDisk() throws Exception {
    begin(new Bench(0, new JsonObject(), 1, "n1"));
    for (int i = 0; i < 5; i++) {
      // Different bytes, so that one batch alone is damaged.
      get(bench.append(shard, batch(0, 0, i, 2)));
    }
    bench.grant("g", shard, "a", 0);
    assertThat(get(bench.fetch("g", shard, 1, 3, 0)).batches())
        .extracting(FetchAnswer.Placed::baseOffset)
        .containsExactly(2L, 4L, 6L, 8L);
  }

  @Test
  void aDamagedBatchIsNotTaken() throws Exception {
    begin(Bench.one());
    Batch good = batch(0, 0, 0, 1);
    byte[] bytes = good.bytes().array().clone();
    bytes[bytes.length - 1] ^= 1;
    refused(Refusal.CORRUPT, bench.append(shard, new Batch(ByteBuffer.wrap(bytes))));
    Bytes both = new Bytes();
    AppendBody.write(both, shard, good);
    AppendBody.write(both, other, good);
    assertThat(
            refusal(bench.send(Addresses.data("n1"), Frames.request(Op.APPEND, both))).getMessage())
        .contains("different log groups");
  }

  @Test
  void topicsAreCreatedConfiguredAndDeletedEverywhere() throws Exception {
    begin(Bench.one());
    List<Object> announced = new CopyOnWriteArrayList<>();
    bench.vertx.eventBus().consumer(Addresses.TOPIC_CHANGES, announced::add);
    ClusterView view = view();
    assertThat(view.metaLeader()).isEqualTo("n1");
    assertThat(view.dataLeaders()).containsExactly("n1", "n1");
    assertThat(view.topic("orders").state()).isEqualTo(TopicInfo.State.ACTIVE);
    assertThat(LocalObjects.get(bench.vertx, LogNode.class).nodeId()).isEqualTo("n1");

    Bytes create = new Bytes().text("orders").i32(3);
    RecordCodec.TOPIC_CONFIG.write(create, TopicConfig.DEFAULT);
    RefusedException exists =
        refused(
            Refusal.TOPIC_EXISTS,
            bench.send(Addresses.control("n1"), Frames.request(Op.CREATE_TOPIC, create)));
    assertThat(exists.getMessage()).isEqualTo("topic 'orders' exists with 2 shards");

    TopicConfig config = new TopicConfig(1, 2, 3);
    Bytes configure = new Bytes().text("orders");
    RecordCodec.TOPIC_CONFIG.write(configure, config);
    bench.control(Op.CONFIGURE_TOPIC, configure);
    bench
        .nodes
        .get("n1")
        .data()
        .forEach(
            data -> assertThat(data.tables().topic(shard.topicId()).config()).isEqualTo(config));

    assertThat(ReplyCodec.decode(bench.control(Op.DELETE_TOPIC, new Bytes().text("orders"))))
        .isEqualTo(Reply.DONE);
    assertThat(view().topics()).isEmpty();
    refused(Refusal.UNKNOWN_TOPIC, bench.append(shard, batch(0, 0, 0, 1)).map(each -> first(each)));
    assertThat(bench.create("orders", 1).id()).isEqualTo(shard.topicId() + 1);
    await().until(() -> !announced.isEmpty());
  }

  /** Handlers publish to any log group, wherever the shard of their input is. */
  @Test
  void aDeletedTopicTakesTheProducersOfItsHandlersFromEveryLogGroup() throws Exception {
    begin(new Bench(1 << 20, new JsonObject(), 2, "n1"));
    TopicInfo input = bench.create("input", 1);
    Shard of = new Shard(input.id(), 0);
    List<DataState> data = bench.nodes.get("n1").data();
    for (int group = 0; group < data.size(); group++) {
      Reply opened =
          bench.submit("n1", group, new DataCommand.OpenPublisher(7 + group, 1, "g", of, true));
      assertThat(opened).isEqualTo(Reply.DONE);
      assertThat(data.get(group).tables().publishers()).hasSize(1);
    }
    assertThat(ReplyCodec.decode(bench.control(Op.DELETE_TOPIC, new Bytes().text("input"))))
        .isEqualTo(Reply.DONE);
    data.forEach(each -> assertThat(each.tables().publishers()).isEmpty());
  }

  private static Object first(AppendResults results) {
    throw new RefusedException(results.results().get(0).refusal(), "");
  }

  private ClusterView view() throws Exception {
    Buffer answer =
        get(bench.vertx.eventBus().<Buffer>request(Addresses.VIEW, Buffer.buffer())).body();
    return ClusterView.fromJson(new JsonObject(answer));
  }

  @Test
  void reachesGroupsThatOthersLeadAndTakesUpWhatWasLeftUndone() throws Exception {
    beginWithTwoLeaders();
    TopicInfo topic = createSoonerOrLater("orders", 4);
    for (BrokerNode node : bench.nodes.values()) {
      assertThat(node.data().get(0).tables().shardsOf(topic.id())).hasSize(2);
      assertThat(node.data().get(1).tables().shardsOf(topic.id())).hasSize(2);
    }

    bench.cluster.group("d0").lead(null, false);
    Bytes create = new Bytes().text("late").i32(4);
    RecordCodec.TOPIC_CONFIG.write(create, TopicConfig.DEFAULT);
    RefusedException undone =
        refused(
            Refusal.INDETERMINATE,
            bench.send(Addresses.control("n1"), Frames.request(Op.CREATE_TOPIC, create)));
    assertThat(view().topic("late")).isNull();
    bench.cluster.group("d0").lead("n2", true);
    await().until(() -> view().topic("late") != null);

    bench.cluster.group("meta").lead("n2", true);
    RefusedException elsewhere =
        refused(
            Refusal.NOT_LEADER,
            bench.send(Addresses.control("n1"), Frames.request(Op.CREATE_TOPIC, create)));
    assertThat(elsewhere.getMessage()).isEqualTo("n2");
  }

  @Test
  void leadersOfDataGroupsDoWhatTheLeaderOfMetaCouldNot() throws Exception {
    beginWithTwoLeaders();
    int topic = createSoonerOrLater("orders", 4).id();
    bench.cluster.group("d1").lead(null, false);
    TopicConfig config = new TopicConfig(1, 2, 3);
    Bytes configure = new Bytes().text("orders");
    RecordCodec.TOPIC_CONFIG.write(configure, config);
    Buffer request = Frames.request(Op.CONFIGURE_TOPIC, configure);
    refused(Refusal.INDETERMINATE, bench.send(Addresses.control("n1"), request));
    bench.cluster.group("d1").lead("n2", true);
    DataState led = bench.nodes.get("n2").data().get(1);
    await().until(() -> led.tables().topic(topic).config().equals(config));

    bench.control(Op.RESHARD_TOPIC, new Bytes().text("orders").i32(6));
    await().until(() -> view().topic("orders").layouts().size() == 1);
    for (BrokerNode node : bench.nodes.values()) {
      for (DataState data : node.data()) {
        Wait.untilAsserted(
            () ->
                assertThat(data.tables().shardsOf(topic))
                    .hasSize(3)
                    .allMatch(shard -> shard.shard() >= 4));
      }
    }
  }

  /** On a busy machine it is not there in time, and taken up then. */
  private TopicInfo createSoonerOrLater(String name, int shards) throws Exception {
    try {
      bench.create(name, shards);
    } catch (RefusedException late) {
      assertThat(late.refusal()).isEqualTo(Refusal.INDETERMINATE);
    }
    await().until(() -> view().topic(name) != null);
    return view().topic(name);
  }

  @Test
  void readsForTheDispatcher() throws Exception {
    begin(Bench.one());
    get(bench.append(shard, batch(0, 0, 0, 4)));
    bench.grant("g", shard, "a", 0);
    bench.grant("h", shard, "a", 0);
    Bytes body = new Bytes().i32(bench.groupOf(shard)).text("g");
    var shards = ShardStatus.LIST.read(new ByteReader(bench.control(Op.READ_SHARDS, body)));
    assertThat(shards).hasSize(1);
    assertThat(shards.get(0).endOffset()).isEqualTo(4);
    assertThat(shards.get(0).leases()).extracting(Lease::group).containsExactly("g");

    Bytes find = new Bytes();
    RecordCodec.write(find, shard);
    RecordCodec.START.write(find, StartAt.LATEST);
    assertThat(bench.control(Op.FIND_OFFSET, find).getLong()).isEqualTo(4);

    Bytes declare = new Bytes();
    CommandCodec.write(
        declare,
        Commands.declareGroup(
            "g", GroupPolicy.SHARDED, List.of("orders"), StartAt.EARLIEST, false));
    bench.control(Op.SUBMIT_META, declare);
    ByteReader groups = new ByteReader(bench.control(Op.READ_GROUPS, new Bytes()));
    assertThat(groups.i32()).isEqualTo(1);
    assertThat(RecordCodec.GROUP.read(groups).topics()).containsExactly("orders");

    Bytes grant = new Bytes();
    CommandCodec.write(grant, new MetaCommand.GrantGroupLease("g", "dispatcher@n1", "i", 0, 0));
    bench.control(Op.SUBMIT_META, grant);
    ByteReader leases = new ByteReader(bench.control(Op.READ_GROUP_LEASES, new Bytes()));
    assertThat(leases.i32()).isEqualTo(1);
    assertThat(RecordCodec.GROUP_LEASE.read(leases))
        .isEqualTo(new GroupLease("g", 1, "dispatcher@n1", "i"));
  }

  @Test
  void retentionGoesThroughTheLog() throws Exception {
    begin(Bench.one());
    bench.nodes.get("n1").retain();
    FakeCluster.Group log = bench.cluster.group("d0");
    Wait.until(() -> log.entries.stream().anyMatch(e -> Entry.read(e.head()).body().get(0) == 10));
  }

  @Test
  void theFeatureLevelIsRaisedWhenEveryNodeReadsIt() throws Exception {
    begin(new Bench(1 << 20, new JsonObject(), 1, "n1", "n2"));
    MetaState second = bench.nodes.get("n2").meta();
    await().until(() -> second.tables().featureLevel() == FeatureLevel.NEWEST);
    for (BrokerNode node : bench.nodes.values()) {
      for (DataState state : node.data()) {
        await("entries have the outcomes of it")
            .until(() -> state.level() == FeatureLevel.NEWEST && state.digest() != null);
      }
    }
  }

  private static Batch compressed(Compression compression, long firstTimestamp) {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(compression));
    times(100, i -> builder.add(new Message(null, null, firstTimestamp + i, new byte[50])));
    return builder.build(0, 0, 0);
  }

  @Test
  void aCompressedBatchIsServedAsItCameAndATimeInItIsFound() throws Exception {
    begin(Bench.one());
    awaitLevel();
    Batch lz4 = compressed(Compression.LZ4, 1_000);
    Batch zstd = compressed(Compression.ZSTD, 2_000);
    AppendResults appended = get(bench.append(shard, lz4, zstd));
    assertThat(appended.results())
        .extracting(AppendResults.Result::value)
        .containsExactly(0L, 100L);
    for (long[] at :
        new long[][] {{1_000, 0}, {1_042, 42}, {1_100, 100}, {2_099, 199}, {9_999, 200}}) {
      StartAt start = StartAt.timestamp(at[0]);
      DataCommand grant = Commands.grant("g" + at[0], shard, "a", "a-1", 0, start);
      Reply reply = bench.submit("n1", bench.groupOf(shard), grant);
      assertThat(((Reply.OfLease) reply).lease().committed()).isEqualTo(at[1]);
      Bytes body = new Bytes();
      RecordCodec.write(body, shard);
      RecordCodec.START.write(body, start);
      assertThat(bench.control(Op.FIND_OFFSET, body).getLong()).isEqualTo(at[1]);
      DataCommand reset = new DataCommand.ResetLease("r" + at[0], shard, 0, start);
      reply = bench.submit("n1", bench.groupOf(shard), reset);
      assertThat(((Reply.OfLease) reply).lease().committed()).isEqualTo(at[1]);
    }
    FetchAnswer answer = get(bench.fetch("g1000", shard, 1, 0, 0));
    assertThat(answer.batches())
        .extracting(placed -> placed.batch().bytes())
        .containsExactly(lz4.bytes(), zstd.bytes());
  }

  @Test
  void aCompressedBatchThatStatesTooMuchDoesNotGetIntoTheLog() throws Exception {
    begin(Bench.one());
    awaitLevel();
    Batch bomb = compressed(Compression.ZSTD, 0);
    bomb.bytes().putInt(Batch.HEADER_BYTES, 1 << 30);
    bomb.stamped(0, 0, 0);
    RefusedException refused = refused(Refusal.INVALID, bench.append(shard, bomb));
    assertThat(refused).hasMessageContaining("its 100 messages would have 1073741824 bytes");
  }

  private Future<Reply> submitting(DataCommand command) {
    Bytes body = new Bytes().i32(0);
    CommandCodec.write(body, command);
    Buffer request = Frames.request(Op.SUBMIT_DATA, body);
    return bench.send(Addresses.control("n1"), request).map(ReplyCodec::decode);
  }

  private CommitMany.Position position(String group, long epoch, long offset) {
    return new CommitMany.Position(group, shard, epoch, offset, -1);
  }

  /** Two entries are held up, and then what has come meanwhile is one. */
  @Test
  void commitsThatWaitBecomeOneEntryAndGetTheirOwnShares() throws Exception {
    beginAtTheNewestLevel();
    get(bench.append(shard, batch(7, 0, 0, 9)));
    each(List.of("g", "h", "i"), group -> bench.grant(group, shard, "a", 0));
    FakeCluster.Group log = bench.cluster.group("d0");
    log.hold();
    int before = log.entries.size();
    Future<Reply> first = submitting(Commands.commit("g", shard, 1, 1));
    Future<Reply> second = submitting(Commands.commit("g", shard, 1, 2));
    Future<Reply> fenced = submitting(Commands.commit("h", shard, 5, 3));
    var many = submitting(new CommitMany(List.of(position("g", 1, 4), position("i", 1, 99))));
    Future<Reply> ofTheSameLease =
        submitting(new CommitMany(List.of(position("i", 1, 6), position("h", 1, 7))));
    await().until(() -> log.held() == 2);
    // The answer to a later request shows that the earlier ones have been taken.
    bench.control(Op.READ_GROUPS, new Bytes());
    log.release();
    assertThat(get(first)).isEqualTo(Reply.DONE);
    assertThat(get(second)).isEqualTo(Reply.DONE);
    assertThat(((Reply.Refused) get(fenced)).refusal()).isEqualTo(Refusal.FENCED);
    List<RefusedCommit> refused = ((Reply.OfCommits) get(many)).refused();
    assertThat(refused).extracting(RefusedCommit::index).containsExactly(1);
    assertThat(refused.get(0).refusal()).isEqualTo(Refusal.INVALID);
    assertThat(((Reply.OfCommits) get(ofTheSameLease)).refused()).isEmpty();
    DataState state = bench.nodes.get("n1").data().get(0);
    for (Object[] each : new Object[][] {{"g", 4L}, {"h", 7L}, {"i", 6L}}) {
      assertThat(state.tables().lease((String) each[0], shard).committed()).isEqualTo(each[1]);
    }
    assertThat(log.entries).hasSize(before + 4);
  }

  private DataCommand.TakeSteps steps() {
    Drain drain = new Drain("c", 99, new Drain.Heir("c-1", 5_000));
    return new DataCommand.TakeSteps(
        List.of(
            Commands.grant("g", shard, "b", "b-1", 1, StartAt.EARLIEST),
            new DataCommand.SetDrain("h", shard, 1, drain),
            Commands.grant("i", shard, "b", "b-1", 7, StartAt.EARLIEST),
            Commands.grant("j", shard, "b", "b-1", 0, StartAt.timestamp(1_042))));
  }

  @Test
  void stepsOfManyShardsAreOneEntry() throws Exception {
    beginAtTheNewestLevel();
    Drain drain = new Drain("c", 99, new Drain.Heir("c-1", 5_000));
    get(bench.append(shard, compressed(Compression.LZ4, 1_000)));
    bench.grant("g", shard, "a", 0);
    bench.grant("h", shard, "a", 0);
    int before = bench.cluster.group("d0").entries.size();
    List<Reply> replies = ((Reply.OfSteps) get(submitting(steps()))).replies();
    assertThat(((Reply.OfLease) replies.get(0)).lease().ownedAt(2)).isTrue();
    assertThat(((Reply.OfLease) replies.get(1)).lease().drain()).isEqualTo(drain);
    assertThat(((Reply.Refused) replies.get(2)).refusal()).isEqualTo(Refusal.FENCED);
    assertThat(((Reply.OfLease) replies.get(3)).lease().committed()).isEqualTo(42);
    assertThat(bench.cluster.group("d0").entries).hasSize(before + 1);
  }

  @Test
  void aReleaseGrantsTheShardToTheNextOwnerAndSaysSo() throws Exception {
    beginAtTheNewestLevel();
    List<LeaseChange> changes = leaseChanges();
    bench.grant("g", shard, "a", 0);
    handOver();
    bench.submit("n1", 0, new DataCommand.Release("g", shard, 1, 0, -1, null));
    Lease lease = bench.nodes.get("n1").data().get(0).tables().lease("g", shard);
    assertThat(lease.ownedAt(2)).isTrue();
    await().until(() -> changes.size() == 3);
    assertThat(changes.get(2).owner()).isEqualTo("b");
    assertThat(changes.get(2).instance()).isEqualTo("b-1");
    assertThat(changes.get(2).epoch()).isEqualTo(2);
  }

  @Test
  void activeTimeIsAddedUp() throws Exception {
    begin(Bench.one());
    MetaState meta = bench.nodes.get("n1").meta();
    await().until(() -> meta.tables().featureLevel() == FeatureLevel.NEWEST);
    Bytes add = new Bytes();
    CommandCodec.write(add, new MetaCommand.AddActiveTime(7));
    assertThat(ReplyCodec.decode(bench.control(Op.SUBMIT_META, add)))
        .isEqualTo(new Reply.OfNumber(7));
  }

  /** So that its entry does not come in between. */
  private void awaitLevel() {
    Wait.until(
        () ->
            bench.nodes.get("n1").data().stream()
                .allMatch(state -> state.level() == FeatureLevel.NEWEST));
  }

  @Test
  void aCommandThatMakesNoSenseDoesNotGetIntoTheLog() throws Exception {
    begin(Bench.one());
    Shard shard = new Shard(bench.create("t", 1).id(), 0);
    awaitLevel();
    FakeCluster.Group log = bench.cluster.group("d" + bench.groupOf(shard));
    int before = log.entries.size();
    for (DataCommand command :
        List.of(
            new DataCommand.ReplayDeadLetters(null, shard, List.of(1L)),
            new DataCommand.DropDeadLetters(null, shard, List.of(1L)),
            Commands.forgetLeases(null))) {
      Refused.with(Refusal.INVALID, () -> bench.submit("n1", bench.groupOf(shard), command));
    }
    assertThat(log.entries).hasSize(before);
  }

  @Test
  void aBatchThatIsMalformedInsideDoesNotGetIntoTheLog() throws Exception {
    begin(Bench.one());
    Shard shard = new Shard(bench.create("t", 1).id(), 0);
    awaitLevel();
    FakeCluster.Group log = bench.cluster.group("d" + bench.groupOf(shard));
    int before = log.entries.size();
    Batch batch = batch(0, 0, 0, 3);
    batch.bytes().putInt(32, 7);
    batch.stamped(0, 0, 0);
    RefusedException refused = refused(Refusal.INVALID, bench.append(shard, batch));
    assertThat(refused).hasMessage("malformed batch: message 4 of 7 ends early");
    assertThat(log.entries).hasSize(before);
  }
}
