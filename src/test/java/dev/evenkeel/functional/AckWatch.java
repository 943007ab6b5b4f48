package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.history.History;
import dev.evenkeel.history.HistoryClients;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
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
        await(
            Evenkeel.connect(
                TestUsers.options()
                    .setSeeds(trio.nodes.stream().map(Node::cluster).toList())
                    .setConnectTimeoutMillis(120_000)));
    // The node that answers may have to learn of it yet.
    int shards =
        Awaitility.await("topic " + topic + " is known")
            .atMost(Duration.ofSeconds(60))
            .until(() -> view().topic(topic), Objects::nonNull)
            .shards();
    times(shards, shard -> acksNanos.add(new ArrayList<>()));
    producer =
        await(
            client.producer(
                new ProducerOptions().setTopic(topic).setLingerMillis(0),
                (message, count) -> Integer.parseInt(text(message.key()))));
    timer = client.vertx().setPeriodic(EVERY_MILLIS, id -> send());
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
                      await(
                              EvenkeelClientImpl.linkOf(client)
                                  .request(Addresses.VIEW, Buffer.buffer(), 1_000))
                          .toJsonObject());
              return view[0].metaLeader() != null && !view[0].dataLeaders().contains(null);
            });
    return view[0];
  }

  /** Waits until every shard has had an acknowledgement after that moment and another later. */
  void awaitAllServedAfter(long nanos) {
    Awaitility.await("every shard is served again")
        .atMost(Duration.ofSeconds(150))
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(() -> assertThat(unservedSince(nanos + 500_000_000L)).isEmpty());
  }

  /** A line for each shard without an acknowledgement since. */
  private List<String> unservedSince(long nanos) {
    long now = System.nanoTime();
    List<String> unserved = new ArrayList<>();
    synchronized (acksNanos) {
      for (int shard = 0; shard < acksNanos.size(); shard++) {
        List<Long> acks = acksNanos.get(shard);
        if (acks.stream().noneMatch(at -> at > nanos)) {
          String last =
              acks.isEmpty() ? "none" : (now - acks.get(acks.size() - 1)) / 1_000_000 + " ms ago";
          unserved.add(
              "shard %s: acknowledgements %s, the last %s; producer: %s in flight, %s failed"
                  .formatted(shard, acks.size(), last, producer.pendingMessages(), failures()));
        }
      }
    }
    return unserved;
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

  /** A shard and the epoch in which a member owned it. */
  record Owned(Shard shard, String group, String member, long epoch, long committed) {}

  /** A shard that the member owns by the log. */
  Owned ownedBy(String ofTopic, String group, String member) {
    TopicInfo info = view().topic(ofTopic);
    for (int i = 0; i < info.shards(); i++) {
      Shard shard = new Shard(info.id(), i);
      Bytes body = new Bytes(64).text(group);
      RecordCodec.write(body, shard);
      Reply reply = ask(leaderOf(shard), Frames.request(Op.READ_LEASE, body));
      if (reply instanceof Reply.OfLease of && member.equals(of.lease().owner())) {
        return new Owned(shard, group, member, of.lease().epoch(), of.lease().committed());
      }
    }
    throw new AssertionError(member + " owns no shard");
  }

  String leaderOf(Owned owned) {
    return leaderOf(owned.shard());
  }

  private String leaderOf(Shard shard) {
    return view().leaderOf(shard);
  }

  /**
   * Commits as that owner in that epoch, through that node.
   *
   * @return how it was refused, or null if it was accepted
   */
  Refusal commitAt(String node, Owned owned) {
    Bytes body = new Bytes(128).i32(owned.shard().dataGroup(view().dataLeaders().size()));
    CommandCodec.write(
        body, Commands.commit(owned.group(), owned.shard(), owned.epoch(), owned.committed() + 1));
    return ask(node, Frames.request(Op.SUBMIT_DATA, body)) instanceof Reply.Refused refused
        ? refused.exception().refusal()
        : null;
  }

  private Reply ask(String node, Buffer request) {
    return await(
        EvenkeelClientImpl.linkOf(client)
            .request(Addresses.control(node), request, 3_000)
            .map(answer -> ReplyCodec.decode(Frames.answerBody(answer)))
            .recover(
                failure ->
                    failure instanceof RefusedException refused
                        ? Future.succeededFuture(
                            Reply.refused(refused.refusal(), refused.getMessage()))
                        : Future.failedFuture(failure)));
  }

  /** Clients beside it that record what they are answered. */
  HistoryClients clients(
      History history, List<String> nodes, List<Shard> shards, int dataGroups, long seed) {
    Link link = EvenkeelClientImpl.linkOf(client);
    return new HistoryClients(
        link.vertx(), link::request, history, nodes, shards, dataGroups, seed);
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
    client.vertx().cancelTimer(timer);
    await(producer.close());
  }

  @Override
  public void close() {
    client.vertx().cancelTimer(timer);
    await(client.close());
  }
}
