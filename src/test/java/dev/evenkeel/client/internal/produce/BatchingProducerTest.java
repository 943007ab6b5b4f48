package dev.evenkeel.client.internal.produce;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.Futures;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.client.internal.produce.core.SimLog;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Murmur2;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchingProducerTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final FakeBroker broker = new FakeBroker(link);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(link);

  @Test
  void messagesOfAKeyGoToItsShardInOrder() {
    Producer producer = start(options());
    List<Future<Position>> sends = sends(producer, "key", 2_000);
    int shard = shardOf("key");
    for (int i = 0; i < sends.size(); i++) {
      Position position = await(sends.get(i));
      assertThat(position.logPosition().index()).isPositive();
      assertThat(new Position(position.shard(), position.offset()))
          .isEqualTo(new Position(shard, i));
    }
    assertThat(broker.messages(shard)).isEqualTo(numbers(0, 2_000));
    assertThat(broker.appends).isLessThan(500);
    assertThat(producer.pendingMessages()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Acks.class,
      names = {"NONE", "MAJORITY"})
  void aHandlerThatFailsKeepsNothingFromOthers(Acks acks) {
    List<Throwable> reported = new CopyOnWriteArrayList<>();
    vertx.exceptionHandler(reported::add);
    Producer producer = start(options().setAcks(acks).setLingerMillis(10_000));
    Error failure = new AssertionError("the application's own");
    broker.hold();
    producer.send("key", payload(0));
    await().until(() -> broker.held > 0);
    // While that one is under way, what follows lingers in one batch until flush sends it.
    producer
        .send("key", payload(1))
        .onComplete(
            told -> {
              throw failure;
            });
    Future<Position> sameBatch = producer.send("key", payload(2));
    Future<Position> another = producer.send("other", payload(3));
    Future<Void> flushed = producer.flush();
    broker.release();
    await(sameBatch);
    await(another);
    await(flushed);
    assertThat(reported).containsExactly(failure);
  }

  @Test
  void aTopicMayBeThereThoughANodeThatHasStartedDoesNotKnowItYet() {
    broker.behind = true;
    Refused.with(
        Refusal.UNAVAILABLE,
        () -> start(options().setDeliveryTimeoutMillis(300)),
        "does not know the topics yet");
    Future<Producer> starting = Producers.start(link, directory, options());
    vertx.setTimer(300, id -> broker.behind = false);
    Producer producer = await(starting);
    broker.behind = true;
    await(directory.refresh());
    assertThat(await(producer.send("key", payload(0))).offset()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void batchesAreCompressedAsTheOptionsSay(Compression compression) {
    Producer producer = start(options().setCompression(compression));
    List<Future<Position>> sends = sends(producer, "key", 1_000);
    sends.forEach(Futures::await);
    assertThat(broker.messages(shardOf("key"))).isEqualTo(numbers(0, 1_000));
    assertThat(broker.compressions).contains(compression);
  }

  /** A program whose clock is wrong gets its messages as late as it wants them. */
  @ParameterizedTest
  @ValueSource(longs = {-600_000, 600_000})
  void aDelayCountsFromTheClusterTime(long ahead) {
    broker.aheadMillis = ahead;
    Producer producer = start(options());
    await(directory.refresh());
    long before = System.currentTimeMillis() + ahead;
    await(producer.send("key", payload(0), Duration.ofSeconds(30)));
    await(
        producer.sendAt(
            Message.of("key", 0, payload(1)), producer.dueAfter(Duration.ofSeconds(40))));
    long after = System.currentTimeMillis() + ahead;
    // The view may have been under way for a while, and times are rounded up.
    assertThat(broker.dues).hasSize(2);
    assertThat(broker.dues.get(0)).isBetween(before + 30_000, after + 30_000 + 5_000);
    assertThat(broker.dues.get(1)).isBetween(before + 40_000, after + 40_000 + 5_000);
  }

  @Test
  void messagesWithoutAKeyGoAround() {
    Producer producer = start(options());
    int first = await(producer.send(null, payload(0))).shard();
    for (int i = 1; i < 8; i++) {
      assertThat(await(producer.send(null, payload(i))).shard())
          .isEqualTo((first + i) % broker.shards);
    }
  }

  @Test
  void aUsersRouterDecides() {
    Producer producer =
        await(Producers.start(link, directory, options(), (message, shards) -> shards - 1));
    assertThat(await(producer.send("any", payload(1))).shard()).isEqualTo(broker.shards - 1);
    var wrong = await(Producers.start(link, directory, options(), (message, shards) -> shards));
    Fails.saying(() -> await(wrong.send("any", payload(1))), "the topic has 0 to 3");
    assertThat(wrong.pendingMessages()).isZero();
  }

  @Test
  void aDelayedMessageGoesWithItsTimeAndHasNoPlaceYet() {
    Producer producer = start(options());
    long before = System.currentTimeMillis();
    Position position = await(producer.send("key", payload(0), Duration.ofHours(1)));
    assertThat(position.offset()).isEqualTo(-1);
    assertThat(broker.dues).hasSize(1);
    assertThat(broker.dues.get(0) % 10).isZero();
    // The steady clock of due times may be a millisecond behind the system's.
    assertThat(broker.dues.get(0))
        .isBetween(before + 3_599_999, System.currentTimeMillis() + 3_605_000);
    Message message = new Message(new byte[] {1}, null, 1, payload(1));
    assertThat(await(producer.send(message, Duration.ZERO)).offset()).isNotNegative();
    assertThat(await(producer.send(message, Duration.ofDays(-9))).offset()).isNotNegative();
    assertThat(await(producer.sendAt(message, Instant.MIN)).offset()).isNotNegative();
    assertThat(broker.dues).hasSize(1);
    Fails.saying(() -> await(producer.sendAt(message, Instant.MAX)), "30 days");
    Fails.saying(() -> await(producer.send(message, Duration.ofDays(31))), "30 days");
    assertThat(producer.pendingMessages()).isZero();
  }

  @Test
  void followsTheLeader() {
    Producer producer = start(options());
    await(producer.send("k", payload(1)));
    broker.leader = "b";
    assertThat(await(producer.send("k", payload(2))).offset()).isEqualTo(1);
  }

  @Test
  void ridesOutALostConnection() {
    Producer producer = start(options());
    link.become(Link.State.LOST);
    Future<Position> sent = producer.send("k", payload(1));
    assertThat(sent.isComplete()).isFalse();
    link.become(Link.State.CONNECTED);
    assertThat(await(sent).offset()).isZero();
  }

  @Test
  void aFullBufferRefusesIfToldSo() {
    Producer producer = start(options().setOnFull(ProducerOptions.OnFull.FAIL));
    producer.setWriteQueueMaxSize(10);
    broker.hold();
    List<Future<Position>> taken = sends(producer, "k", 10);
    refused(producer.send("k", payload(10)), Refusal.OVERLOADED);
    broker.release();
    taken.forEach(each -> await(each));
    await().until(() -> producer.pendingMessages() == 0);
    await(producer.send("k", payload(10)));
  }

  @Test
  void aFullBufferMakesSendsWaitInOrder() {
    Producer producer = start(options());
    producer.setWriteQueueMaxSize(10);
    broker.hold();
    List<Future<Position>> sends = sends(producer, "k", 200);
    assertThat(producer.pendingMessages()).isEqualTo(200);
    Future<Void> flushed = producer.flush();
    assertThat(flushed.isComplete()).isFalse();
    broker.release();
    await(flushed);
    times(200, i -> assertThat(sends.get(i).result().offset()).isEqualTo(i));
  }

  @Test
  void tooManyWaitersAreRefused() {
    Producer producer = start(options());
    producer.setWriteQueueMaxSize(1);
    broker.hold();
    times(1 + SendBuffer.WAITING_SENDS_MAX, i -> producer.send("k", payload(i)));
    refused(producer.send("k", payload(0)), Refusal.OVERLOADED);
    broker.release();
  }

  @Test
  void isAWriteStream() {
    Producer producer = start(options());
    producer.setWriteQueueMaxSize(4);
    AtomicBoolean drained = new AtomicBoolean();
    producer.drainHandler(none -> drained.set(true));
    broker.hold();
    times(4, i -> producer.write(message(i)));
    assertThat(producer.writeQueueFull()).isTrue();
    for (int i = 4; i < 8; i++) {
      producer.write(message(i));
    }
    refused(producer.write(message(8)), Refusal.OVERLOADED);
    assertThat(drained).isFalse();
    broker.release();
    await().untilTrue(drained);
    assertThat(producer.writeQueueFull()).isFalse();
    await(producer.end());
    assertThat(broker.messages(Murmur2.shard(new byte[] {1}, broker.shards)))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void aSecondOneOfTheSameNameFencesTheFirst() {
    Producer first = start(options().setName("p"));
    await(first.send("k", payload(1)));
    AtomicReference<Throwable> told = new AtomicReference<>();
    first.exceptionHandler(told::set);
    Producer second = start(options().setName("p"));
    refused(first.send("k", payload(2)), Refusal.PRODUCER_FENCED);
    await().until(() -> told.get() != null);
    refused(first.send("k", payload(3)), Refusal.PRODUCER_FENCED);
    assertThat(await(second.send("k", payload(4))).offset()).isEqualTo(1);
    await(first.close());
  }

  @Test
  void goesOnWhereTheLogHasForgottenIt() {
    Producer producer = start(options());
    await(producer.send("k", payload(1)));
    broker.logs.forEach(SimLog::forgetProducer);
    await(producer.send("k", payload(2)));
    await(producer.send("k", payload(3)));
    assertThat(broker.messages(shardOf("k"))).containsExactly(1, 2, 3);
  }

  /** Else what the other one has sent would count as sent by this one. */
  @Test
  void oneThatMissedThatItsNameWasTakenDoesNotTakeItBack() {
    Producer first = start(options().setName("p"));
    await(first.send("k", payload(1)));
    Producer second = start(options().setName("p"));
    await(second.send("k", payload(2)));
    // So it does not hear of the later epoch, but wants one itself.
    broker.logs.forEach(SimLog::forgetProducer);
    refused(first.send("k", payload(3)), Refusal.PRODUCER_FENCED);
    await(second.send("k", payload(4)));
    await(second.send("k", payload(5)));
    assertThat(broker.messages(shardOf("k"))).containsExactly(1, 2, 4, 5);
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 10})
  void oneWithANameGetsFurtherEpochsAlsoIfAnswersAreLost(int level) {
    broker.level = level;
    Producer producer = start(options().setName("p"));
    for (int i = 0; i < 3; i++) {
      await(producer.send("k", payload(2 * i)));
      broker.logs.forEach(SimLog::forgetProducer);
      broker.untoldEpochs = i;
      await(producer.send("k", payload(2 * i + 1)));
    }
    assertThat(broker.messages(shardOf("k"))).containsExactly(0, 1, 2, 3, 4, 5);
  }

  @Test
  void oneWhoseNameIsForgottenRegistersItAgain() {
    Producer producer = start(options().setName("p"));
    await(producer.send("k", payload(1)));
    broker.logs.forEach(SimLog::forgetProducer);
    broker.nameForgotten = true;
    await(producer.send("k", payload(2)));
    await(producer.send("k", payload(3)));
    assertThat(broker.nameForgotten).isFalse();
    assertThat(broker.messages(shardOf("k"))).containsExactly(1, 2, 3);
  }

  /** What happens within a delivery timeout, unless the machine holds a thread up for as long. */
  private interface InTime {
    void run(FakeBroker broker, Producer producer) throws HeldUp;
  }

  /** A message was given up that would have had its answer, or have been sent. */
  private static final class HeldUp extends Exception {
    private static final long serialVersionUID = 1L;

    HeldUp(Throwable cause) {
      super(cause);
    }
  }

  /** Begins anew with a longer timeout, and all else, if a thread was held up. */
  private void inTime(InTime story) throws HeldUp {
    for (long timeoutMillis = 300; ; timeoutMillis *= 6) {
      FakeLink ownLink = new FakeLink(vertx);
      FakeBroker ownBroker = new FakeBroker(ownLink);
      ClusterDirectory ownDirectory = new ClusterDirectory(ownLink);
      ProducerOptions options =
          options().setDeliveryTimeoutMillis(timeoutMillis).setBatchesInFlight(1);
      try {
        story.run(ownBroker, await(Producers.start(ownLink, ownDirectory, options)));
        return;
      } catch (HeldUp e) {
        if (timeoutMillis > 60_000) {
          throw e;
        }
      } finally {
        ownDirectory.close();
      }
    }
  }

  private static Position taken(Future<Position> sent) throws HeldUp {
    await().until(sent::isComplete);
    if (sent.failed() && sent.cause().getMessage().contains("not acknowledged within")) {
      throw new HeldUp(sent.cause());
    }
    return await(sent);
  }

  /** One that was sent, and then given up. */
  private static RefusedException.GivenUp givenUp(Future<Position> sent) throws HeldUp {
    await().until(sent::isComplete);
    if (sent.failed() && sent.cause().getMessage().contains("it was never sent")) {
      throw new HeldUp(sent.cause());
    }
    assertThat(sent.cause()).isInstanceOf(RefusedException.GivenUp.class);
    return (RefusedException.GivenUp) sent.cause();
  }

  @Test
  void givesUpInTimeAndGoesOnAfterwards() throws HeldUp {
    inTime(
        (broker, producer) -> {
          broker.hold();
          RefusedException.GivenUp lost = givenUp(producer.send("k", payload(1)));
          assertThat(lost.refusal()).isEqualTo(Refusal.INDETERMINATE);
          broker.release();
          int shard = taken(producer.send("k", payload(2))).shard();
          assertThat(broker.messages(shard)).contains(2).doesNotHaveDuplicates();
        });
  }

  @Test
  void anUnknownTopicIsRefused() {
    Refused.with(
        Refusal.UNKNOWN_TOPIC,
        () -> await(Producers.start(link, directory, options().setTopic("u"))));
    Producer producer = start(options());
    broker.topics = List.of();
    refused(producer.send("k", payload(1)), Refusal.UNKNOWN_TOPIC);
    refused(producer.send("k", payload(2)), Refusal.UNKNOWN_TOPIC);
  }

  @Test
  void badOptionsAreRefused() {
    assertThatThrownBy(
            () -> await(Producers.start(link, directory, options().setBatchesInFlight(9))))
        .hasMessage("batchesInFlight is 9: at most 8 is allowed");
  }

  @Test
  void whatIsGivenUpIsKnownOnceTheNextEpochIsOpen() throws HeldUp {
    inTime(
        (broker, producer) -> {
          AtomicReference<Producer.EpochClosed> closed = new AtomicReference<>();
          producer.epochHandler(closed::set);
          int shard = taken(producer.send("k", payload(0))).shard();
          // It is in the log, and nobody says so.
          broker.silent = true;
          RefusedException.GivenUp taken = givenUp(producer.send("k", payload(1)));
          await().until(() -> closed.get() != null);
          assertThat(taken.shard()).isEqualTo(shard);
          assertThat(taken.sequence()).isEqualTo(1);
          assertThat(closed.get().lastTaken(shard)).isEqualTo(1);
          assertThat(closed.get().took(taken)).isTrue();

          // Now it does not come to the log before the epoch is over, and never will.
          broker.silent = false;
          int epoch = closed.getAndSet(null).epoch();
          broker.hold();
          RefusedException.GivenUp lost = givenUp(producer.send("k", payload(2)));
          await().until(() -> closed.get() != null);
          broker.release();
          assertThat(lost.epoch()).isGreaterThan(epoch).isEqualTo(closed.get().epoch());
          assertThat(closed.get().took(lost)).isFalse();
          Fails.with(IllegalArgumentException.class, () -> closed.get().took(taken));
          taken(producer.send("k", payload(3)));
          assertThat(broker.messages(shard)).containsExactly(0, 1, 3);
        });
  }

  @Test
  void tooLargeAMessageIsRefused() {
    Producer producer = start(options());
    refused(producer.send("k", new byte[(1 << 20) + 1]), Refusal.TOO_LARGE);
  }

  @Test
  void afterCloseNothingIsTaken() {
    Producer producer = start(options());
    Future<Position> last = producer.send("k", payload(1));
    await(producer.close());
    assertThat(last.succeeded()).isTrue();
    refused(producer.send("k", payload(2)), Refusal.UNAVAILABLE);
    await(producer.close());
  }

  @Test
  void whatSealedShardsDoNotTakeGoesToThoseThatCome() throws Exception {
    Producer producer = start(options());
    Position before = taken(producer.send("k", payload(1)));
    broker.seal();
    var sends = IntStream.range(2, 50).mapToObj(i -> producer.send("k", payload(i))).toList();
    Future<Void> flushed = producer.flush();
    await().until(() -> broker.appends > 1);
    assertThat(sends).noneMatch(Future::isComplete);
    broker.open(40);
    // Nobody tells the producer: it asks.
    await(flushed);
    assertThat(sends).allMatch(Future::succeeded);
    int shard = sends.get(0).result().shard();
    assertThat(before.shard()).isLessThan(4);
    assertThat(shard).isBetween(4, 43);
    assertThat(broker.messages(before.shard())).containsExactly(1);
    assertThat(broker.messages(shard)).containsExactlyElementsOf(numbers(2, 50));
    assertThat(producer.pendingMessages()).isZero();
  }

  private int shardOf(String key) {
    return Murmur2.shard(key.getBytes(StandardCharsets.UTF_8), broker.shards);
  }

  /** Sends the numbers from 0 on, without waiting for an answer. */
  private static List<Future<Position>> sends(Producer producer, String key, int count) {
    return IntStream.range(0, count).mapToObj(i -> producer.send(key, payload(i))).toList();
  }

  private static List<Integer> numbers(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  private static ProducerOptions options() {
    return new ProducerOptions().setTopic("t");
  }

  private Producer start(ProducerOptions options) {
    return await(Producers.start(link, directory, options));
  }

  private static byte[] payload(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private static Message message(int number) {
    return new Message(new byte[] {1}, null, 0, payload(number));
  }

  private static void refused(Future<?> future, Refusal refusal) {
    Refused.with(refusal, () -> await(future));
  }
}
