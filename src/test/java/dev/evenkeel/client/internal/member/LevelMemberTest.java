package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Whole consumers in mode level on a plain Vert.x, with a dealer that is faked. */
class LevelMemberTest extends MemberBench {
  private static final int RANGE = 10;

  private final FakeDealer dealer = new FakeDealer(cluster, "n1");

  LevelMemberTest() {
    super(1);
  }

  @Override
  ConsumerOptions options() {
    return super.options()
        .setMode(ConsumerOptions.Mode.LEVEL)
        .setRange(RANGE)
        .setParallel(4)
        .setMemberTimeoutMillis(60_000);
  }

  @Override
  Future<Consumer> starting(ConsumerOptions options, ConsumerHandler handler) {
    return new ConsumerShell(cluster, directory, options, handler, "run", "host", null, id -> null)
        .start();
  }

  /** A handler whose messages end when the test says so. */
  private static final class Held implements ConsumerHandler {
    final List<Delivery> seen = new CopyOnWriteArrayList<>();
    final List<Promise<Void>> running = new CopyOnWriteArrayList<>();
    final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public Future<Void> handle(Delivery delivery) {
      Promise<Void> promise = Promise.promise();
      running.add(promise);
      seen.add(delivery);
      return promise.future();
    }

    @Override
    public void onDraining(ShardContext shard) {
      events.add("draining " + shard.shard());
    }

    @Override
    public void onLost(ShardContext shard) {
      events.add("lost " + shard.shard() + "@" + shard.epoch());
    }
  }

  @Test
  void handlesWhatIsDealtAndTellsTheDealer() {
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    Consumer consumer =
        start(
            delivery -> {
              seen.add(delivery);
              return delivery.offset() == 12
                  ? Future.failedFuture("not 12")
                  : Future.succeededFuture();
            });
    assertThat(cluster.heartbeats().get(0).mode()).isEqualTo("level");
    SessionState place = await(dealer.collect(1, 1, true));
    assertThat(place.capacity()).isEqualTo(RANGE);
    assertThat(await(dealer.deal(1, 1, 0, 10, 5))).isEqualTo(5);
    Awaitility.await().until(() -> dealer.last() != null && dealer.last().endedBelow() == 5);
    assertThat(seen.stream().map(Delivery::offset)).containsExactly(10L, 11L, 12L, 13L, 14L);
    assertThat(seen.get(0).topic()).isEqualTo("t");
    assertThat(seen.get(0).epoch()).isEqualTo(3);
    assertThat(seen.get(0).member()).isEqualTo("m");
    assertThat(dealer.reports().stream().flatMap(each -> each.failed().stream()))
        .singleElement()
        .satisfies(
            failed -> {
              assertThat(failed.sequence()).isEqualTo(2);
              assertThat(failed.error()).contains("not 12");
            });
    Awaitility.await().until(() -> consumer.consumed() == 4);
    assertThat(consumer.ownedShards()).isZero();
    SessionState again = await(dealer.collect(2, 1, true));
    assertThat(again.finished()).isEqualTo(4);
    assertThat(again.checkpoint()).containsExactly(5);
    assertThat(again.ended()).hasSize(4).contains(new MessageId(new Shard(1, 0), 14, 0));
    await(consumer.close());
    Heartbeat last = cluster.heartbeats().get(cluster.heartbeats().size() - 1);
    assertThat(last.leaving()).isTrue();
    assertThat(last.consumed()).isEqualTo(4);
    assertThat(failure(dealer.collect(2, 2, true))).hasMessageContaining("nobody");
  }

