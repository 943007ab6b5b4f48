package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.client.internal.produce.FakeBroker;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AcksTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final FakeBroker broker = new FakeBroker(link);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(link);

  @Test
  void noneCompletesWhenSentAndTheBufferStaysBounded() throws Exception {
    Producer producer = start(options(Acks.NONE));
    producer.setWriteQueueMaxSize(10);
    broker.hold();
    List<Future<Position>> sends = new ArrayList<>();
    times(25, i -> sends.add(producer.send("k" + i % 3, payload(1))));
    // What was sent is told, and the rest waits: there is room for ten that have no answer.
    await().until(() -> sends.subList(0, 3).stream().allMatch(Future::succeeded));
    assertThat(sends.get(0).result().offset()).isEqualTo(-1);
    assertThat(sends.get(24).isComplete()).isFalse();
    assertThat(producer.pendingMessages()).isEqualTo(25);
    broker.release();
    await(producer.flush());
    assertThat(sends).allMatch(Future::succeeded);
    assertThat(producer.failedMessages()).isZero();
    assertThat(stored()).isEqualTo(25);
    assertThat(broker.replicaQuestions).isZero();
  }

  @Test
  void noneCountsWhatFailedAfterwards() throws Exception {
    Producer producer = start(options(Acks.NONE));
    List<Throwable> heard = new ArrayList<>();
    producer.exceptionHandler(heard::add);
    await(producer.send("k", payload(1)));
    await(producer.flush());
    broker.hold();
    times(5, i -> await(producer.send("k" + i, payload(1))));
    broker.topics = List.of();
    broker.release();
    await(producer.flush());
    assertThat(producer.failedMessages()).isEqualTo(5);
    assertThat(heard)
        .isNotEmpty()
        .allMatch(failure -> ((RefusedException) failure).refusal() == Refusal.UNKNOWN_TOPIC);
    await(producer.close());
    assertThat(producer.failedMessages()).isEqualTo(5);
  }

  @Test
  void allCompletesOnceEveryReplicaHasIt() throws Exception {
    broker.missing = List.of("b");
    Producer producer = start(options(Acks.ALL).setAcksTimeoutMillis(60_000));
    Future<Position> sent = producer.send("k", payload(1));
    Future<Void> flushed = producer.flush();
    await().until(() -> broker.replicaQuestions >= 2);
    assertThat(stored()).isEqualTo(1);
    assertThat(sent.isComplete()).isFalse();
    assertThat(flushed.isComplete()).isFalse();
    assertThat(producer.pendingMessages()).isEqualTo(1);
    broker.missing = List.of();
    assertThat(await(sent).offset()).isZero();
    await(flushed);
    assertThat(producer.pendingMessages()).isZero();
  }

  @Test
  void aFlushAwaitsAlsoWhatTheLogHasAndNotEveryReplica() throws Exception {
    broker.missing = List.of("b");
    Producer producer = start(options(Acks.ALL).setAcksTimeoutMillis(60_000));
    Future<Position> sent = producer.send("k", payload(1));
    await().until(() -> broker.replicaQuestions >= 1);
    Future<Void> flushed = producer.flush();
    int asked = broker.replicaQuestions;
    await().until(() -> broker.replicaQuestions > asked + 1);
    assertThat(flushed.isComplete()).isFalse();
    Future<Void> closed = producer.close();
    broker.missing = List.of();
    await(closed);
    assertThat(sent.succeeded()).isTrue();
    assertThat(flushed.succeeded()).isTrue();
  }

  @Test
  void whoLeadsNextIsAskedToo() throws Exception {
    broker.missing = List.of("b");
    Producer producer = start(options(Acks.ALL).setAcksTimeoutMillis(60_000));
    Future<Position> sent = producer.send("k", payload(1));
    await().until(() -> broker.replicaQuestions >= 1);
    broker.leader = "b";
    int asked = broker.replicaQuestions;
    await().until(() -> broker.replicaQuestions > asked + 1);
    assertThat(sent.isComplete()).isFalse();
    broker.missing = List.of();
    assertThat(await(sent).offset()).isZero();
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void allSaysWhoIsMissingAndWhereTheMessageIs() throws Exception {
    broker.missing = List.of("b");
    Producer producer = start(options(Acks.ALL).setAcksTimeoutMillis(200));
    int before;
    List<RefusedException.ReplicasMissing> both;
    do {
      before = stored();
      assertThat(before).isLessThan(100);
      Future<Position> first = producer.send("k", payload(1));
      Future<Position> second = producer.send("k", payload(2));
      both = List.of(missing(first), missing(second));
      // If the leader's answer does not come in time, nobody knows who is missing.
    } while (both.stream().anyMatch(each -> each.nodes().isEmpty()));
    for (int i = 0; i < 2; i++) {
      RefusedException.ReplicasMissing missing = both.get(i);
      assertThat(missing.refusal()).isEqualTo(Refusal.REPLICAS_MISSING);
      assertThat(missing.nodes()).containsExactly("b");
      assertThat(missing.offset()).isEqualTo(before + i);
      assertThat(missing).hasMessageContaining("after 200 ms not known to be on the disk of b");
    }
    assertThat(stored()).isEqualTo(before + 2);
    // The sequence goes on as if nothing had been.
    broker.missing = List.of();
    int sends = 0;
    Future<Position> last;
    do {
      last = producer.send("k", payload(3));
      await().until(last::isComplete);
      sends++;
      // One whose time was over before the answer came is there as well.
    } while (last.cause() instanceof RefusedException.ReplicasMissing && sends < 100);
    assertThat(await(last).offset()).isEqualTo(before + 1 + sends);
  }

  private static RefusedException.ReplicasMissing missing(Future<Position> sent) {
    await().until(sent::isComplete);
    assertThat(sent.cause()).isInstanceOf(RefusedException.ReplicasMissing.class);
    return (RefusedException.ReplicasMissing) sent.cause();
  }

  @Test
  void whileAReplicaIsMissingTheNumberOfQuestionsDoesNotFollowTheNumberOfMessages()
      throws Exception {
    broker.missing = List.of("b");
    Producer producer = start(options(Acks.ALL).setAcksTimeoutMillis(300).setBatchBytes(1));
    List<Future<Position>> sends = new ArrayList<>();
    times(500, i -> sends.add(producer.send("k", payload(1))));
    AtomicInteger missing = new AtomicInteger();
    sends.forEach(each -> each.onFailure(none -> missing.incrementAndGet()));
    await().until(() -> missing.get() == 500);
    assertThat(broker.appends).isGreaterThan(50);
    assertThat(broker.replicaQuestions).isLessThan(50);
  }

  @Test
  void withASpoolOnlyMajority() {
    assertThatThrownBy(() -> start(options(Acks.ALL).setSpool("somewhere")))
        .hasMessageStartingWith("acks all with a spool");
  }

  @Test
  void isAnOptionLikeOthers() {
    var options = new ProducerOptions(new JsonObject().put("topic", "t").put("acks", "all"));
    assertThat(options.getAcks()).isEqualTo(Acks.ALL);
    assertThat(options.toJson().getString("acks")).isEqualTo("all");
    assertThat(new ProducerOptions().getAcks()).isEqualTo(Acks.MAJORITY);
    assertThatThrownBy(() -> Acks.of("some")).hasMessage("acks 'some': use none, majority or all");
  }

  private int stored() {
    int sum = 0;
    for (int shard = 0; shard < broker.shards; shard++) {
      sum += broker.messages(shard).size();
    }
    return sum;
  }

  private static byte[] payload(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private static ProducerOptions options(Acks acks) {
    return new ProducerOptions().setTopic("t").setAcks(acks);
  }

  private Producer start(ProducerOptions options) throws Exception {
    return await(Producers.start(link, directory, options));
  }
}
