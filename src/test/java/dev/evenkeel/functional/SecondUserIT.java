package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ShareView;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A user of a node does no harm to the producers of another one. */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecondUserIT {
  private static final int PRODUCERS = 3;

  @TempDir static Path directory;
  private NodeWithUsers node;

  @BeforeAll
  void start() throws Exception {
    node =
        new NodeWithUsers(directory)
            .user("shop", "produce:*,consume:*,group:*,view:*,admin:*")
            .user("pay", "produce:out,consume:paid,group:pay")
            .user("peer", "produce:*,consume:*,group:other")
            .user("nobody", "view:zzz")
            .start();
    EvenkeelClient client = await(Evenkeel.connect(node.options("shop")));
    Admin admin = client.admin();
    await(admin.createTopic("orders", 1));
    await(admin.createTopic("paid", 1));
    await(admin.createTopic("out", 1));
    await(client.close());
    Link link = await(Evenkeel.link(node.options("shop")));
    Wait.until(
        "the feature level of ids that say whose they are",
        () -> view(link).featureLevel() >= FeatureLevel.PRODUCER_OWNERS);
    link.close();
  }

  @AfterAll
  void stop() {
    node.close();
  }

  private static ClusterView view(Link link) {
    return ClusterView.fromJson(
        await(link.request(Addresses.VIEW, Buffer.buffer(), 10_000)).toJsonObject());
  }

  private static void open(Link link, DataCommand command) {
    Buffer request = Calls.SUBMIT_DATA.request(new Calls.ToGroup(0, command));
    Calls.taken(
        Calls.SUBMIT_DATA.answered(await(link.request(Addresses.control("n1"), request, 10_000))));
  }

  /** Ids of producers are counted, so they can be guessed, and consumers see them in batches. */
  @Test
  void nobodyEndsTheProducersOfAnother() {
    EvenkeelClient client = await(Evenkeel.connect(node.options("shop")));
    List<Producer> producers = new ArrayList<>();
    for (int i = 0; i < PRODUCERS; i++) {
      producers.add(await(client.producer(new ProducerOptions().setTopic("orders"))));
    }
    sendAll(producers, "before");
    Set<Long> ids = producerIds("orders");
    assertThat(ids).hasSize(PRODUCERS);
    Shard orders = shard("orders");
    for (String user : List.of("nobody", "peer")) {
      Link link = await(Evenkeel.link(node.options(user)));
      for (long id : ids) {
        Refused.with(
            Refusal.FORBIDDEN,
            () -> open(link, new DataCommand.OpenProducer(id, Integer.MAX_VALUE)));
        Refused.with(
            Refusal.FORBIDDEN,
            () ->
                open(
                    link,
                    new DataCommand.OpenPublisher(id, Integer.MAX_VALUE, "other", orders, true)));
      }
      for (long number = 1; number <= 100; number++) {
        long guess = number;
        try {
          open(link, new DataCommand.OpenProducer(guess, Integer.MAX_VALUE));
        } catch (RefusedException e) {
          // Whether it is refused does not matter: the producers go on.
          assertThat(e.refusal()).isIn(Refusal.FORBIDDEN, Refusal.UNAVAILABLE);
        }
      }
      link.close();
    }
    sendAll(producers, "after");
    await(client.close());
  }

  private static void sendAll(List<Producer> producers, String text) {
    List<Future<?>> sent = new ArrayList<>();
    for (Producer producer : producers) {
      for (int i = 0; i < 100; i++) {
        sent.add(producer.send(null, (text + i).getBytes(UTF_8)));
      }
    }
    await(Future.all(sent));
  }

  private Shard shard(String topic) {
    Link link = await(Evenkeel.link(node.options("peer")));
    try {
      return new Shard(view(link).topic(topic).id(), 0);
    } finally {
      link.close();
    }
  }

  /** As a consumer sees them in the batches of its topic. */
  private Set<Long> producerIds(String topic) {
    Link link = await(Evenkeel.link(node.options("peer")));
    try {
      Buffer browse =
          Frames.request(
              Op.BROWSE, FetchRequest.browse(shard(topic), 0, 1 << 20, 10_000, 0).encode());
      FetchAnswer answer =
          FetchAnswer.decode(
              Frames.answerBody(await(link.request(Addresses.data("n1"), browse, 10_000))));
      Set<Long> ids = new TreeSet<>();
      answer.batches().forEach(placed -> ids.add(placed.batch().producerId()));
      return ids;
    } finally {
      link.close();
    }
  }

  private static ConsumerOptions member(String group, String topic, String member) {
    return new ConsumerOptions().setGroup(group).setTopics(List.of(topic)).setMember(member);
  }

  /** The kinds that somebody holds all the time: a fetch waits, or is about to be sent again. */
  private static Set<String> lasting(List<ShareView> shares) {
    return shares.stream()
        .map(ShareView::kind)
        .filter(kind -> !kind.equals("fetch-bytes"))
        .collect(Collectors.toSet());
  }

  /** A consumer listens at addresses of the node. */
  @Test
  void aUserSeesWhatItHoldsAndWhoSeesAllSeesAll() {
    EvenkeelClient shop = await(Evenkeel.connect(node.options("shop")));
    EvenkeelClient peer = await(Evenkeel.connect(node.options("peer")));
    for (EvenkeelClient client : List.of(shop, peer)) {
      await(
          client.consumer(
              member("other", "orders", client == shop ? "a" : "b"),
              delivery -> Future.succeededFuture()));
    }
    Wait.until(
        "shop sees what both hold",
        () ->
            await(shop.admin().shares()).stream()
                .map(ShareView::user)
                .collect(Collectors.toSet())
                .containsAll(Set.of("shop", "peer")));
    List<ShareView> own = await(peer.admin().shares());
    assertThat(own).isNotEmpty();
    assertThat(own)
        .allSatisfy(
            each -> {
              assertThat(each.user()).isEqualTo("peer");
              assertThat(each.node()).isEqualTo("n1");
              assertThat(each.held()).isBetween(1L, each.limit());
            });
    await(shop.close());
    Wait.until(
        "nothing is left of what shop had",
        () ->
            lasting(await(peer.admin().shares())).equals(lasting(own))
                // The metrics come over a connection of its own.
                && node.metrics("shop")
                    .filter(line -> !line.contains("kind=\"http-connections\""))
                    .noneMatch(line -> line.contains("user=\"shop\"")));
    await(peer.close());
  }

  /** What has been published under the id of a group goes on with a member that is another user. */
  @Test
  void aHandlersOutputsGoOnUnderAnotherUser() throws Exception {
    List<EvenkeelClient> clients = new ArrayList<>();
    for (String user : List.of("shop", "pay")) {
      clients.add(await(Evenkeel.connect(node.options(user))));
    }
    Producer in = await(clients.get(0).producer(new ProducerOptions().setTopic("paid")));
    List<String> got = new CopyOnWriteArrayList<>();
    await(
        clients
            .get(0)
            .consumer(
                member("check", "out", "check"),
                delivery -> {
                  got.add(delivery.message().payloadText());
                  return Future.succeededFuture();
                }));
    ContextHandler handler =
        (delivery, context) -> {
          context.publish("out", "k", Buffer.buffer(delivery.message().payloadText()));
          return Future.succeededFuture();
        };
    List<String> sent = new ArrayList<>();
    for (int round = 0; round < 4; round++) {
      EvenkeelClient client = clients.get(round % 2);
      Consumer consumer = await(client.consumer(member("pay", "paid", "m" + round), handler));
      for (int i = 0; i < 20; i++) {
        sent.add(round + "-" + i);
        await(in.send(null, sent.get(sent.size() - 1).getBytes(UTF_8)));
      }
      Wait.until("all outputs of round " + round, () -> got.size() >= sent.size());
      await(consumer.close());
    }
    assertThat(got).isEqualTo(sent);
    Set<Long> ids = producerIds("out");
    assertThat(ids).hasSize(1);
    Shard paid = shard("paid");
    Link link = await(Evenkeel.link(node.options("peer")));
    for (long id : ids) {
      assertThat(ProducerIds.isOfGroup(id)).isTrue();
      for (DataCommand command :
          List.of(
              new DataCommand.OpenProducer(id, Integer.MAX_VALUE),
              new DataCommand.OpenPublisher(id, Integer.MAX_VALUE, "other", paid, true),
              new DataCommand.OpenPublisher(id, Integer.MAX_VALUE, "pay", paid, true))) {
        Refused.with(Refusal.FORBIDDEN, () -> open(link, command));
      }
    }
    link.close();
    for (EvenkeelClient client : clients) {
      await(client.close());
    }
  }
}
