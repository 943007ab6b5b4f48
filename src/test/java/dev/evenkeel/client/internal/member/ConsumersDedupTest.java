package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Consumers with dedup, whose cluster is faked behind their link. */
class ConsumersDedupTest extends MemberBench {
  private final FakeSeat seat = new FakeSeat();

  ConsumersDedupTest() {
    super(4);
  }

  @Override
  ConsumerOptions options() {
    return super.options()
        .setDedup(ConsumerOptions.Dedup.PAYLOAD)
        .setOrder(ConsumerOptions.Order.NONE)
        .setMemberTimeoutMillis(60_000)
        .setCommitMillis(50);
  }

  @Override
  Future<Consumer> starting(ConsumerOptions options, ConsumerHandler handler) {
    return Consumers.start(cluster, directory, options, handler, "run", id -> seat);
  }

  private void append(int shard, String... payloads) {
    cluster.append(
        shard,
        Stream.of(payloads)
            .map(each -> new Message(null, Map.of(), 1, each.getBytes(StandardCharsets.UTF_8)))
            .toList());
  }

  /** A handler whose messages end when the test says so. */
  private static class Held implements ConsumerHandler {
    final List<Delivery> begun = new CopyOnWriteArrayList<>();
    final List<Promise<Void>> ends = new CopyOnWriteArrayList<>();
    final List<Long> declined = new CopyOnWriteArrayList<>();

    @Override
    public Future<Void> handle(Delivery delivery) {
      Promise<Void> end = Promise.promise();
      ends.add(end);
      begun.add(delivery);
      return end.future();
    }

    @Override
    public void onDeclined(Delivery delivery) {
      declined.add(delivery.offset());
    }

    void awaitBegun(int count) {
      Awaitility.await().until(() -> begun.size() == count);
    }
  }

