package dev.evenkeel.broker;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.Murmur2;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** After a reshard, delayed messages move to the shards that have taken the place of theirs. */
class DelayedMovesTest {
  @Closing private Bench bench;

  private void begin(int dataGroups, String... nodes) throws Exception {
    JsonObject options = new JsonObject().put("reconcileMillis", 50);
    bench = new Bench(1 << 20, options, dataGroups, nodes);
    Wait.until(
        () ->
            bench.nodes.get("n1").data().stream()
                .allMatch(data -> data.level() == FeatureLevel.NEWEST));
  }

  /** Keys that this shard of the topic gets. */
  private static List<String> keys(TopicInfo topic, int shard, int count) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; keys.size() < count; i++) {
      String key = "k" + i;
      if (Murmur2.shard(key.getBytes(UTF_8), topic.shards()) == shard - topic.open().first()) {
        keys.add(key);
      }
    }
    return keys;
  }

  private void send(Shard shard, Compression compression, List<String> keys, String payload)
      throws Exception {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(compression));
    keys.forEach(key -> builder.add(Message.builder(payload).key(key).build()));
    long due = bench.now.get() + 3600_000;
    Bytes body = new Bytes();
    AppendBody.write(body, new AppendBody.Item(shard, builder.build(0, 0, 0), due));
    AppendResults results =
        AppendResults.decode(
            get(bench.send(Addresses.data("n1"), Frames.request(Op.APPEND, body))));
    assertThat(results.results().get(0).ok()).isTrue();
  }

  private TopicInfo reshard(TopicInfo topic, int shards) throws Exception {
    bench.control(Op.RESHARD_TOPIC, new Bytes().text(topic.name()).i32(shards));
    return bench.nodes.get("n1").meta().tables().topic(topic.id());
  }

  private long waiting(String node, Shard shard) {
    return bench
        .nodes
        .get(node)
        .data()
        .get(bench.groupOf(shard))
        .tables()
        .delays()
        .of(shard)
        .messages();
  }

  private long waiting(TopicInfo topic, boolean sealed) {
    return topic.all().stream()
        .filter(shard -> topic.isSealed(shard.shard()) == sealed)
        .mapToLong(shard -> waiting("n1", shard))
        .sum();
  }

  private List<String> keysOf(Shard shard) throws Exception {
    List<String> keys = new ArrayList<>();
    for (DelayedId from = DelayedId.first(0); from != null; ) {
      Bytes body = new Bytes();
      RecordCodec.write(body, shard);
      body.i64(from.dueMillis()).i64(from.serial()).i32(from.position()).blob(null).i32(1000);
      DelayedAnswer answer =
          DelayedAnswer.CODEC.decodeAll(
              get(bench.send(Addresses.control("n1"), Frames.request(Op.READ_DELAYED, body))));
      answer.messages().forEach(each -> keys.add(new String(each.message().key(), UTF_8)));
      from = answer.next();
    }
    return keys;
  }

  /** Few compressed bytes become many when they are divided. */
  @Test
  void compressedMessagesMoveHoweverManyBytesTheyAreUnpacked() throws Exception {
    begin(1, "n1");
    TopicInfo topic = bench.create("packed", 2);
    for (Shard shard : topic.all()) {
      for (int i = 0; i < 8; i++) {
        send(shard, Compression.ZSTD, keys(topic, shard.shard(), 900), "x".repeat(1_000));
      }
    }
    TopicInfo now = reshard(topic, 3);
    await().until(() -> waiting(now, true) == 0);
    assertThat(waiting(now, false)).isEqualTo(2 * 8 * 900);
    long bytes =
        now.open()
            .numbers()
            .mapToLong(
                number -> {
                  Shard shard = new Shard(now.id(), number);
                  int group = bench.groupOf(shard);
                  return bench
                      .nodes
                      .get("n1")
                      .data()
                      .get(group)
                      .tables()
                      .delays()
                      .of(shard)
                      .bytes();
                })
            .sum();
    assertThat(bytes).as("they are still compressed").isLessThan(2 * 8 * 900 * 100);
  }

  /** More parts than one request takes, in their order; meanwhile another topic moves, too. */
  @Test
  void manySmallBatchesMoveToManyShards() throws Exception {
    begin(1, "n1");
    TopicInfo topic = bench.create("small", 1);
    TopicInfo other = bench.create("other", 1);
    List<String> all = keys(topic, 0, 200);
    times(60, i -> send(new Shard(topic.id(), 0), Compression.NONE, all, "" + i));
    send(new Shard(other.id(), 0), Compression.NONE, keys(other, 0, 100), "y");
    TopicInfo now = reshard(topic, 100);
    TopicInfo otherNow = reshard(other, 2);
    await().until(() -> waiting(now, true) + waiting(otherNow, true) == 0);
    assertThat(waiting(now, false)).isEqualTo(60 * 200);
    assertThat(waiting(otherNow, false)).isEqualTo(100);
    Shard one = new Shard(now.id(), now.open().first());
    List<String> keys = keysOf(one);
    int each = keys.size() / 60;
    times(keys.size(), i -> assertThat(keys.get(i)).isEqualTo(keys.get(i % each)));
  }

  /**
   * A topic that has only delayed messages, for its only shard, is resharded to two. No message
   * moves before {@link #moveNow}.
   */
  private TopicInfo resharded(String name) throws Exception {
    roomOnDisk(false);
    return reshard(bench.nodes.get("n1").meta().tables().topic(name), 2);
  }

  private void moveNow() {
    roomOnDisk(true);
  }

  private void roomOnDisk(boolean room) {
    bench.diskFree.set(room ? Long.MAX_VALUE : 0);
    bench.nodes.values().forEach(BrokerNode::checkDisk);
  }

  private int groupOf(TopicInfo topic, int shard) {
    return bench.groupOf(new Shard(topic.id(), shard));
  }

  private TopicInfo create(String name, int messages) throws Exception {
    TopicInfo topic = bench.create(name, 1);
    List<String> keys = keys(topic, 0, 20);
    for (int i = 0; i < messages / 20; i++) {
      send(new Shard(topic.id(), 0), Compression.LZ4, keys, i + "x".repeat(50));
    }
    return topic;
  }

  private double figure(String name, String... labels) throws Exception {
    get(Meters.of(bench.vertx).refresh());
    return PrometheusText.parse(bench.registry.scrape()).value(name, labels);
  }

  /** A log group that does not answer holds up only shards that need it, until it is back. */
  @Test
  void aShardThatCannotMoveHoldsUpNoOtherAndIsSeen() throws Exception {
    begin(4, "n1");
    create("free", 40);
    TopicInfo stuck = create("stuck", 60);
    TopicInfo freeNow = resharded("free");
    TopicInfo stuckNow = resharded("stuck");
    int silent = groupOf(stuckNow, 2);
    assertThat(freeNow.all()).noneMatch(shard -> bench.groupOf(shard) == silent);
    assertThat(groupOf(stuck, 0)).isNotEqualTo(silent);
    bench.cluster.group("d" + silent).hold();
    moveNow();
    await().until(() -> waiting(freeNow, true) == 0);
    assertThat(waiting(freeNow, false)).isEqualTo(40);
    assertThat(waiting(stuckNow, true)).isEqualTo(60);
    Wait.untilAsserted(() -> assertThat(figure("evenkeel_delay_move_failures_total")).isPositive());
    assertThat(figure("evenkeel_topic_delayed_sealed_messages", "topic", "stuck")).isEqualTo(60);
    assertThat(figure("evenkeel_topic_delayed_sealed_messages", "topic", "free")).isZero();
    bench.cluster.group("d" + silent).release();
    await().until(() -> waiting(stuckNow, true) == 0);
    assertThat(waiting(stuckNow, false)).isEqualTo(60);
  }

  /** What a former leader sent, and did not drop, is not there twice. */
  @Test
  void anotherLeaderGoesOnInTheMiddle() throws Exception {
    begin(4, "n1", "n2");
    TopicInfo topic = create("handed", 400);
    TopicInfo now = resharded("handed");
    int silent = groupOf(now, 2);
    bench.cluster.group("d" + silent).hold();
    moveNow();
    // It has sent a part, and waits for the answer about the other one.
    await().until(() -> bench.cluster.group("d" + silent).held() > 0);
    bench.cluster.group("d" + groupOf(topic, 0)).lead("n2", true);
    bench.cluster.group("d" + silent).release();
    await().until(() -> waiting(now, true) == 0);
    assertThat(waiting(now, false)).isEqualTo(400);
    for (int shard = 1; shard <= 2; shard++) {
      List<String> keys = keysOf(new Shard(now.id(), shard));
      times(keys.size(), i -> assertThat(keys.get(i)).isEqualTo(keys.get(i % (keys.size() / 20))));
    }
  }

  /** In most clusters, several nodes lead the log groups of a topic. */
  @Test
  void messagesMoveToShardsThatAnotherNodeLeads() throws Exception {
    begin(4, "n1", "n2");
    TopicInfo topic = create("spread", 60);
    TopicInfo now = resharded("spread");
    int there = groupOf(now, 2);
    assertThat(there).isNotEqualTo(groupOf(topic, 0));
    bench.cluster.group("d" + there).lead("n2", true);
    moveNow();
    await().until(() -> waiting(now, true) == 0);
    assertThat(waiting(now, false)).isEqualTo(60);
  }

  /** They were paid for when they were sent. */
  @Test
  void movesSpendNoQuota() throws Exception {
    begin(2, "n1");
    create("paid", 400);
    TopicInfo now = resharded("paid");
    Bytes body = new Bytes();
    CommandCodec.write(
        body, new MetaCommand.SetQuota(new Quota(QuotaKind.TOPIC, "paid", 0, 1, 60_000)));
    bench.control(Op.SUBMIT_META, body);
    moveNow();
    await().until(() -> waiting(now, true) == 0);
    assertThat(waiting(now, false)).isEqualTo(400);
  }
}
