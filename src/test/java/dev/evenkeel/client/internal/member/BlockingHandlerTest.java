package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.BlockingHandler;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ConsumerOptions.WorkerThreads;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Handlers that block, with a cluster that is faked behind their link. */
class BlockingHandlerTest extends MemberBench {
  BlockingHandlerTest() {
    super(4);
  }

  @Test
  void messagesOfAShardKeepTheirOrderAndShardsRunAtTheSameTime() {
    List<Long> first = new CopyOnWriteArrayList<>();
    CountDownLatch both = new CountDownLatch(2);
    BlockingHandler handler =
        delivery -> {
          both.countDown();
          both.await();
          if (delivery.shard() == 0) {
            first.add(delivery.offset());
          }
        };
    append(0, 50);
    append(1, 50);
    Consumer consumer = start(options(), handler);
    cluster.grant(0, null, -1);
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> consumer.consumed() == 100);
    for (int i = 0; i < 50; i++) {
      assertThat(first.get(i)).isEqualTo(i);
    }
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(50);
    assertThat(cluster.lease(1).committed()).isEqualTo(50);
  }

  @Test
  void neverMoreThanParallelAtATime() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Semaphore ends = new Semaphore(0);
    Set<String> threads = ConcurrentHashMap.newKeySet();
    BlockingHandler handler =
        delivery -> {
          threads.add(Thread.currentThread().getName());
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          ends.acquire();
          running.decrementAndGet();
        };
    append(0, 40);
    Consumer consumer = start(options().setOrder(Order.NONE).setParallel(4), handler);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> running.get() == 4);
    ends.release(40);
    Awaitility.await().until(() -> consumer.consumed() == 40);
    assertThat(most).hasValue(4);
    assertThat(threads).hasSizeLessThanOrEqualTo(4).allMatch(name -> name.contains("g/m"));
    await(consumer.close());
  }

  @Test
  void whatIsThrownMakesAMessageFailAndItComesAgain() {
    List<Integer> attempts = new CopyOnWriteArrayList<>();
    BlockingHandler handler =
        delivery -> {
          attempts.add(delivery.attempt());
          if (delivery.attempt() < 3) {
            throw new java.io.IOException("no database");
          }
        };
    append(0, 1);
    Consumer consumer = start(options().setRetryDelaysMillis(List.of(1L, 1L, 1L)), handler);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> consumer.consumed() == 1);
    assertThat(attempts).containsExactly(1, 2, 3);
    await(consumer.close());
  }

  /** Tells on which threads it is called. */
  private static final class Threads implements BatchHandler {
    final Map<String, Boolean> onEventLoop = new ConcurrentHashMap<>();

    private void called(String method) {
      onEventLoop.put(method, Context.isOnEventLoopThread());
    }

    @Override
    public Future<Void> handleBatch(List<Delivery> batch) {
      called("handleBatch");
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      called("onAssign");
      return Future.succeededFuture();
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      called("onRelease");
      return null;
    }

    @Override
    public boolean keepsState() {
      return false;
    }

    @Override
    public boolean givesState() {
      return false;
    }

    @Override
    public void onCommitted(String topic, int shard, long offset) {
      called("onCommitted");
    }

    @Override
    public void onDraining(ShardContext shard) {
      called("onDraining");
    }
  }

  @Test
  void theOptionMovesWhatReturnsFuturesAndNothingElse() {
    Threads handler = new Threads();
    append(0, 10);
    Consumer consumer = start(options().setWorker(true), handler);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> consumer.consumed() == 10);
    await(consumer.close());
    assertThat(handler.onEventLoop)
        .containsEntry("handleBatch", false)
        .containsEntry("onAssign", false)
        .containsEntry("onRelease", false)
        .containsEntry("onCommitted", true);
  }

  @Test
  void aCareerMayBlockWithTheOption() {
    List<Boolean> onEventLoop = new CopyOnWriteArrayList<>();
    LeaderCareer career =
        new LeaderCareer() {
          @Override
          public Future<Void> inaugurate(LeaderContext context) {
            onEventLoop.add(Context.isOnEventLoopThread());
            return Future.succeededFuture();
          }

          @Override
          public Future<Void> execute(Delivery message) {
            onEventLoop.add(Context.isOnEventLoopThread());
            return Future.succeededFuture();
          }

          @Override
          public Future<Void> handOver(LeaderContext context) {
            onEventLoop.add(Context.isOnEventLoopThread());
            return Future.succeededFuture();
          }
        };
    Workers workers = new Workers(options(), "test");
    WorkerCareer onWorkers = new WorkerCareer(career, workers);
    await(onWorkers.inaugurate(null));
    await(onWorkers.execute(new Delivery("t", 0, 0, Message.of("k", 0, new byte[1]), "m", 1, 1)));
    await(onWorkers.handOver(null));
    workers.close();
    assertThat(onEventLoop).containsExactly(false, false, false);
    assertThat(workers.running(new LeaderHandler(career))).isInstanceOf(LeaderHandler.class);
  }

  @Test
  void aHandlerThatBlocksTheEventLoopKeepsItsMember() {
    CountDownLatch end = new CountDownLatch(1);
    append(0, 1);
    Consumer consumer =
        start(
            options(),
            delivery -> {
              try {
                end.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return Future.succeededFuture();
            });
    cluster.grant(0, null, -1);
    int before = cluster.heartbeats().size();
    Awaitility.await("heartbeats go on").until(() -> cluster.heartbeats().size() > before + 5);
    assertThat(consumer.consumed()).isZero();
    end.countDown();
    Awaitility.await().until(() -> consumer.consumed() == 1);
    await(consumer.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(1);
  }

  @Test
  void virtualThreadsWhereJavaHasThem() {
    ConsumerOptions options = options().setWorkerThreads(WorkerThreads.VIRTUAL);
    if (Runtime.version().feature() < 21) {
      assertThatThrownBy(() -> start(options, delivery -> Future.succeededFuture()))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("Java " + Runtime.version().feature() + " has no virtual threads");
      return;
    }
    Workers workers = new Workers(options, "test");
    String thread =
        await(workers.message(() -> Future.succeededFuture(Thread.currentThread().toString())));
    workers.close();
    assertThat(thread).startsWith("VirtualThread").contains("test-1");
  }

  @Test
  void aStreamHasNoWorkers() {
    assertThatThrownBy(
            () ->
                await(
                    HandlerStream.start(
                        cluster, directory, options().setWorker(true), Finishing.AUTOMATIC, null)))
        .hasMessageContaining("worker is set for a stream");
  }
}
