package dev.evenkeel.broker;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.RefusedException.QuotaReached;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Producers of a topic with a quota: one sends much at once, the other one a little. */
class QuotaSendersTest {
  private static final long PER_SECOND = 800;

  /** More than the quota of a second. */
  private static final int MANY = 1_200;

  @TempDir Path directory;
  @Closing private static Bench bench;
  private static VertxLink link;
  @Closing private static ClusterDirectory cluster;

  @BeforeAll
  static void start() throws Exception {
    bench = Bench.one();
    link = new VertxLink(bench.vertx, null);
    cluster = new ClusterDirectory(link);
    await().until(() -> bench.nodes.get("n1").meta().level() >= FeatureLevel.NEWEST);
  }

  private static TopicInfo topic(String name) throws Exception {
    TopicInfo topic = bench.create(name, 1);
    Bytes body = new Bytes();
    CommandCodec.write(
        body, new MetaCommand.SetQuota(Quota.perSecond(QuotaKind.TOPIC, name, 0, PER_SECOND)));
    bench.control(Op.SUBMIT_META, body);
    return topic;
  }

  private static ProducerOptions options(String topic) {
    return new ProducerOptions().setTopic(topic);
  }

  private static Message message(int number) {
    return new Message(null, null, 0, Integer.toString(number).getBytes());
  }

  private static List<Future<Position>> sendMany(Producer producer) {
    List<Future<Position>> sends = new ArrayList<>();
    times(MANY, i -> sends.add(producer.send(message(i))));
    return sends;
  }

  /** One message after another, until the other one is done. */
  private static int sendSlowly(Producer producer, Future<?> until) {
    int sent = 0;
    while (!until.isComplete()) {
      await(producer.send(message(sent++)));
    }
    return sent;
  }

  @Test
  void aLargeBatchDelaysItsOwnProducerAndNobodyElse() throws Exception {
    topic("large");
    Producer many = await(Producers.start(link, cluster, options("large")));
    Producer few = await(Producers.start(link, cluster, options("large")));
    List<Future<Position>> sends = sendMany(many);
    assertThat(sendSlowly(few, Future.join(sends))).isGreaterThan(5);
    await(Future.all(sends));
    assertThat(sends.stream().map(sent -> sent.result().offset())).isSorted();
    await(many.close());
    await(few.close());
  }

  @Tag("full")
  @Test
  void aSpoolSendsItsLargeBatchesAndNobodyElseWaits() throws Exception {
    topic("spooled");
    Producer spool =
        await(
            Producers.startSpooling(
                link,
                cluster,
                options("spooled")
                    .setName("p")
                    .setSpool(directory.resolve("spool").toString())
                    .setSpoolFlushMessages(MANY),
                null,
                null));
    Producer few = await(Producers.start(link, cluster, options("spooled")));
    List<Future<Position>> sends = sendMany(spool);
    assertThat(sendSlowly(few, Future.join(sends))).isGreaterThan(5);
    await(Future.all(sends));
    await(spool.close());
    await(few.close());
  }

  /** As programs of other versions and languages. */
  @Test
  void aBatchThatItsSenderDoesNotDividePassesInTheEnd() throws Exception {
    BatchBuilder builder = new BatchBuilder(1 << 10);
    times(MANY, i -> builder.add(message(i)));
    Batch batch = builder.build(0, 0, 0);
    Shard shard = new Shard(topic("whole").id(), 0);
    List<Long> told = new ArrayList<>();
    Wait.until(
        () -> {
          Future<AppendResults> sent = bench.append(shard, batch);
          await().until(sent::isComplete);
          if (sent.failed()) {
            QuotaReached refused = (QuotaReached) sent.cause();
            assertThat(refused.messagesMax()).isEqualTo(PER_SECOND / 4);
            told.add(refused.retryAfterMillis());
          }
          return sent.succeeded();
        });
    assertThat(told).isNotEmpty();
    assertThat(told.get(told.size() - 1)).as("what is left").isLessThanOrEqualTo(told.get(0));
  }
}
