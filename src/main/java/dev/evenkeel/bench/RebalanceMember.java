package dev.evenkeel.bench;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One consumer of {@code bench rebalance}, in a process of its own, so that it can be stopped,
 * killed and held for real. It tells of each message in a line: see {@link HandledLine}.
 */
@Command(
    name = "rebalance-member",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "One consumer of bench rebalance, which starts it.",
    footer = {"", "Example:", "  evenkeel bench rebalance-member --topic t --group g --member m1"})
final class RebalanceMember implements Callable<Integer> {
  private static final long START_SECONDS_MAX = 60;
  private static final long LEAVE_SECONDS_MAX = 20;

  @Option(
      names = "--cluster",
      paramLabel = "HOST:PORT",
      split = ",",
      defaultValue = "127.0.0.1:5701",
      description = "Nodes to join by (default: ${DEFAULT-VALUE}).")
  private List<String> cluster;

  @Option(names = "--topic", paramLabel = "TOPIC", required = true, description = "What to read.")
  private String topic;

  @Option(names = "--group", paramLabel = "G", required = true, description = "Group to join.")
  private String group;

  @Option(names = "--member", paramLabel = "NAME", required = true, description = "Name in it.")
  private String member;

  @Option(
      names = "--order",
      paramLabel = "shard|key|none",
      defaultValue = "key",
      description = "What is kept in order (default: ${DEFAULT-VALUE}).")
  private ConsumerOptions.Order order;

  @Option(
      names = "--work",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "1ms",
      description = "How long each message takes (default: ${DEFAULT-VALUE}).")
  private long workMillis;

  @Option(
      names = "--member-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "5s",
      description = "After how long without a heartbeat it is lost (default: ${DEFAULT-VALUE}).")
  private long memberTimeoutMillis;

  @Override
  public Integer call() throws Exception {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup(group)
            .setMember(member)
            .setTopics(List.of(topic))
            .setOrder(order)
            .setMemberTimeoutMillis(memberTimeoutMillis);
    Logging.client();
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAndAwait(stop, left)));
    int status = ExitStatus.FAILED;
    EvenkeelClient client = null;
    try {
      client = await(Evenkeel.connect(new ClientOptions().setSeeds(cluster)), START_SECONDS_MAX);
      Vertx vertx = client.vertx();
      await(client.consumer(options, delivery -> handle(vertx, delivery)), START_SECONDS_MAX)
          .onEnd(why -> stop.countDown());
      stop.await();
      status = ExitStatus.DONE;
    } finally {
      if (client != null) {
        await(client.close(), LEAVE_SECONDS_MAX);
      }
      left.countDown();
    }
    return status;
  }

  /** A signal: leaves in good order before the JVM ends. */
  private static void stopAndAwait(CountDownLatch stop, CountDownLatch left) {
    stop.countDown();
    try {
      if (!left.await(LEAVE_SECONDS_MAX, TimeUnit.SECONDS)) {
        System.err.println("evenkeel bench: a consumer could not leave in good order");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(ExitStatus.DONE);
  }

  private static <T> T await(Future<T> future, long seconds)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    if (workMillis == 0) {
      tell(delivery);
      return Future.succeededFuture();
    }
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        workMillis,
        timer -> {
          tell(delivery);
          done.complete();
        });
    return done.future();
  }

  private static synchronized void tell(Delivery delivery) {
    System.out.println(
        HandledLine.format(
            delivery.shard(), delivery.offset(), delivery.epoch(), delivery.message().payload()));
  }
}
