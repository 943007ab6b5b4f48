package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a consumer asks that its group forgets a topic. */
class UnsubscribingTest {
  private final Promise<Buffer> first = Promise.promise();
  private final AtomicInteger asked = new AtomicInteger();
  private Vertx vertx;
  private FakeCluster cluster;
  private ClusterDirectory directory;

  @BeforeEach
  void begin() {
    vertx = Vertx.vertx();
    cluster = new FakeCluster(vertx, 1);
    cluster.createTopic(2, "u");
    directory = new ClusterDirectory(cluster);
    cluster.serve(
        Addresses.groups("n1"),
        request ->
            asked.incrementAndGet() == 1
                ? first.future()
                : Future.succeededFuture(Frames.answer(new byte[0])));
  }

  @AfterEach
  void end() {
    directory.close();
    await(vertx.close());
  }

  private Consumer start(String... topics) {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("g")
            .setTopics(List.of(topics))
            .setHeartbeatMillis(100)
            .setMemberTimeoutMillis(3_000);
    return await(
        Consumers.start(cluster, directory, options, delivery -> Future.succeededFuture()));
  }

  private void refuseFirst() {
    first.complete(Frames.refusal(Refusal.UNAVAILABLE, "it still subscribes"));
  }

  private Future<Boolean> leaves(Consumer consumer, String topic) {
    Future<Boolean> done = consumer.unsubscribe(topic);
    Awaitility.await().until(() -> asked.get() == 1);
    return done;
  }

  private void assertGivenUp(Future<Boolean> done) {
    Awaitility.await().until(done::isComplete);
    assertThat(done.cause()).hasMessageContaining("it is not known whether");
    assertThat(asked).hasValue(1);
  }

  @Test
  void aTopicThatAPatternStillMatchesIsNotForgotten() {
    first.complete(Frames.answer(new byte[0]));
    Consumer consumer = start("t", "u*", "u");
    assertThat(await(consumer.unsubscribe("u"))).isFalse();
    assertThat(asked).hasValue(0);
    await(consumer.close());
  }

  @Test
  void itAsksUntilTheGroupForgetsTheTopic() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    refuseFirst();
    assertThat(await(done)).isTrue();
    await(consumer.close());
  }

  @Test
  void itDoesNotAskAgainOnceItReadsTheTopicAgain() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    await(consumer.subscribe("u"));
    refuseFirst();
    assertGivenUp(done);
    await(consumer.close());
  }

  @Test
  void itDoesNotAskAgainOnceItHasEnded() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    await(consumer.close());
    refuseFirst();
    assertGivenUp(done);
  }
}
