package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Whole consumers on a plain Vert.x, with a cluster that is faked behind their link. */
class ConsumersTest extends MemberBench {
  ConsumersTest() {
    super(4);
  }

  @Test
  void pullsCommitsAndReleasesOnClose() {
    Consumer consumer =
        start(
            delivery -> {
              assertThat(delivery.member()).isEqualTo("m");
              assertThat(delivery.epoch()).isEqualTo(1);
              seen.add(number(delivery));
              return Future.succeededFuture();
            });
    AtomicInteger owned = new AtomicInteger();
    consumer.onAssignment(owned::set);
    grant(0, 0, 100);
    Awaitility.await().until(() -> seen.size() == 100);
    cluster.append(0, messages(100, 50));
    Awaitility.await().until(() -> seen.size() == 150);
    for (int i = 0; i < 150; i++) {
      assertThat(seen.get(i)).isEqualTo(i);
    }
    Awaitility.await().until(() -> cluster.lease(0).committed() == 150);
    assertThat(consumer.consumed()).isEqualTo(150);
    assertThat(consumer.ownedShards()).isEqualTo(1);
    assertThat(owned).hasValue(1);
    await(consumer.close());
    assertThat(cluster.lease(0).owned()).isFalse();
    assertThat(cluster.lease(0).committed()).isEqualTo(150);
    var last = cluster.heartbeats().get(cluster.heartbeats().size() - 1);
    assertThat(last.leaving()).isTrue();
    assertThat(last.consumed()).isEqualTo(150);
    assertThat(consumer.ownedShards()).isZero();
  }

  @Test
  void subscribesToATopicThatWasCreatedAMomentAgo() {
    Consumer consumer = start(new Held());
    await(directory.view());
    cluster.createTopic(2, "new");
    cluster.followerAnswersNext();
    Future<Void> subscribed = consumer.subscribe("new");
    Wait.until(
        () ->
            subscribed.failed()
                || cluster.heartbeats().stream().anyMatch(each -> each.topics().contains("new")));
    assertThat(subscribed.failed()).as("" + subscribed.cause()).isFalse();
    await(consumer.close());
  }

  @Test
  void readsFromNodesOfAFormerVersion() {
    cluster.formerVersion();
    await(readsTen().close());
  }

  @Test
  void worksAlthoughTheClusterDoesNotGetToKnowWhereItListens() {
    cluster.registerNobody();
    await(readsTen().close());
  }

  /** A handler with state, whose messages end when the test says so. */
  private static final class Held implements ConsumerHandler {
    final List<Promise<Void>> running = new CopyOnWriteArrayList<>();
    final List<Delivery> seen = new CopyOnWriteArrayList<>();
    final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public Future<Void> handle(Delivery delivery) {
      Promise<Void> promise = Promise.promise();
      // Whoever has seen it may end it.
      running.add(promise);
      seen.add(delivery);
      return promise.future();
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      events.add("assign " + shard.offset() + " " + state);
      return Future.succeededFuture();
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      events.add("release " + shard.offset());
      return Future.succeededFuture(Buffer.buffer("state at " + shard.offset()));
    }

    @Override
    public void onLost(ShardContext shard) {
      events.add("lost");
    }
  }

