package dev.evenkeel.demo;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.ClusterOption;
import dev.evenkeel.cli.CommandErrors;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.StopSignal;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * One consumer of the demo, in a process of its own, so that it can be killed. It leaves cleanly
 * when its standard input ends, also because the demo was killed. It prints {@code joined}, and
 * {@code arrived SHARD COUNT} for each shard that it gets.
 */
@Command(
    name = "demo-member",
    hidden = true,
    description = "One consumer of the demo, which starts it; it leaves when its input ends.",
    footer = "  evenkeel demo-member c9 --cluster 127.0.0.1:5701")
final class DemoMemberCommand implements Callable<Integer> {
  private static final long LEAVE_MILLIS_MAX = 4_000;
  private static final long STOP_MILLIS_MAX = 6_000;
  private static final int PARALLEL = 16;

  @Parameters(index = "0", paramLabel = "NAME", description = "Name in the group.")
  private String name;

  @Mixin private ClusterOption cluster;

  private final CompletableFuture<Void> end = new CompletableFuture<>();

  @Override
  public Integer call() throws Exception {
    Logging.client();
    StopSignal signal = StopSignal.install(() -> end.complete(null), STOP_MILLIS_MAX);
    watchInput();
    return ClientConnection.run(cluster.options(), signal, this::work);
  }

  private void watchInput() {
    Daemon.start(
        "evenkeel-demo-input",
        () -> {
          try {
            System.in.transferTo(OutputStream.nullOutputStream());
          } catch (IOException e) {
            // The input is closed, which has the same meaning.
          }
          end.complete(null);
        });
  }

  private int work(EvenkeelClient client) throws InterruptedException {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup(DemoRun.GROUP)
            .setMember(name)
            .setTopics(List.of(DemoRun.TOPIC))
            .setOrder(ConsumerOptions.Order.KEY)
            .setParallel(PARALLEL);
    Consumer consumer =
        ClientConnection.await(client.consumer(options, new CountingHandler(client.vertx())));
    consumer.onEnd(end::completeExceptionally);
    print("joined");
    try {
      end.get();
    } catch (ExecutionException e) {
      throw CommandErrors.failure(e.getCause());
    }
    leave(consumer);
    return ExitStatus.DONE;
  }

  private static void leave(Consumer consumer) throws InterruptedException {
    CompletableFuture<Void> left =
        consumer.close(LEAVE_MILLIS_MAX).toCompletionStage().toCompletableFuture();
    try {
      left.get(LEAVE_MILLIS_MAX + 1_000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // The cluster gives the shards to others when it misses this member.
      return;
    }
  }

  private static synchronized void print(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /**
   * Works a little on each message and counts the messages of each shard. The count is the state of
   * the shard and moves with it. Use it on the consumer's context only.
   */
  private static final class CountingHandler implements ConsumerHandler {
    /** The longest work on a message; the shortest is 1 ms. */
    private static final int WORK_MILLIS_MAX = 4;

    private final Vertx vertx;
    private final RandomGenerator random = new SplittableRandom();
    private final Map<Integer, Long> counts = new HashMap<>();

    CountingHandler(Vertx vertx) {
      this.vertx = vertx;
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      Promise<Void> done = Promise.promise();
      vertx.setTimer(
          1 + random.nextInt(WORK_MILLIS_MAX),
          timer -> {
            counts.merge(delivery.shard(), 1L, Long::sum);
            done.complete();
          });
      return done.future();
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      long count = state == null || state.length() == 0 ? 0 : Long.parseLong(state.toString());
      counts.put(shard.shard(), count);
      print("arrived " + shard.shard() + " " + count);
      return Future.succeededFuture();
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      Long count = counts.remove(shard.shard());
      return Future.succeededFuture(Buffer.buffer(Long.toString(count == null ? 0 : count)));
    }

    @Override
    public void onLost(ShardContext shard) {
      counts.remove(shard.shard());
    }
  }
}
