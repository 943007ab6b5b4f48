package dev.evenkeel.broker;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.state.LookBounds;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What one user lets the broker look at, or lets wait there, does not hold up another one. */
class LooksTest {
  private static final int BOMBS = 30;

  @Closing private Bench bench;
  private Shard shard;

  private void begin(Bench made) throws Exception {
    bench = made;
    shard = new Shard(bench.create("orders", 2).id(), 0);
  }

  private static Batch batch(String key) {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(Message.of(key, 1, new byte[10]));
    return builder.build(0, 0, 0);
  }

  private Future<FetchAnswer> browse(
      String user, String connection, Shard of, long offset, int wait, String... filter) {
    FetchRequest request =
        FetchRequest.browse(of, offset, 1 << 20, 1 << 20, wait).with(MessageFilter.of(filter));
    return bench
        .send(Addresses.data("n1"), Frames.request(Op.BROWSE, request.encode()), user, connection)
        .map(answer -> FetchAnswer.decode(answer, true));
  }

  private long held(String user) {
    return Shares.of(bench.vertx).all().get(Scarce.FETCH_BYTES).of(user).held();
  }

  /** Of batches in memory, and of those on the disk. */
  @Test
  void looksIntoMillionsOfMessagesOfAUserTakeTurnsWithThoseOfAnother() throws Exception {
    for (long tailBytes : new long[] {1 << 20, 0}) {
      begin(new Bench(tailBytes, new JsonObject(), 2, "n1"));
      Batch bomb = Bombs.ofMessages(0, 0);
      assertThat(bomb.length()).isLessThan(100);
      get(bench.append(shard, Collections.nCopies(BOMBS, bomb).toArray(Batch[]::new)));
      get(bench.append(shard, batch("last")));
      Shard other = new Shard(shard.topicId(), 1);
      get(bench.append(other, batch("a"), batch("b")));
      long last = (long) BOMBS * Limits.BATCH_MESSAGES_MAX;
      List<Future<FetchAnswer>> attack = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        attack.add(browse("mallory", "m" + i % 7, shard, 0, 15_000, "key=last", "key=" + i));
      }
      FetchAnswer found = get(browse("alice", "a", other, 0, 15_000, "key=b"));
      assertThat(found.batches().get(0).baseOffset()).isEqualTo(1);
      assertThat(attack.stream().filter(Future::isComplete)).isEmpty();
      for (Future<FetchAnswer> each : attack) {
        assertThat(get(each).batches())
            .as("it goes on where a look ended")
            .singleElement()
            .satisfies(placed -> assertThat(placed.baseOffset()).isEqualTo(last));
      }
      bench.close();
    }
    bench = Bench.one();
  }

  @Test
  void aLookThatDoesNotWaitSaysHowFarItCame() throws Exception {
    begin(Bench.one());
    Batch bomb = Bombs.ofBytes();
    get(bench.append(shard, Collections.nCopies(60, bomb).toArray(Batch[]::new)));
    long offset = 0;
    int looks = 0;
    while (offset < 60) {
      FetchAnswer answer = get(browse(null, "c", shard, offset, 0, "key=a"));
      assertThat(answer.batches()).isEmpty();
      assertThat(answer.next()).isGreaterThan(offset);
      offset = answer.next();
      looks++;
    }
    // Some looks are quick enough to be followed by another one.
    assertThat(looks).isGreaterThan(1);
    assertThat(LookBounds.UNPACKED_BYTES).isLessThan(3 * bomb.unpackedLength());
  }

  /** What a look copies is bounded: those for whom it would be too much look for themselves. */
  @Test
  void oneMessageThatThousandsWantReachesThemAll() throws Exception {
    begin(Bench.one());
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(Message.of("a", 1, new byte[10_000]));
    int fetches = 1_000;
    List<Future<FetchAnswer>> waiting = new ArrayList<>();
    times(
        fetches,
        i -> waiting.add(browse("u" + i % 3, "c" + i, shard, 0, 15_000, "key=a", "key=" + i % 10)));
    get(bench.append(shard, batch("b"), builder.build(0, 0, 0), batch("a")));
    for (Future<FetchAnswer> each : waiting) {
      assertThat(get(each).batches().stream().map(FetchAnswer.Placed::baseOffset))
          .startsWith(1L)
          .doesNotHaveDuplicates();
    }
    Wait.until("nobody holds anything", () -> held("u0") + held("u1") + held("u2") == 0);
  }

  /** A look for many filters that takes many steps ends within a batch, and goes on there. */
  @Test
  void aLookThatTakesManyStepsGoesOn() throws Exception {
    begin(Bench.one());
    String key = "a".repeat(40);
    String[] prefixes = new String[40];
    for (int i = 0; i < prefixes.length; i++) {
      prefixes[i] = "key^=" + "a".repeat(i) + "b";
    }
    Future<FetchAnswer> slow = browse("mallory", "m", shard, 0, 15_000, prefixes);
    BatchBuilder builder = new BatchBuilder(1 << 20);
    int messages = 20_000;
    times(messages, i -> builder.add(Message.of(key, 1, new byte[0])));
    builder.add(Message.of("last", 1, new byte[0]));
    builder.add(Message.of("ab", 1, new byte[0]));
    Future<FetchAnswer> other = browse("alice", "a", shard, 0, 15_000, "key=last");
    get(bench.append(shard, builder.build(0, 0, 0)));
    assertThat(get(other).batches())
        .singleElement()
        .satisfies(placed -> assertThat(placed.baseOffset()).isEqualTo(messages));
    assertThat(get(slow).batches())
        .singleElement()
        .satisfies(placed -> assertThat(placed.baseOffset()).isEqualTo(messages + 1));
  }

  @Test
  void theFetchesOfAConnectionThatEndsAreGoneAtOnce() throws Exception {
    begin(Bench.one());
    List<Future<FetchAnswer>> gone = new ArrayList<>();
    times(20, i -> gone.add(browse("mallory", "m1", shard, 0, 15_000, "key=" + i)));
    times(5, i -> gone.add(browse("mallory", "m1", shard, 0, 15_000)));
    final Future<FetchAnswer> stays = browse("mallory", "m2", shard, 0, 15_000);
    Wait.until("all wait", () -> held("mallory") > 26 * 1_024);
    bench.vertx.eventBus().publish(Addresses.CONNECTIONS_ENDED, Buffer.buffer("m1"));
    for (Future<FetchAnswer> each : gone) {
      refused(Refusal.UNAVAILABLE, each);
    }
    assertThat(held("mallory")).isEqualTo(1_024);
    get(bench.append(shard, batch("a")));
    assertThat(get(stays).batches()).hasSize(1);
    assertThat(held("mallory")).isZero();
  }

  @Test
  void whoLetsFetchesWaitLeavesRoomForAnother() throws Exception {
    begin(new Bench(1 << 20, new JsonObject().put("fetchesWaitingBytesMax", 400 << 10), 2, "n1"));
    List<Future<FetchAnswer>> waiting = new ArrayList<>();
    String[] conditions = new String[500];
    for (int i = 0; i < 100; i++) {
      for (int c = 0; c < conditions.length; c++) {
        conditions[c] = "key=" + i + "-" + c;
      }
      waiting.add(browse("mallory", "m", shard, 0, 15_000, conditions));
    }
    assertThat(refused(Refusal.OVERLOADED, waiting.get(99)))
        .hasMessageContaining("the user 'mallory' has")
        .hasMessageContaining("bytes for fetches that wait");
    long refused = waiting.stream().filter(Future::isComplete).count();
    assertThat(refused).as("a few fit").isBetween(95L, 99L);
    Future<FetchAnswer> other = browse("alice", "a", shard, 0, 15_000, "key=a");
    get(bench.append(shard, batch("a")));
    assertThat(get(other).batches()).hasSize(1);
  }

  @Test
  void aRequestThatIsBeingCheckedHoldsUpItsOwnProducerOnly() throws Exception {
    begin(Bench.one());
    CountDownLatch workersAreBusy = new CountDownLatch(1);
    times(
        20,
        i ->
            bench.vertx.executeBlocking(
                () -> {
                  workersAreBusy.await();
                  return null;
                },
                false));
    Batch large = Bombs.ofMessages(0, 0);
    Future<?> first =
        bench
            .send(Addresses.data("n1"), Bench.appendRequest(shard, large, large), "mallory", "m1")
            .map(AppendResults::decode);
    Future<?> behind =
        bench.send(Addresses.data("n1"), Bench.appendRequest(shard, batch("a")), "mallory", "m1");
    Future<AppendResults> other =
        bench
            .send(Addresses.data("n1"), Bench.appendRequest(shard, batch("b")), "alice", "a1")
            .map(AppendResults::decode);
    assertThat(get(other).results().get(0).value()).isZero();
    assertThat(first.isComplete()).isFalse();
    assertThat(behind.isComplete()).as("of the same sender").isFalse();
    workersAreBusy.countDown();
    get(first);
    get(behind);
    List<Long> bases =
        get(bench.browse(shard, 0, 0)).batches().stream()
            .map(FetchAnswer.Placed::baseOffset)
            .toList();
    assertThat(bases).containsExactly(0L, 1L, 65_536L, 131_071L);
  }
}