  @Test
  void aHandOverAwaitsWhatRunsAndCarriesTheState() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    cluster.append(2, messages(0, 40));
    cluster.grant(2, "former".getBytes(StandardCharsets.UTF_8), 7);
    Awaitility.await().until(() -> handler.seen.size() == 1);
    assertThat(handler.seen.get(0).offset()).isEqualTo(7);
    cluster.drain(2);
    cluster.loseAnswers(1);
    handler.running.get(0).complete();
    Awaitility.await().until(() -> !cluster.lease(2).owned());
    Awaitility.await().until(() -> consumer.ownedShards() == 0);
    assertThat(handler.events).containsExactly("assign 7 former", "release 8");
    assertThat(handler.seen).hasSize(1);
    assertThat(cluster.lease(2).stateOffset()).isEqualTo(8);
    assertThat(new String(cluster.lease(2).state(), StandardCharsets.UTF_8))
        .isEqualTo("state at 8");
    await(consumer.close());
  }

  @Test
  void tellsTheHandlerHowFarItHasCommitted() {
    List<Long> told = new CopyOnWriteArrayList<>();
    ConsumerHandler handler =
        new ConsumerHandler() {
          @Override
          public Future<Void> handle(Delivery delivery) {
            return Future.succeededFuture();
          }

          @Override
          public void onCommitted(String topic, int shard, long offset) {
            boolean right =
                topic.equals("t") && shard == 1 && cluster.lease(shard).committed() >= offset;
            told.add(right ? offset : -1);
            throw new IllegalStateException("a handler's own trouble");
          }
        };
    ConsumerOptions options = options().setCommitMillis(60_000).setCommitMessages(10);
    Consumer consumer = start(options, handler);
    grant(1, 0, 10);
    // If it was held up meanwhile, it has committed some of them before.
    Awaitility.await().until(() -> told.contains(10L));
    cluster.append(1, messages(10, 3));
    Awaitility.await().until(() -> consumer.consumed() == 13);
    await(consumer.close());
    assertThat(told).isSorted().doesNotContain(-1L).endsWith(13L);
  }

  @Test
  void handsOutNoMoreOfAShardThanItsOptionsSay() {
    Held handler = new Held();
    ConsumerOptions options =
        options().setOrder(ConsumerOptions.Order.NONE).setParallel(8).setHandOutMessages(2);
    Consumer consumer = start(options, handler);
    grant(0, 0, 10);
    Awaitility.await().until(() -> handler.seen.size() == 2);
    handler.running.get(0).complete();
    Awaitility.await().until(() -> handler.seen.size() == 3);
    handler.running.get(1).complete();
    handler.running.get(2).complete();
    Awaitility.await().until(() -> handler.seen.size() == 5);
    Awaitility.await().until(() -> consumer.consumed() == 3);
    assertThat(handler.seen).hasSize(5);
    Future<Void> closed = consumer.close();
    Wait.until(
        () -> {
          handler.running.forEach(Promise::tryComplete);
          return closed.isComplete();
        });
    for (int wrong : List.of(0, ConsumerOptions.HAND_OUT_MESSAGES_MAX + 1)) {
      assertThat(failure(starting(options().setHandOutMessages(wrong), handler)))
          .hasMessageContaining("handOutMessages is " + wrong);
    }
  }

  @Test
  void overAClosedConnectionNothingIsStarted() {
    cluster.become(Link.State.CLOSED);
    Future<Consumer> started = starting(options(), new Held());
    Awaitility.await().until(started::isComplete);
    assertThat(started.cause())
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.UNAVAILABLE));
    assertThat(cluster.heartbeats()).isEmpty();
  }

  @Test
  void closingIsToldBeforeTheHandlersHaveEnded() {
    Held handler = new Held();
    Consumer consumer =
        start(options().setHeartbeatMillis(60_000).setMemberTimeoutMillis(130_000), handler);
    grant(1, 0, 3);
    Awaitility.await().until(() -> handler.seen.size() == 1);
    assertThat(cluster.heartbeats()).noneMatch(Heartbeat::closing);
    Future<Void> closed = consumer.close();
    Wait.until(() -> cluster.heartbeats().stream().anyMatch(b -> b.closing() && !b.leaving()));
    assertThat(cluster.lease(1).owned()).isTrue();
    handler.running.get(0).complete();
    await(closed);
    assertThat(cluster.lease(1).committed()).isEqualTo(1);
  }

  @Test
  void aLostShardIsNeitherCommittedNorReleased() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    grant(1, 0, 3);
    Awaitility.await().until(() -> handler.seen.size() == 1);
    cluster.steal(1);
    Awaitility.await().until(() -> handler.events.contains("lost"));
    handler.running.get(0).complete();
    await(consumer.close());
    assertThat(handler.seen).hasSize(1);
    assertThat(cluster.commands()).isEmpty();
  }

  @Test
  void aLostConnectionIsNoMoreThanAPause() {
    Consumer consumer = readsTen();
    cluster.become(Link.State.LOST);
    cluster.append(0, messages(10, 10));
    cluster.become(Link.State.CONNECTED);
    Awaitility.await().until(() -> seen.size() == 20);
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(20);
  }

  @Test
  void leadersAreFollowed() {
    cluster.leaderInView("n2");
    await(readsTen().close());
    assertThat(cluster.lease(0).committed()).isEqualTo(10);
  }

  @Test
  void handlersThatEndOnOtherThreadsKeepTheOrderOfTheirKey() {
    cluster.append(0, messages(0, 700));
    cluster.append(1, messages(0, 700));
    Map<String, Integer> last = new java.util.concurrent.ConcurrentHashMap<>();
    AtomicInteger done = new AtomicInteger();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger wrong = new AtomicInteger();
    Consumer consumer =
        start(
            options().setOrder(ConsumerOptions.Order.KEY).setParallel(8),
            delivery -> {
              String lane = delivery.shard() + delivery.message().keyText();
              int number = number(delivery);
              Integer before = last.put(lane, number);
              if (before != null && before != number - 7 || running.incrementAndGet() > 8) {
                wrong.incrementAndGet();
              }
              return vertx.executeBlocking(
                  () -> {
                    running.decrementAndGet();
                    done.incrementAndGet();
                    return null;
                  },
                  false);
            });
    cluster.grant(0, null, -1);
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> done.get() == 1_400);
    assertThat(wrong).hasValue(0);
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(700);
    assertThat(cluster.lease(1).committed()).isEqualTo(700);
  }

  @Test
  void aFetchAtANodeThatLeadsNoMoreIsGivenUp() {
    cluster.leaderInView("n3");
    Consumer consumer = start(numbersTo(seen));
    grant(0, 0, 10);
    Awaitility.await().until(() -> cluster.deadRequests() > 0);
    cluster.leaderInView("n1");
    await(directory.refresh());
    Awaitility.await().until(() -> seen.size() == 10);
    await(consumer.close());
  }

  @Test
  void closingWithoutAConnectionEndsAfterTheMemberTimeout() {
    ConsumerOptions options = options().setMemberTimeoutMillis(1_300);
    Consumer consumer = start(options, new Held());
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> consumer.ownedShards() == 1);
    cluster.become(Link.State.LOST);
    await(consumer.close());
    assertThat(cluster.lease(0).owned()).isTrue();
    assertThat(consumer.ownedShards()).isZero();
  }

  @Test
  void whatRetentionDroppedIsSkipped() {
    cluster.append(0, messages(0, 10));
    cluster.append(0, messages(10, 10));
    cluster.dropBefore(0, 10);
    Consumer consumer = start(numbersTo(seen));
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> seen.size() == 10);
    assertThat(seen.get(0)).isEqualTo(10);
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(20);
  }

  @Test
  void aCorruptBatchIsNeverHandedOut() {
    cluster.append(0, messages(0, 5));
    Batch corrupt = fromFive();
    int at = corrupt.length() - 1;
    corrupt.bytes().put(at, (byte) (corrupt.bytes().get(at) ^ 1));
    cluster.append(0, corrupt);
    Consumer consumer = start(numbersTo(seen));
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> cluster.lease(0).committed() == 5);
    corrupt.bytes().put(at, (byte) (corrupt.bytes().get(at) ^ 1));
    Awaitility.await().until(() -> seen.size() == 10);
    assertThat(seen).isSorted();
    await(consumer.close());
  }

  private static Batch fromFive() {
    BatchBuilder builder = new BatchBuilder(1024);
    messages(5, 5).forEach(builder::add);
    return builder.build(1, 0, 0);
  }

  /** It was appended before nodes checked what is inside. */
  private static Batch malformed() {
    Batch malformed = fromFive();
    malformed.bytes().putInt(32, 7);
    return malformed.stamped(1, 0, 0);
  }

  @Test
  void aConsumerThatStopsAtWhatItCannotReadGoesOnAfterAReset() {
    cluster.append(0, messages(0, 5));
    cluster.append(0, malformed());
    cluster.append(0, messages(20, 5));
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    ConsumerOptions options = options().setOnFailure(ConsumerOptions.OnFailure.STOP);
    Consumer first = start(options, numbersTo(seen));
    first.onEnd(ends::add);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> ends.size() == 1);
    assertThat(seen).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(ends.get(0))
        .hasMessageContaining("offset 10 in the batch of offsets 5 to 11")
        .hasMessageContaining("reset group g on shard 0 of topic t to offset 12");
    Consumer second = start(options, numbersTo(seen));
    cluster.reset(0, 12);
    Awaitility.await().until(() -> cluster.lease(0).committed() == 17);
    assertThat(seen.subList(10, seen.size())).containsExactly(20, 21, 22, 23, 24);
    await(second.close());
  }

  @Test
  void otherShardsGoOnWhileOneWaitsAndThatOneDoesAfterAReset() {
    Batch corrupt = malformed();
    corrupt.bytes().put(corrupt.length() - 1, (byte) 1);
    cluster.append(0, corrupt);
    cluster.append(0, messages(20, 5));
    Consumer consumer = start(numbersTo(seen));
    cluster.grant(0, null, -1);
    cluster.grant(1, null, -1);
    cluster.append(1, messages(30, 5));
    Awaitility.await().until(() -> cluster.lease(1).committed() == 5);
    assertThat(seen).containsExactly(30, 31, 32, 33, 34);
    cluster.reset(0, 7);
    Awaitility.await().until(() -> cluster.lease(0).committed() == 12);
    assertThat(seen.subList(5, seen.size())).containsExactly(20, 21, 22, 23, 24);
    await(consumer.close());
  }

  @Test
  void refusalsAtTheStartFailIt() {
    assertThat(failure(starting(options().setParallel(0), d -> null)))
        .hasMessageContaining("parallel is 0: at least 1");
    cluster.refuseHeartbeats(new RefusedException(Refusal.UNKNOWN_TOPIC, "no topic 't'"));
    Throwable refused = failure(starting(options(), d -> null));
    assertThat(((RefusedException) refused).refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
  }

  @Test
  void aReplacedMemberEndsWithoutARelease() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    AtomicReference<Throwable> end = new AtomicReference<>();
    consumer.onEnd(end::set);
    grant(0, 0, 3);
    Awaitility.await().until(() -> handler.seen.size() == 1);
    cluster.refuseHeartbeats(new RefusedException(Refusal.MEMBER_REPLACED, "by another"));
    Awaitility.await().until(() -> end.get() != null);
    assertThat(end.get()).hasMessage("by another");
    assertThat(handler.events).containsExactly("assign 0 null", "lost");
    assertThat(consumer.ownedShards()).isZero();
    assertThat(cluster.commands()).noneMatch(command -> command instanceof DataCommand.Release);
    await(consumer.close());
  }

  @Test
  void afterAHandlerThatBlockedNoneStartsBeforeAHeartbeatIsAnswered() {
    int quick = 30_000;
    AtomicInteger seen = new AtomicInteger();
    AtomicInteger before = new AtomicInteger();
    AtomicInteger after = new AtomicInteger();
    ConsumerOptions options = options().setMemberTimeoutMillis(1_200);
    Consumer consumer =
        start(
            options,
            delivery -> {
              int number = seen.incrementAndGet();
              if (number == quick) {
                before.set(cluster.heartbeats().size());
                long until = Clock.millis() + 200;
                int ticks = ClockTicks.count();
                while (Clock.millis() <= until || ClockTicks.count() == ticks) {
                  ClockTicks.use();
                }
              } else if (number == quick + 1) {
                after.set(cluster.heartbeats().size());
              }
              return Future.succeededFuture();
            });
    for (int i = 0; i <= quick; i += 1_000) {
      cluster.append(0, messages(i, 1_000));
    }
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> after.get() > 0);
    assertThat(after.get()).isGreaterThan(before.get());
    await(consumer.close());
  }

  @Test
  void aFastHandlerGetsMessagesFast() {
    int batches = 100;
    int perBatch = 1_000;
    int rounds = 30;
    BatchBuilder builder = new BatchBuilder(1 << 20);
    for (int i = 0; i < perBatch; i++) {
      builder.add(new Message(null, Map.of(), 1_000, new byte[100]));
    }
    Batch batch = builder.build(1, 0, 0);
    AtomicLong seen = new AtomicLong();
    Consumer consumer =
        start(
            options().setOrder(ConsumerOptions.Order.NONE),
            delivery -> {
              seen.lazySet(seen.get() + 1);
              return Future.succeededFuture();
            });
    for (int shard = 0; shard < 4; shard++) {
      cluster.grant(shard, null, -1);
    }
    long expected = 0;
    long best = Long.MAX_VALUE;
    for (int round = 0; round < rounds; round++) {
      long begin = System.nanoTime();
      for (int i = 0; i < batches; i++) {
        cluster.append(i % 4, batch);
      }
      expected += (long) batches * perBatch;
      long until = expected;
      Awaitility.await().pollInterval(1, TimeUnit.MILLISECONDS).until(() -> seen.get() == until);
      best = Math.min(best, System.nanoTime() - begin);
    }
    System.out.printf(
        "consumer: %,d messages/s at best of %d rounds%n",
        1_000_000_000L * batches * perBatch / best, rounds);
    await(consumer.close());
    long committed = 0;
    for (int shard = 0; shard < 4; shard++) {
      committed += cluster.lease(shard).committed();
    }
    assertThat(committed).isEqualTo(expected);
  }
}
