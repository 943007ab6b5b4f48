package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.Options;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.client.internal.member.FakeCluster;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Murmur2;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Handlers that publish, in a whole consumer with a cluster that is faked behind its link. */
class ContextHandlerTest {
  private static final int SHARDS = 4;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeCluster cluster = new FakeCluster(vertx, SHARDS);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(cluster);
  @Closing private Consumer consumer;

  private void start(ConsumerOptions.Order order, ContextHandler handler) {
    ConsumerOptions options =
        Options.member("g", "m", "t")
            .setHeartbeatMillis(100)
            .setMemberTimeoutMillis(3_000)
            .setCommitMillis(100)
            .setOrder(order)
            .setRetryDelaysMillis(List.of(10L, 10L))
            .setDelivery(ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE);
    consumer = await(Consumers.start(cluster, directory, options, handler));
    cluster.append(0, inputs(40));
    cluster.grant(0, null, -1);
  }

  private static List<Message> inputs(int count) {
    List<Message> messages = new ArrayList<>();
    times(count, i -> messages.add(new Message(null, Map.of(), 1_000 + i, new byte[] {(byte) i})));
    return messages;
  }

  /** A key of a shard that is not consumed here. */
  private static String key(int number) {
    for (int i = number * 1_000; ; i++) {
      String key = "k" + i;
      if (Murmur2.shard(key.getBytes(StandardCharsets.UTF_8), SHARDS) != 0) {
        return key;
      }
    }
  }

  private List<Long> publishedBy(int shard) {
    return cluster.published().stream()
        .filter(item -> item.shard().shard() == shard)
        .map(item -> item.batch().firstSequence() >> 16)
        .toList();
  }

  @Test
  void outputsLeaveInTheOrderOfInputsBeforeTheseAreCommitted() {
    List<Promise<Void>> open = new CopyOnWriteArrayList<>();
    start(
        ConsumerOptions.Order.NONE,
        (delivery, context) -> {
          context.publish("t", key((int) delivery.offset()), Buffer.buffer("out"));
          Promise<Void> end = Promise.promise();
          open.add(end);
          return end.future();
        });
    Awaitility.await().until(() -> open.size() == 16);
    for (int i = 15; i > 0; i--) {
      open.get(i).complete();
    }
    assertThat(cluster.published()).isEmpty();
    open.get(0).complete();
    Wait.until(
        () -> {
          open.forEach(Promise::tryComplete);
          return cluster.lease(0).committed() == 40;
        });
    assertThat(cluster.published()).hasSize(40);
    for (int shard = 1; shard < SHARDS; shard++) {
      assertThat(publishedBy(shard)).isSorted().doesNotHaveDuplicates();
    }
    AppendBody.Item first = cluster.published().get(0);
    assertThat(first.batch().producerId()).isEqualTo(77);
    assertThat(first.batch().producerEpoch()).isEqualTo(1);
    List<Class<?>> commands = new ArrayList<>();
    cluster.commands().subList(0, 3).forEach(command -> commands.add(command.getClass()));
    assertThat(commands)
        .as("all is open before the first message")
        .containsExactly(
            DataCommand.OpenPublisher.class,
            DataCommand.OpenPublisher.class,
            DataCommand.SetPublisher.class);
  }

  @Test
  void anAttemptThatFailsPublishesNothing() {
    start(
        ConsumerOptions.Order.KEY,
        (delivery, context) -> {
          context.publish("t", key(7), Buffer.buffer("attempt " + delivery.attempt()));
          return delivery.attempt() == 1 && delivery.offset() % 8 == 3
              ? Future.failedFuture("no")
              : Future.succeededFuture();
        });
    Awaitility.await().until(() -> cluster.lease(0).committed() == 40);
    assertThat(cluster.published()).hasSize(40);
    int shard = cluster.published().get(0).shard().shard();
    assertThat(publishedBy(shard)).hasSize(40).isSorted().doesNotHaveDuplicates();
  }

  /** Its client hears of topics from time to time only, and that is no fault of the message. */
  @Test
  void aTopicThatWasJustCreatedCostsNoAttempt() {
    List<Integer> attempts = new CopyOnWriteArrayList<>();
    AtomicBoolean created = new AtomicBoolean();
    start(
        ConsumerOptions.Order.KEY,
        (delivery, context) -> {
          attempts.add(delivery.attempt());
          if (created.compareAndSet(false, true)) {
            cluster.createTopic(8, "late");
          }
          context.publish("late", null, Buffer.buffer("out"));
          return Future.succeededFuture();
        });
    Awaitility.await().until(() -> cluster.lease(0).committed() == 40);
    assertThat(attempts).containsOnly(1);
    assertThat(cluster.published()).hasSize(40);
  }

  /** Each attempt counts once it is certain that there is no such topic. */
  @Test
  void aTopicThatDoesNotExistIsAFaultOfTheMessage() {
    List<Integer> attempts = new CopyOnWriteArrayList<>();
    start(
        ConsumerOptions.Order.SHARD,
        (delivery, context) -> {
          if (delivery.offset() == 0) {
            attempts.add(delivery.attempt());
            context.publish("nowhere", null, Buffer.buffer("out"));
          }
          return Future.succeededFuture();
        });
    Awaitility.await().until(() -> cluster.lease(0).committed() == 40);
    assertThat(attempts).contains(1, 2, 3).isSorted();
    assertThat(cluster.published()).isEmpty();
  }

  @Test
  void aContextKnowsItsLimits() {
    AtomicReference<MessageContext> kept = new AtomicReference<>();
    List<Throwable> refusals = new CopyOnWriteArrayList<>();
    start(
        ConsumerOptions.Order.SHARD,
        (delivery, context) -> {
          if (delivery.offset() == 0) {
            kept.set(context);
            for (Runnable each :
                List.<Runnable>of(
                    () -> context.publish("nowhere", null, Buffer.buffer()),
                    () -> context.commit(Buffer.buffer("a lambda makes no use of state")))) {
              try {
                each.run();
              } catch (RefusedException e) {
                refusals.add(e);
              }
            }
          }
          return Future.succeededFuture();
        });
    Awaitility.await().until(() -> cluster.lease(0).committed() == 40);
    assertThat(refusals).hasSize(2);
    assertThat(refusals.get(0)).hasMessageContaining("there is no topic 'nowhere'");
    assertThat(refusals.get(1)).hasMessageContaining("overrides onAssign");
    assertThat(cluster.published()).isEmpty();
    Fails.with(IllegalStateException.class, () -> kept.get().publish("t", null, Buffer.buffer()));
  }
}
