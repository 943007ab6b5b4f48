package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/** The base of tests of whole consumers: a plain Vert.x, and a cluster that is faked. */
abstract class MemberBench {
  @Closing final Vertx vertx = Vertx.vertx();
  final FakeCluster cluster;
  @Closing final ClusterDirectory directory;

  /** The numbers of the messages that were handled, if the test wants to know. */
  final List<Integer> seen = new CopyOnWriteArrayList<>();

  /** With topic {@code t}, of so many shards. */
  MemberBench(int shards) {
    cluster = new FakeCluster(vertx, shards);
    directory = new ClusterDirectory(cluster);
  }

  /** Those of member m of group g. */
  ConsumerOptions options() {
    return new ConsumerOptions()
        .setGroup("g")
        .setMember("m")
        .setTopics(List.of("t"))
        .setHeartbeatMillis(100)
        .setMemberTimeoutMillis(3_000)
        .setCommitMillis(200);
  }

  Consumer start(ConsumerHandler handler) {
    return start(options(), handler);
  }

  Consumer start(ConsumerOptions options, ConsumerHandler handler) {
    return await(starting(options, handler));
  }

  /** Shard 0 has ten messages, which the consumer has handled. */
  Consumer readsTen() {
    Consumer consumer = start(numbersTo(seen));
    grant(0, 0, 10);
    Awaitility.await().until(() -> seen.size() == 10);
    return consumer;
  }

  Future<Consumer> starting(ConsumerOptions options, ConsumerHandler handler) {
    return Consumers.start(cluster, directory, options, handler);
  }

  /** Waits until the future fails. */
  static Throwable failure(Future<?> future) {
    Awaitility.await().until(future::isComplete);
    return future.cause();
  }

  /** Messages whose payloads are the numbers from {@code from} on, with seven keys. */
  static List<Message> messages(int from, int count) {
    return IntStream.range(from, from + count)
        .mapToObj(
            i ->
                new Message(
                    ("k" + i % 7).getBytes(UTF_8), Map.of(), 1_000 + i, ("" + i).getBytes(UTF_8)))
        .toList();
  }

  /** The number that is the payload of one of {@link #messages}. */
  static int number(Delivery delivery) {
    return Integer.parseInt(new String(delivery.message().payload(), UTF_8));
  }

  /** Adds the number of each message to the list, and is done with it. */
  static ConsumerHandler numbersTo(List<Integer> seen) {
    return delivery -> {
      seen.add(number(delivery));
      return Future.succeededFuture();
    };
  }

  /** Whether the options, alone and with the handler, are taken. */
  static void check(ConsumerOptions options, ConsumerHandler handler) {
    ConsumerOptions own = new ConsumerOptions(options.toJson());
    OptionsCheck.check(own);
    OptionsCheck.check(own, handler);
  }

  static void refused(String why, ConsumerOptions options, ConsumerHandler handler) {
    assertThatThrownBy(() -> check(options, handler))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(why);
  }

  /** Appends messages of ten bytes without a key. */
  void append(int shard, int count) {
    Message message = new Message(null, Map.of(), 1_000, new byte[10]);
    cluster.append(shard, Collections.nCopies(count, message));
  }

  /** Appends {@link #messages} to a shard, and then grants it. */
  void grant(int shard, int from, int count) {
    cluster.append(shard, messages(from, count));
    cluster.grant(shard, null, -1);
  }
}
