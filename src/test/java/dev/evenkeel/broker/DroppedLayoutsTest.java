package dev.evenkeel.broker;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.Partial;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What producers had on its way when the shards that they sent to were sealed, emptied and dropped:
 * messages with a key stay in order, none is there twice, and nobody hears that the topic was
 * deleted while it exists.
 */
class DroppedLayoutsTest {
  private static final int KEYS = 7;
  private static final int AGE_MILLIS_MAX = 60_000;

  @TempDir Path directory;
  @Closing private Bench bench;
  private LossyLink link;
  @Closing private ClusterDirectory cluster;

  /** What all shards had when they were dropped. */
  private final List<Integer> dropped = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    bench = new Bench(1 << 20, new JsonObject().put("reconcileMillis", 20), 2, "n1");
    link = new LossyLink(bench.vertx);
    cluster = new ClusterDirectory(link.all);
    await().until(() -> node().meta().level() >= FeatureLevel.NEWEST);
    await().until(() -> node().data().stream().allMatch(d -> d.level() >= FeatureLevel.NEWEST));
    create();
  }

  private BrokerNode node() {
    return bench.nodes.get("n1");
  }

  @Test
  void aProducerThatWasAwaySendsOnceWhatDroppedShardsDidNotTake() throws Exception {
    Producer producer = await(Producers.start(link.all, cluster, options()));
    List<Future<?>> sends = send(producer, 0, 20);
    await(Future.all(sends));
    link.loses = true;
    sends.addAll(send(producer, 20, 60));
    await().until(() -> link.lost.get() > 0);
    link.holds = true;
    sends.addAll(send(producer, 60, 300));
    reshardAndDrop(3);
    reshardAndDrop(5);
    link.back();
    await(Future.all(sends));
    assertAllOnceAndInOrder(300);
    await(producer.close());
  }

  @Test
  void aSpoolSendsOnceWhatDroppedShardsDidNotTake() throws Exception {
    SpoolingProducer first = spool();
    List<Future<?>> sends = send(first, 0, 20);
    await(Future.all(sends));
    link.loses = true;
    send(first, 20, 60);
    await().until(() -> link.lost.get() > 0);
    link.holds = true;
    send(first, 60, 300);
    await().until(() -> first.status().spooledMessages() == 300);
    await(first.close());
    reshardAndDrop(3);
    reshardAndDrop(5);
    link.back();
    SpoolingProducer second = spool();
    await(second.flush());
    assertThat(second.status().pendingMessages()).isZero();
    await(second.close());
    assertAllOnceAndInOrder(300);
  }

  @Test
  void aSpoolThatNeverReachedTheFormerShardsIsSent() throws Exception {
    SpoolingProducer first = spool();
    link.holds = true;
    send(first, 0, 100);
    await().until(() -> first.status().spooledMessages() == 100);
    reshardAndDrop(3);
    link.back();
    await(first.flush());
    await(first.close());
    assertAllOnceAndInOrder(100);
  }

  /** Its own place in the log must not go with the shards that it sends from. */
  @Test
  void aSpoolIsSentWhileFurtherLayoutsAreDropped() throws Exception {
    SpoolingProducer first = spool();
    link.holds = true;
    spool(first, 0, 100);
    await(first.close());
    reshardAndDrop(3);
    assertSentWhileTheyAreDropped(8, 99);
  }

  /** Those behind them were made for shards that were open then. */
  @Test
  void aSpoolIsSentAlthoughItsLaterMessagesAreForFormerShardsByThen() throws Exception {
    SpoolingProducer first = spool();
    link.holds = true;
    spool(first, 0, 50);
    reshardAndDrop(3);
    await(cluster.refresh());
    spool(first, 50, 100);
    await(first.close());
    assertSentWhileTheyAreDropped(2, 100);
  }

  /**
   * The next program sends the hundred of the spool; after so many appends, more shards go.
   *
   * @param pendingMax so many are still to be acknowledged then
   */
  private void assertSentWhileTheyAreDropped(int appends, int pendingMax) throws Exception {
    link.back();
    link.appendsMax = link.appends.get() + appends;
    SpoolingProducer next = spool();
    await().until(() -> link.holds && next.status().pendingMessages() <= pendingMax);
    reshardAndDrop(5);
    link.back();
    await(next.flush());
    await(next.close());
    assertAllOnceAndInOrder(100);
  }

  @Test
  void aSpoolKeepsWhatIsForNewShardsUntilFormerOnesHaveAnswered() throws Exception {
    SpoolingProducer producer = spool();
    link.holds = true;
    spool(producer, 0, 50);
    for (int shards : new int[] {3, 5}) {
      reshardAndDrop(shards);
      await(cluster.refresh());
      int from = (int) producer.status().spooledMessages();
      spool(producer, from, from + 50);
    }
    link.back();
    await(producer.flush());
    await(producer.close());
    assertAllOnceAndInOrder(150);
  }

  /** Ten in a frame. */
  private static void spool(SpoolingProducer to, int from, int end) {
    for (int i = from; i < end; i += 10) {
      send(to, i, i + 10);
      int spooled = i + 10;
      await().until(() -> to.status().spooledMessages() == spooled);
    }
  }

  /** Former versions forget what a dropped shard had taken. */
  @Test
  void whatNobodyCanTellIsIndeterminateUnlessItMayBeSentTwice() throws Exception {
    SpoolingProducer first = spool();
    await(Future.all(send(first, 0, 20)));
    link.loses = true;
    send(first, 20, 60);
    await().until(() -> link.lost.get() > 0);
    await(first.close());
    for (int i = 0; i <= TopicInfo.DROPPED_LAYOUTS_MAX; i++) {
      reshardAndDrop(i % 2 == 0 ? 3 : 5);
    }
    link.back();
    SpoolingProducer second = spool();
    Refused.saying(() -> await(second.ended()), "does not remember", "setSpoolResend")
        .extracting(failure -> ((RefusedException) failure).refusal())
        .isEqualTo(Refusal.INDETERMINATE);
    await(second.close());
    SpoolingProducer third =
        await(
            Producers.startSpooling(
                link.all, cluster, spoolOptions().setSpoolResend(true), null, null));
    await(third.flush());
    await(third.close());
    assertThat(present()).containsAll(IntStream.range(20, 60).boxed().toList());
  }

  @Test
  void aSpoolOfATopicThatWasDeletedSaysSo() throws Exception {
    SpoolingProducer producer = spool();
    link.holds = true;
    send(producer, 0, 10);
    await().until(() -> producer.status().spooledMessages() == 10);
    bench.control(Op.DELETE_TOPIC, new Bytes().text("t"));
    create();
    link.back();
    Fails.saying(() -> await(producer.ended()), "deleted", "another of its name");
    await(producer.close());
    assertThatThrownBy(this::spool).hasMessageContaining("another topic of that name");
  }

  /** What was sent and never answered may be in the log: it was not refused. */
  @Test
  void aLostAnswerOfADeletedTopicIsIndeterminate() throws Exception {
    Producer producer = await(Producers.start(link.all, cluster, options()));
    link.loses = true;
    List<Future<?>> sends = send(producer, 0, 10);
    await().until(() -> link.lost.get() > 0);
    bench.control(Op.DELETE_TOPIC, new Bytes().text("t"));
    link.back();
    await().until(() -> sends.stream().allMatch(Future::isComplete));
    assertThat(sends)
        .extracting(send -> ((RefusedException) send.cause()).refusal())
        .containsOnly(Refusal.INDETERMINATE);
  }

  @Test
  void aTopicThatWasDeletedAndCreatedAgainTakesWhatIsSentNext() throws Exception {
    Producer producer = await(Producers.start(link.all, cluster, options()));
    await(Future.all(send(producer, 0, 10)));
    for (int i = 0; i < 5; i++) {
      bench.control(Op.DELETE_TOPIC, new Bytes().text("t"));
      create();
      await(cluster.refresh());
      await(Future.all(send(producer, 0, 10)));
    }
    await(producer.close());
  }

  /** Another client has done it, and nobody has told this one yet. */
  @Test
  void aProducerThatStartsSendsToTheTopicThatIsThereNow() throws Exception {
    await(cluster.refresh());
    link.hearsNothing = true;
    for (int i = 0; i < 5; i++) {
      bench.control(Op.DELETE_TOPIC, new Bytes().text("t"));
      create();
      Producer producer = await(Producers.start(link.all, cluster, options()));
      await(Future.all(send(producer, 0, 10)));
      await(producer.close());
    }
  }

  // ---- Sending

  private static ProducerOptions options() {
    return new ProducerOptions().setTopic("t").setBatchBytes(200).setDeliveryTimeoutMillis(60_000);
  }

  private ProducerOptions spoolOptions() {
    return options()
        .setName("p")
        .setSpool(directory.resolve("spool").toString())
        .setSpoolFlushMessages(10);
  }

  private SpoolingProducer spool() {
    return await(Producers.startSpooling(link.all, cluster, spoolOptions(), null, null));
  }

  private static List<Future<?>> send(Producer producer, int from, int to) {
    List<Future<?>> sends = new ArrayList<>();
    for (int i = from; i < to; i++) {
      byte[] key = {(byte) (i % KEYS)};
      byte[] payload = ByteBuffer.allocate(4).putInt(i).array();
      sends.add(producer.send(new Message(key, null, 0, payload)));
    }
    return sends;
  }

  // ---- The topic

  private void create() throws Exception {
    Bytes body = new Bytes().text("t").i32(2);
    RecordCodec.TOPIC_CONFIG.write(
        body, new TopicConfig(TopicConfig.DEFAULT.retentionMillis(), AGE_MILLIS_MAX, -1));
    bench.control(Op.CREATE_TOPIC, body);
  }

  private TopicInfo topic() throws Exception {
    Buffer answer =
        Bench.get(bench.vertx.eventBus().<Buffer>request(Addresses.VIEW, Buffer.buffer())).body();
    return ClusterView.fromJson(new JsonObject(answer)).topic("t");
  }

  /** Other shards; the former ones are emptied by age, and then go. */
  private void reshardAndDrop(int shards) throws Exception {
    List<Integer> before = present();
    bench.control(Op.RESHARD_TOPIC, new Bytes().text("t").i32(shards));
    dropped.addAll(before);
    bench.now.addAndGet(AGE_MILLIS_MAX + 1);
    node().retain();
    await().until(() -> topic().layouts().size() == 1 && topic().shards() == shards);
    TopicInfo topic = topic();
    Wait.until(
        () ->
            node().data().stream()
                .flatMap(data -> data.tables().shardsOf(topic.id()).stream())
                .allMatch(shard -> topic.has(shard.shard())));
  }

  /** What the shards have now, one after another. */
  private List<Integer> present() throws Exception {
    List<Integer> all = new ArrayList<>();
    for (Shard shard : topic().all()) {
      long offset = node().data().get(bench.groupOf(shard)).tables().shard(shard).start();
      long end = node().data().get(bench.groupOf(shard)).tables().shard(shard).end();
      while (offset < end) {
        FetchAnswer answer = Bench.get(bench.browse(shard, offset, 0));
        for (FetchAnswer.Placed placed : answer.batches()) {
          for (BatchReader in = placed.batch().reader(offset); in.hasNext(); offset++) {
            all.add(ByteBuffer.wrap(in.next().payload()).getInt());
          }
        }
      }
    }
    return all;
  }

  private void assertAllOnceAndInOrder(int messages) throws Exception {
    List<Integer> all = new ArrayList<>(dropped);
    all.addAll(present());
    assertThat(all)
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, messages).boxed().toList());
    Map<Integer, Integer> last = new HashMap<>();
    for (int each : all) {
      Integer before = last.put(each % KEYS, each);
      assertThat(before == null || before < each).as("%s after %s", each, before).isTrue();
    }
  }

  /** Loses the answers to appends, or holds appends back. */
  private static final class LossyLink {
    private final VertxLink through;
    final Link all;
    final AtomicInteger lost = new AtomicInteger();
    final AtomicInteger appends = new AtomicInteger();
    volatile boolean loses;
    volatile boolean holds;
    volatile boolean hearsNothing;
    volatile int appendsMax = Integer.MAX_VALUE;

    LossyLink(Vertx vertx) {
      through = new VertxLink(vertx, "test");
      all = Partial.over(Link.class, through, this);
    }

    void back() {
      loses = false;
      holds = false;
      appendsMax = Integer.MAX_VALUE;
    }

    Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
      if (address.equals(Addresses.VIEW) || Frames.op(body) != Op.APPEND) {
        return through.request(address, body, timeoutMillis);
      }
      if (appends.incrementAndGet() > appendsMax) {
        holds = true;
      }
      if (holds) {
        return lost(300);
      }
      Future<Buffer> answer = through.request(address, body, timeoutMillis);
      if (!loses) {
        return answer;
      }
      return answer.compose(
          none -> {
            lost.incrementAndGet();
            return lost(300);
          });
    }

    private Future<Buffer> lost(long millis) {
      Promise<Buffer> promise = Promise.promise();
      through
          .vertx()
          .setTimer(
              millis,
              id -> promise.fail(new RefusedException(Refusal.INDETERMINATE, "no answer came")));
      return promise.future();
    }

    Link.Listening listen(String address, Consumer<Buffer> handler) {
      return through.listen(
          address,
          body -> {
            if (!hearsNothing) {
              handler.accept(body);
            }
          });
    }
  }
}
