package dev.evenkeel.functional;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Evenkeel;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.model.Message;
import dev.evenkeel.model.Shard;
import dev.evenkeel.producer.Producer;
import dev.evenkeel.producer.ProducerOptions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/**
 * A client in this JVM that sends a small message to every shard of a topic all the time, and knows
 * when each was acknowledged: what a pause of the service looks like from outside.
 */
final class AckWatch implements AutoCloseable {
  private static final long EVERY_MILLIS = 20;

  private final String topic;
  private final EvenkeelClient client;
  private final Producer producer;
  private final long timer;
  private final List<List<Long>> acksNanos = new ArrayList<>();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong acked = new AtomicLong();

  /** The topic must be there. */
  AckWatch(Trio trio, String topic) {
    this.topic = topic;
    client =
        result(
            Evenkeel.connect(
                new ClientOptions().setSeeds(trio.nodes.stream().map(Node::cluster).toList())));
    int shards = view().topic(topic).shards();
    for (int shard = 0; shard < shards; shard++) {
      acksNanos.add(new ArrayList<>());
    }
    producer =
        result(
            client.producer(
                new ProducerOptions().setTopic(topic).setLingerMillis(0),
                (message, count) -> Integer.parseInt(text(message.key()))));
    timer = client.link().vertx().setPeriodic(EVERY_MILLIS, id -> send());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private void send() {
    for (int i = 0; i < acksNanos.size(); i++) {
      int shard = i;
      byte[] key = String.valueOf(shard).getBytes(StandardCharsets.US_ASCII);
      producer
          .send(new Message(key, null, System.currentTimeMillis(), key))
          .onSuccess(
              at -> {
                acked.incrementAndGet();
                synchronized (acksNanos) {
                  acksNanos.get(shard).add(System.nanoTime());
                }
              })
          .onFailure(failure -> failures.incrementAndGet());
    }
  }

  /** The cluster as a node sees it now. */
  ClusterView view() {
    ClusterView[] view = new ClusterView[1];
    Awaitility.await("a view of the cluster")
        .ignoreExceptions()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              view[0] =
                  ClusterView.fromJson(
                      result(client.link().request(Addresses.VIEW, Buffer.buffer(), 1_000))
                          .toJsonObject());
              return view[0].metaLeader() != null && !view[0].dataLeaders().contains(null);
            });
    return view[0];
  }

  /** Waits until every shard has had an acknowledgement after that moment and another later. */
  void awaitAllServedAfter(long nanos) {
    Awaitility.await("every shard is served again")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              synchronized (acksNanos) {
                return acksNanos.stream()
                    .allMatch(acks -> acks.stream().anyMatch(at -> at - nanos > 500_000_000L));
              }
            });
  }

  /** By data group: the longest time without an acknowledgement that reaches behind that moment. */
  Map<Integer, Long> longestGapMillis(long sinceNanos) {
    int groups = view().dataLeaders().size();
    int topicId = view().topic(topic).id();
    Map<Integer, Long> gaps = new TreeMap<>();
    synchronized (acksNanos) {
      for (int shard = 0; shard < acksNanos.size(); shard++) {
        List<Long> acks = acksNanos.get(shard);
        long gap = 0;
        for (int i = 1; i < acks.size(); i++) {
          if (acks.get(i) >= sinceNanos) {
            gap = Math.max(gap, acks.get(i) - acks.get(i - 1));
          }
        }
        gaps.merge(new Shard(topicId, shard).dataGroup(groups), gap / 1_000_000, Math::max);
      }
    }
    return gaps;
  }

  long acked() {
    return acked.get();
  }

  /** Messages that were given up. */
  long failures() {
    return failures.get();
  }

  /** Sends no more, and waits for what is on its way. */
  void finish() {
    client.link().vertx().cancelTimer(timer);
    result(producer.close());
  }

  @Override
  public void close() {
    client.link().vertx().cancelTimer(timer);
    result(client.close());
  }

  private static <T> T result(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(150, TimeUnit.SECONDS);
    } catch (InterruptedException | TimeoutException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }
}
