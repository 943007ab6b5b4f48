package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Wait;
import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.Rate;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Consumers whose handler takes batches, with a cluster that is faked behind their link. */
class BatchHandlerTest extends MemberBench {
  BatchHandlerTest() {
    super(4);
  }

  /** Each batch and each single message ends when the test says so. */
  private static final class BatchesWithContext implements ContextHandler, BatchHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handleBatch(List<Delivery> batch) {
      return Future.succeededFuture();
    }
  }

  private static class Held implements BatchHandler {
    record Call(boolean alone, List<Delivery> batch, Promise<Void> end) {
      List<Long> offsets() {
        return batch.stream().map(Delivery::offset).toList();
      }
    }

    final List<Call> calls = new CopyOnWriteArrayList<>();

    @Override
    public Future<Void> handleBatch(List<Delivery> batch) {
      return add(new Call(false, batch, Promise.promise()));
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      return add(new Call(true, List.of(delivery), Promise.promise()));
    }

    private Future<Void> add(Call call) {
      calls.add(call);
      return call.end.future();
    }

    Call await(int number) {
      Awaitility.await().until(() -> calls.size() > number);
      return calls.get(number);
    }
  }

  private static List<Long> range(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  void oneBatchOfAShardAtATimeInOrder() {
    Held handler = new Held();
    append(0, 25);
    append(1, 5);
    Consumer consumer = start(options().setBatchMessages(10), handler);
    cluster.grant(0, null, -1);
    assertThat(handler.await(0).offsets()).isEqualTo(range(0, 10));
    cluster.grant(1, null, -1);
    assertThat(handler.await(1).offsets()).as("the other shard").isEqualTo(range(0, 5));
    assertThat(handler.calls).hasSize(2);
    handler.await(0).end.complete();
    assertThat(handler.await(2).offsets()).isEqualTo(range(10, 20));
    Awaitility.await().until(() -> cluster.lease(0).committed() == 10);
    handler.await(2).end.complete();
    Held.Call rest = handler.await(3);
    assertThat(rest.offsets()).as("no batch waits to be full").isEqualTo(range(20, 25));
    assertThat(rest.batch).allMatch(each -> each.shard() == 0 && each.attempt() == 1);
    assertThatThrownBy(() -> rest.batch.remove(0))
        .isInstanceOf(UnsupportedOperationException.class);
    rest.end.complete();
    handler.await(1).end.complete();
    Awaitility.await().until(() -> consumer.consumed() == 30);
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(25);
    assertThat(cluster.lease(1).committed()).isEqualTo(5);
    assertThat(handler.calls).noneMatch(Held.Call::alone);
  }

  @Test
  void withoutOrderAShardHasSeveralBatchesWithinItsHandOut() {
    Held handler = new Held();
    append(0, 100);
    ConsumerOptions options =
        options()
            .setOrder(ConsumerOptions.Order.NONE)
            .setBatchMessages(20)
            .setHandOutMessages(50)
            .setParallel(8);
    Consumer consumer = start(options, handler);
    cluster.grant(0, null, -1);
    assertThat(handler.await(2).offsets()).isEqualTo(range(40, 50));
    handler.await(1).end.complete();
    assertThat(handler.await(3).offsets()).isEqualTo(range(50, 70));
    assertThat(handler.calls).hasSize(4);
    Future<Void> closed = consumer.close();
    Wait.until(
        () -> {
          handler.calls.forEach(call -> call.end.tryComplete());
          return closed.isComplete();
        });
    assertThat(cluster.lease(0).committed()).isEqualTo(70);
  }

  @Test
  void aBatchCountsAsOneHandler() {
    Held handler = new Held();
    append(0, 10);
    append(1, 10);
    ConsumerOptions options = options().setParallel(1);
    Consumer consumer = start(options, handler);
    cluster.grant(0, null, -1);
    assertThat(handler.await(0).batch).hasSize(10);
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> consumer.ownedShards() == 2);
    handler.await(0).end.complete();
    Held.Call second = handler.await(1);
    assertThat(second.batch).hasSize(10).allMatch(each -> each.shard() == 1);
    second.end.complete();
    await(consumer.close());
  }

  @Test
  void theMessagesOfAFailedBatchComeAgainOneByOneInOrder() {
    Held handler = new Held();
    append(0, 5);
    ConsumerOptions options = options().setRetryDelaysMillis(List.of(50L));
    Consumer consumer = start(options, handler);
    cluster.grant(0, null, -1);
    handler.await(0).end.fail("as a whole");
    for (int i = 1; i <= 2; i++) {
      Held.Call single = handler.await(i);
      assertThat(single.alone).isTrue();
      assertThat(single.offsets()).containsExactly(i - 1L);
      assertThat(single.batch.get(0).attempt()).as("a failed batch is no attempt").isEqualTo(1);
      assertThat(handler.calls).as("one after another").hasSize(i + 1);
      if (i == 1) {
        single.end.complete();
      }
    }
    handler.await(2).end.fail("the second one");
    Held.Call again = handler.await(3);
    assertThat(again.offsets()).containsExactly(1L);
    assertThat(again.batch.get(0).attempt()).isEqualTo(2);
    again.end.complete();
    append(0, 3);
    for (int i = 4; i <= 6; i++) {
      assertThat(handler.await(i).alone).isTrue();
      assertThat(handler.await(i).offsets()).containsExactly(i - 2L);
      handler.await(i).end.complete();
    }
    Held.Call later = handler.await(7);
    assertThat(later.alone).isFalse();
    assertThat(later.offsets()).isEqualTo(range(5, 8));
    later.end.complete();
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(8);
  }

  @Test
  void aHandlerThatThrowsFailsItsBatch() {
    List<Long> single = new CopyOnWriteArrayList<>();
    append(0, 4);
    ConsumerHandler handler =
        new BatchHandler() {
          @Override
          public Future<Void> handleBatch(List<Delivery> batch) {
            throw new IllegalStateException("broken");
          }

          @Override
          public Future<Void> handle(Delivery delivery) {
            single.add(delivery.offset());
            return Future.succeededFuture();
          }
        };
    Consumer consumer = start(handler);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> cluster.lease(0).committed() == 4);
    assertThat(single).containsExactly(0L, 1L, 2L, 3L);
    await(consumer.close());
  }

  @Test
  void aLambdaHandlesSingleMessagesToo() {
    List<Integer> sizes = new CopyOnWriteArrayList<>();
    append(0, 3);
    BatchHandler handler =
        batch -> {
          sizes.add(batch.size());
          return batch.size() == 3 ? Future.failedFuture("too many") : Future.succeededFuture();
        };
    Consumer consumer = start(handler);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> cluster.lease(0).committed() == 3);
    assertThat(sizes).containsExactly(3, 1, 1, 1);
    await(consumer.close());
  }

  @Test
  void aHandOverWaitsForTheBatchThatRunsAndNothingComesTwice() {
    Held handler = new Held();
    append(0, 30);
    Consumer consumer = start(options().setBatchMessages(10), handler);
    cluster.grant(0, null, -1);
    handler.await(0);
    cluster.drain(0);
    handler.await(0).end.complete();
    Awaitility.await().until(() -> !cluster.lease(0).owned());
    assertThat(cluster.lease(0).committed()).isEqualTo(10);
    assertThat(handler.calls).hasSize(1);
    await(consumer.close());
  }

  @Test
  void aBatchThatFailsDuringAHandOverGoesToTheNextOwner() {
    for (Throwable failure : List.of(new IllegalStateException("x"), new GivenBackException("y"))) {
      Held handler = new Held();
      Consumer consumer = start(handler);
      append(0, 10);
      cluster.grant(0, null, -1);
      handler.await(0);
      Future<Void> closed = consumer.close();
      handler.await(0).end.fail(failure);
      await(closed);
      assertThat(cluster.lease(0).owned()).isFalse();
      assertThat(cluster.lease(0).committed()).isZero();
      assertThat(handler.calls).hasSize(1);
    }
  }

  @Test
  void aLostShardsBatchCountsForNothing() {
    Held handler = new Held();
    append(0, 10);
    Consumer consumer = start(handler);
    cluster.grant(0, null, -1);
    handler.await(0);
    cluster.steal(0);
    Awaitility.await().until(() -> consumer.ownedShards() == 0);
    handler.await(0).end.complete();
    await(consumer.close());
    assertThat(cluster.commands()).isEmpty();
  }

  @Test
  void aRateLimitsTheMessagesOfBatches() {
    Held handler = new Held();
    append(0, 20);
    // A minute for the next token: none comes while the test runs.
    ConsumerOptions options = options().setRate(new Rate(7, 420_000));
    Consumer consumer = start(options, handler);
    cluster.grant(0, null, -1);
    assertThat(handler.await(0).offsets()).isEqualTo(range(0, 7));
    handler.await(0).end.complete();
    Awaitility.await().until(() -> cluster.lease(0).committed() == 7);
    await(consumer.close());
    assertThat(handler.calls).hasSize(1);
  }

  @Test
  void optionsThatDoNotGoWithBatchesAreRefused() {
    BatchHandler batches = batch -> Future.succeededFuture();
    ConsumerHandler single = delivery -> Future.succeededFuture();
    assertThatCode(
            () -> {
              check(options().setBatchMessages(1), batches);
              check(options().setOrder(ConsumerOptions.Order.NONE), batches);
              check(options().setRate(Rate.parse("10/s")), batches);
              check(options().setMode(ConsumerOptions.Mode.SINGLETON), batches);
            })
        .doesNotThrowAnyException();
    assertThat(options().getBatchMessages()).isEqualTo(500);
    refused("batchMessages is given", options().setBatchMessages(10), single);
    refused("batchMessages is 0: at least 1", options().setBatchMessages(0), batches);
    refused("with order key", options().setOrder(ConsumerOptions.Order.KEY), batches);
    refused("in mode level", options().setMode(ConsumerOptions.Mode.LEVEL), batches);
    refused("with dedup", options().setDedup(ConsumerOptions.Dedup.PAYLOAD), batches);
    refused("or a keyRate", options().setKeyRate(Rate.parse("10/s")), batches);
    refused(
        "would be lost as a whole",
        options().setDelivery(ConsumerOptions.DeliveryPolicy.AT_MOST_ONCE),
        batches);
    refused("with a context", options(), new BatchesWithContext());
  }
}
