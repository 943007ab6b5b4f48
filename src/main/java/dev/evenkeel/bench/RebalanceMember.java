package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandOptions;
import dev.evenkeel.cli.CredentialOptions;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.StopSignal;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * One consumer of {@code bench rebalance}, in a process of its own, so that it can be stopped,
 * killed and frozen. It prints a {@link HandledLine} for each message.
 */
@Command(
    name = "rebalance-member",
    hidden = true,
    description = "One consumer of bench rebalance, which starts it.",
    footer = "  evenkeel bench rebalance-member --topic t --group g --member m1")
final class RebalanceMember implements Callable<Integer> {
  private static final long STOP_MILLIS_MAX = 20_000;

  private final CommandOptions flags = new CommandOptions();

  private final Supplier<List<String>> cluster =
      flags.texts("--cluster", "HOST:PORT", "127.0.0.1:5701", "Nodes to join by");

  private final Supplier<String> topic = flags.required("--topic", "TOPIC", "What to read.");
  private final Supplier<String> group = flags.required("--group", "G", "Group to join.");
  private final Supplier<String> member = flags.required("--member", "NAME", "Name in it.");

  private final Supplier<ConsumerOptions.Order> order =
      flags.constant(
          "--order", "shard|key|none", ConsumerOptions.Order.class, "key", "What is kept in order");

  private final Supplier<Long> workMillis =
      flags.time("--work", "1ms", "How long each message takes");

  private final Supplier<Long> memberTimeoutMillis =
      flags.time("--member-timeout", "5s", "After how long without a heartbeat it is lost");

  @Mixin private CredentialOptions credentials;

  private final CountDownLatch stop = new CountDownLatch(1);

  CommandLine line() {
    return flags.addTo(new CommandLine(this));
  }

  @Override
  public Integer call() throws Exception {
    Logging.client();
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup(group.get())
            .setMember(member.get())
            .setTopics(List.of(topic.get()))
            .setOrder(order.get())
            .setMemberTimeoutMillis(memberTimeoutMillis.get());
    StopSignal signal = StopSignal.install(stop::countDown, STOP_MILLIS_MAX);
    return ClientConnection.run(
        credentials.on(new ClientOptions().setSeeds(cluster.get())),
        signal,
        client -> {
          Vertx vertx = client.vertx();
          ClientConnection.await(client.consumer(options, delivery -> handle(vertx, delivery)))
              .onEnd(why -> stop.countDown());
          stop.await();
          return ExitStatus.DONE;
        });
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    if (workMillis.get() == 0) {
      print(delivery);
      return Future.succeededFuture();
    }
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        workMillis.get(),
        timer -> {
          print(delivery);
          done.complete();
        });
    return done.future();
  }

  private static synchronized void print(Delivery delivery) {
    System.out.println(
        HandledLine.format(
            delivery.shard(), delivery.offset(), delivery.epoch(), delivery.message().payload()));
  }
}