  @Test
  void oneWorksOneWaitsAndFurtherOnesAreDeclined() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    append(0, "a", "a", "a", "b", "a");
    cluster.grant(0, null, -1);
    handler.awaitBegun(2);
    Awaitility.await().until(() -> handler.declined.size() == 2);
    assertThat(handler.declined).containsExactly(2L, 4L);
    assertThat(handler.begun).extracting(Delivery::offset).containsExactly(0L, 3L);
    handler.ends.get(1).complete();
    handler.ends.get(0).complete();
    // Only now, after those that were declined for its sake.
    handler.awaitBegun(3);
    assertThat(handler.begun.get(2).offset()).isEqualTo(1);
    assertThat(cluster.lease(0).committed()).isLessThanOrEqualTo(1);
    handler.ends.get(2).complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 5);
    assertThat(consumer.consumed()).isEqualTo(5);
    Awaitility.await().until(() -> seat.keys() == 0);
    Wait.untilAsserted(
        () ->
            assertThat(lastHeartbeat().dedupTally().counts())
                .isEqualTo(Figures.of(GroupFigure.Section.DEDUP, 2, 1, 2, 0, 0, 0, 0, 0)));
    assertThat(lastHeartbeat().dedupTally().hot())
        .singleElement()
        .satisfies(
            hot -> {
              assertThat(hot.declined()).isEqualTo(2);
              assertThat(hot.key()).as("a digest, no payload").matches("#[0-9a-f]{16}");
            });
    await(consumer.close());
  }

  private Heartbeat lastHeartbeat() {
    List<Heartbeat> all = cluster.heartbeats();
    return all.get(all.size() - 1);
  }

  @Test
  void aFailureFreesTheKey() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    append(0, "a", "a");
    cluster.grant(0, null, -1);
    handler.awaitBegun(1);
    handler.ends.get(0).fail("broken");
    handler.awaitBegun(2);
    assertThat(handler.begun.get(1).offset()).isEqualTo(1);
    handler.ends.get(1).complete();
    handler.awaitBegun(3);
    assertThat(handler.begun.get(2).offset()).isEqualTo(0);
    assertThat(handler.begun.get(2).attempt()).isEqualTo(2);
    handler.ends.get(2).complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 2);
    await(consumer.close());
  }

  @Test
  void aDeclineThatComesAfterTheShardWentCountsForNothing() {
    Held handler = new Held();
    Consumer consumer = start(options().setDedup(ConsumerOptions.Dedup.PAYLOAD), handler);
    append(0, "a", "a");
    append(1, "a", "b");
    cluster.grant(0, null, -1);
    handler.awaitBegun(1);
    seat.keep();
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> seat.kept() >= 2);
    cluster.steal(1);
    Awaitility.await().until(() -> consumer.ownedShards() == 1);
    seat.give();
    handler.ends.get(0).complete();
    handler.awaitBegun(2);
    handler.ends.get(1).complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 2);
    // What it had asked for the other shard was given back, too.
    Awaitility.await().until(() -> seat.keys() == 0);
    assertThat(handler.declined).isEmpty();
    assertThat(handler.begun).extracting(Delivery::shard).containsExactly(0, 0);
    assertThat(cluster.lease(1).committed()).isZero();
    assertThat(consumer.consumed()).isEqualTo(2);
    await(consumer.close());
    assertThat(lastHeartbeat().dedupTally().counts().count(GroupFigure.DEDUP_DECLINED)).isZero();
  }

  @Test
  void closingGivesBackWhatWaits() {
    Held handler = new Held();
    Consumer consumer = start(handler);
    append(0, "a", "a");
    cluster.grant(0, null, -1);
    handler.awaitBegun(1);
    Wait.until(() -> lastHeartbeat().dedupTally().counts().count(GroupFigure.DEDUP_WAITING) == 1);
    Future<Void> closed = consumer.close();
    handler.ends.get(0).complete();
    await(closed);
    Awaitility.await().until(() -> seat.keys() == 0);
    assertThat(cluster.lease(0).committed()).isEqualTo(1);
    assertThat(handler.begun).hasSize(1);
  }

  @Test
  void aLaneIsHeldAlone() {
    Held handler = new Held();
    Consumer consumer = start(options().setOrder(ConsumerOptions.Order.SHARD), handler);
    append(0, "a");
    append(1, "a", "b");
    append(2, "c");
    cluster.grant(0, null, -1);
    handler.awaitBegun(1);
    cluster.grant(1, null, -1);
    cluster.grant(2, null, -1);
    handler.awaitBegun(2);
    assertThat(handler.begun.get(1).shard()).isEqualTo(2);
    handler.ends.get(0).complete();
    handler.awaitBegun(3);
    assertThat(handler.begun.get(2).shard()).isEqualTo(1);
    assertThat(handler.begun.get(2).offset()).isZero();
    handler.ends.get(1).complete();
    handler.ends.get(2).complete();
    handler.awaitBegun(4);
    handler.ends.get(3).complete();
    Awaitility.await().until(() -> cluster.lease(1).committed() == 2);
    await(consumer.close());
  }

  @Test
  void theApplicationMaySayWhatIsTheSame() {
    Held handler =
        new Held() {
          @Override
          public byte[] dedupKey(Message message) {
            String text = new String(message.payload(), StandardCharsets.UTF_8);
            return text.startsWith("-")
                ? null
                : text.substring(0, 1).getBytes(StandardCharsets.UTF_8);
          }
        };
    Consumer consumer = start(handler);
    append(0, "a1", "-", "a2", "-", "a3");
    cluster.grant(0, null, -1);
    handler.awaitBegun(3);
    Awaitility.await().until(() -> handler.declined.size() == 1);
    assertThat(handler.begun).extracting(Delivery::offset).containsExactlyInAnyOrder(0L, 1L, 3L);
    assertThat(handler.declined).containsExactly(4L);
    handler.ends.forEach(Promise::complete);
    handler.awaitBegun(4);
    handler.ends.get(3).complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 5);
    await(consumer.close());
  }

  @Test
  void aStreamSeesWhatWasDeclined() {
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    List<Delivery> declined = new CopyOnWriteArrayList<>();
    ConsumerStream stream =
        await(
            HandlerStream.start(
                handler -> starting(options(), handler), ConsumerStream.Finishing.MANUAL, null));
    stream.declinedHandler(declined::add).handler(seen::add);
    append(0, "a", "a", "a");
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> seen.size() == 1 && declined.size() == 1);
    assertThat(declined.get(0).offset()).isEqualTo(2);
    stream.finish(seen.get(0));
    Awaitility.await().until(() -> seen.size() == 2);
    stream.finish(seen.get(1));
    Awaitility.await().until(() -> cluster.lease(0).committed() == 3);
    await(stream.close());
  }

  @Test
  void overALinkThatIsNoMemberANodeCarriesItOut() {
    SharedBucket bucket = new SharedBucket();
    cluster.serve(
        Addresses.DEDUP_STEPS,
        body -> {
          ByteReader in = new ByteReader(body.getBytes());
          assertThat(in.text()).isEqualTo(cluster.clusterMember());
          SharedBucket.Replies replies =
              bucket.apply(SharedCodec.steps(in.raw(in.remaining())), 1_000, 1_000);
          Bytes answer = new Bytes().i64(1_000).raw(SharedCodec.replies(replies));
          return Future.succeededFuture(Frames.answer(answer.view()));
        });
    Held handler = new Held();
    Consumer consumer = await(super.starting(options(), handler));
    append(0, "a", "a", "a");
    cluster.grant(0, null, -1);
    handler.awaitBegun(1);
    Awaitility.await().until(() -> handler.declined.size() == 1);
    handler.ends.get(0).complete();
    handler.awaitBegun(2);
    handler.ends.get(1).complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 3);
    Awaitility.await().until(() -> bucket.keys() == 0);
    await(consumer.close());
  }

  @Test
  void withoutDedupRepetitionIsTold() {
    ConsumerOptions options = options().setDedup(ConsumerOptions.Dedup.OFF);
    Consumer consumer = start(options, delivery -> Future.succeededFuture());
    String[] same = Stream.generate(() -> "same").limit(100).toArray(String[]::new);
    append(0, same);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> lastHeartbeat().dedupTally().repeats() != null);
    Wait.until(() -> lastHeartbeat().dedupTally().repeats().observedMessages() == 100);
    DedupTally tally = lastHeartbeat().dedupTally();
    assertThat(tally.counts()).isEqualTo(Figures.NONE);
    assertThat(tally.repeats().level()).isEqualTo("high");
    assertThat(tally.repeats().smallestDistance()).isEqualTo(1);
    assertThat(tally.repeats().declinedShare()).isGreaterThan(0.8);
    await(consumer.close());
  }

  @Test
  void whatCannotBeIsRefused() {
    refused(options().setMode(ConsumerOptions.Mode.LEVEL), "only mode sharded has it");
    refused(options().setDedupTimeoutMillis(999), "at least 1000");
    refused(
        options().setDedup(ConsumerOptions.Dedup.OFF).setDedupTimeoutMillis(5_000),
        "without dedup nothing has one");
  }

  private void refused(ConsumerOptions options, String why) {
    assertThatThrownBy(() -> start(options, delivery -> Future.succeededFuture()))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(why);
  }
}