  @Test
  void closingAwaitsWhatRunsAndItsConfirmation() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    await(dealer.collect(1, 1, true));
    await(dealer.deal(1, 1, 0, 0, 7));
    Awaitility.await().until(() -> handler.seen.size() == 4);
    dealer.refuse(Refusal.UNAVAILABLE);
    Future<Void> closed = consumer.close();
    Wait.until(
        () -> cluster.heartbeats().stream().anyMatch(each -> each.closing() && !each.leaving()));
    handler.running.forEach(Promise::complete);
    Awaitility.await().until(() -> consumer.consumed() == 4);
    assertThat(cluster.heartbeats()).noneMatch(Heartbeat::leaving);
    assertThat(closed.isComplete()).isFalse();
    dealer.refuse(null);
    await(closed);
    assertThat(handler.seen).hasSize(4);
    assertThat(handler.events).containsExactly("draining 0");
    assertThat(dealer.last().endedBelow()).isEqualTo(4);
    assertThat(dealer.last().received()).isEqualTo(7);
    assertThat(cluster.heartbeats()).last().matches(Heartbeat::leaving);
  }

  @Test
  void whoIsSetAsideHearsThatItsShardsAreLost() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    await(dealer.collect(1, 1, true));
    await(dealer.deal(1, 1, 0, 0, 6));
    Awaitility.await().until(() -> handler.seen.size() == 4);
    SessionState place = await(dealer.collect(1, 2, false));
    assertThat(place.held()).isEmpty();
    assertThat(place.checkpoint()).isNull();
    Awaitility.await().until(() -> handler.events.equals(List.of("lost 0@3")));
    await(dealer.deal(1, 2, 0, 20, 2));
    handler.running.get(0).complete();
    Awaitility.await().until(() -> handler.seen.size() == 5);
    assertThat(handler.seen.get(4).offset()).isEqualTo(20);
    handler.running.forEach(Promise::tryComplete);
    Awaitility.await().until(() -> handler.seen.size() == 6);
    handler.running.forEach(Promise::tryComplete);
    Awaitility.await().until(() -> dealer.last() != null && dealer.last().endedBelow() == 2);
    assertThat(consumer.consumed()).isEqualTo(6);
    await(consumer.close());
  }

  @Test
  void anotherDealerTakesOver() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    await(dealer.collect(1, 1, true));
    await(dealer.deal(1, 1, 0, 0, 6));
    Awaitility.await().until(() -> handler.seen.size() == 4);
    dealer.refuse(Refusal.NOT_LEADER);
    handler.running.get(1).complete();
    FakeDealer next = new FakeDealer(cluster, "n2");
    SessionState place = await(next.collect(2, 1, true));
    assertThat(place.finished()).isEqualTo(1);
    assertThat(place.held().stream().map(MessageId::offset)).containsExactly(0L, 2L, 3L, 4L, 5L);
    Wait.until(
        () -> {
          handler.running.forEach(Promise::tryComplete);
          return next.last() != null && next.last().endedBelow() == 5;
        });
    Refused.is(Refusal.FENCED, failure(dealer.deal(1, 1, 6, 6, 1)));
    assertThat(handler.seen).hasSize(6);
    await(consumer.close());
  }

  @Test
  void whatIsMalformedIsRefusedAndChangesNothing() {
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    Consumer consumer =
        start(
            delivery -> {
              seen.add(delivery);
              return Future.succeededFuture();
            });
    invalid(Buffer.buffer());
    invalid(Frames.request(Op.LEVEL_START, new Bytes(4).i32(7)));
    invalid(Frames.request(Op.LEVEL_HAND_OUT, new Bytes(4).i32(7)));
    invalid(Frames.request(Op.FETCH, new Bytes(1)));
    await(dealer.collect(1, 1, true));
    Bytes endless = new Bytes(64).i64(1).i64(1).i64(0).blob(null).i32(Integer.MAX_VALUE);
    invalid(Frames.request(Op.LEVEL_HAND_OUT, endless));
    await(dealer.deal(1, 1, 0, 0, 1));
    Awaitility.await().until(() -> seen.size() == 1);
    await(consumer.close());
  }

  private void invalid(Buffer request) {
    Buffer answer = await(dealer.ask(request));
    Refused.with(Refusal.INVALID, () -> Frames.answerBody(answer));
  }

  @Test
  void withoutConnectionOrWhilePausedNothingIsBegun() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    await(dealer.collect(1, 1, true));
    consumer.pause();
    assertThat(await(dealer.deal(1, 1, 0, 0, 2))).isEqualTo(2);
    Awaitility.await().until(() -> dealer.last() != null && dealer.last().received() == 2);
    assertThat(dealer.last().capacity()).isEqualTo(1);
    assertThat(handler.seen).isEmpty();
    consumer.resume();
    Awaitility.await().until(() -> handler.seen.size() == 2);
    cluster.become(Link.State.LOST);
    handler.running.forEach(Promise::complete);
    Awaitility.await().until(() -> consumer.consumed() == 2);
    assertThat(dealer.last().endedBelow()).isZero();
    cluster.become(Link.State.CONNECTED);
    Awaitility.await().until(() -> dealer.last().endedBelow() == 2);
    await(consumer.close());
  }

  @Test
  void aStreamIsDealtToAsFarAsItIsAskedFor() {
    List<Long> seen = new CopyOnWriteArrayList<>();
    ConsumerStream stream =
        await(
            HandlerStream.start(
                handler -> starting(options(), handler), ConsumerStream.Finishing.AUTOMATIC, null));
    stream.pause();
    stream.handler(delivery -> seen.add(delivery.offset()));
    await(dealer.collect(1, 1, true));
    await(dealer.deal(1, 1, 0, 0, 9));
    stream.fetch(3);
    Awaitility.await().until(() -> seen.size() == 3);
    Awaitility.await().until(() -> dealer.last() != null && dealer.last().endedBelow() == 3);
    // Four more have been handed out to the stream; closing gives them back.
    await(stream.close());
    assertThat(seen).containsExactly(0L, 1L, 2L);
    assertThat(dealer.last().endedBelow()).isEqualTo(3);
    assertThat(dealer.last().endedAbove()).isEmpty();
    assertThat(dealer.last().failed()).isEmpty();
  }

  @Test
  void aStreamThatIsFinishedByHandStartsAnewWhenItWasSetAside() {
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    ConsumerStream stream =
        await(
            HandlerStream.start(
                handler -> starting(options(), handler), ConsumerStream.Finishing.MANUAL, null));
    stream.handler(seen::add);
    await(dealer.collect(1, 1, true));
    await(dealer.deal(1, 1, 0, 0, 9));
    Awaitility.await().until(() -> seen.size() == 4);
    stream.finish(seen.get(2));
    Awaitility.await().until(() -> seen.size() == 5);
    Awaitility.await().until(() -> dealer.last() != null && dealer.last().endedAbove().length == 1);
    await(dealer.collect(1, 2, false));
    await(dealer.deal(1, 2, 0, 0, 3));
    Awaitility.await().until(() -> seen.size() == 8);
    seen.forEach(stream::finish);
    Awaitility.await().until(() -> dealer.last().endedBelow() == 3);
    await(stream.close());
    assertThat(seen).hasSize(8);
  }
}
