package dev.evenkeel.testkit;

import static dev.evenkeel.Loops.each;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Futures;
import dev.evenkeel.Refused;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.plain.PlainClient;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What tests of applications use. */
class EvenkeelExtensionTest {
  @RegisterExtension
  static final EvenkeelExtension EVENKEEL = new EvenkeelExtension().withTopic("orders", 4);

  private static final AtomicInteger GROUPS = new AtomicInteger();

  private final String group = "group-" + GROUPS.incrementAndGet();

  private static void send(EvenkeelClient client, String... payloads) {
    Producer producer = Futures.await(client.producer(new ProducerOptions().setTopic("orders")));
    each(payloads, payload -> Futures.await(producer.send(payload, payload.getBytes(UTF_8))));
    Futures.await(producer.close());
  }

  private Consumer consumer(EvenkeelClient client, String member, List<String> got) {
    return Futures.await(
        client.consumer(
            new ConsumerOptions().setGroup(group).setMember(member).setTopics(List.of("orders")),
            delivery -> {
              got.add(new String(delivery.message().payload(), UTF_8));
              return Future.succeededFuture();
            }));
  }

  @Test
  void whatWasSentIsConsumedWhenTheWaitEnds(EmbeddedNode node, EvenkeelClient client) {
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(client, "a", got);
    node.awaitMembers(group, 1);
    send(client, "one", "two");
    node.awaitConsumed(group);
    assertThat(got).contains("one", "two");
    Futures.await(consumer.close());
  }

  @Test
  void theWaitSaysWhatIsLeft(EmbeddedNode node, EvenkeelClient client) {
    Consumer consumer = consumer(client, "a", new CopyOnWriteArrayList<>());
    node.awaitMembers(group, 1);
    Futures.await(consumer.close());
    send(client, "left");
    assertThatThrownBy(() -> node.awaitConsumed(group, Duration.ofMillis(2_000)))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching(
            "group '" + group + "' has not consumed within 2000 ms: .*orders/[0-3] is at .* of .*");
  }

  @Test
  void anExpiredMemberLosesItsShardsAndComesBack(EmbeddedNode node, EvenkeelClient client) {
    Consumer first = consumer(client, "a", new CopyOnWriteArrayList<>());
    Consumer second = consumer(client, "b", new CopyOnWriteArrayList<>());
    node.awaitMembers(group, 2);
    List<Long> before = epochs(node);
    node.expireMember(group, "a");
    node.awaitMembers(group, 2);
    assertThat(epochs(node)).isNotEqualTo(before);
    Refused.saying(() -> node.expireMember(group, "c"), "has no member 'c'");
    Futures.await(first.close());
    Futures.await(second.close());
  }

  private List<Long> epochs(EmbeddedNode node) {
    return Futures.await(node.admin().group(group)).shards().stream()
        .map(GroupView.Shard::epoch)
        .toList();
  }

  @Test
  void aRestartKeepsMessagesAndMembers(EmbeddedNode node, EvenkeelClient client) {
    List<String> got = new CopyOnWriteArrayList<>();
    Consumer consumer = consumer(client, "a", got);
    node.awaitMembers(group, 1);
    send(client, "before");
    node.awaitConsumed(group);
    String address = node.address();
    node.restart();
    assertThat(node.address()).isEqualTo(address);
    send(client, "after");
    node.awaitConsumed(group);
    assertThat(got).contains("before", "after");
    Futures.await(consumer.close());
  }

  @Test
  void theSameNodeIsInjectedInEveryForm(EmbeddedNode node, Admin admin, PlainClient plain) {
    assertThat(node).isSameAs(EVENKEEL.node());
    assertThat(Futures.await(admin.topics())).extracting(TopicView::name).contains("orders");
    assertThat(plain).isSameAs(node.plainClient());
    assertThat(node.http()).startsWith("http://127.0.0.1:");
  }

  @Test
  void aNodeOfItsOwnIsAnotherCluster(EmbeddedNode node) {
    try (EmbeddedNode other = EmbeddedNode.start(Map.of("node", "other"))) {
      assertThat(other.status().node()).isEqualTo("other");
      assertThat(Futures.await(other.admin().topics())).isEmpty();
      assertThat(node.status().nodes()).hasSize(1);
    }
  }

  @Test
  void wrongSettingsAreRefused() {
    assertThatThrownBy(() -> EmbeddedNode.start(Map.of("port", "5701")))
        .hasMessage("setting 'port': the test kit chooses it");
    Fails.saying(() -> EmbeddedNode.start(Map.of("data-group", "1")), "data-groups");
  }

  /** Of all tests of this class and of those that are nested in it. */
  private static EmbeddedNode seen;

  private static void assertSame(EmbeddedNode node) {
    assertThat(seen == null || seen == node).isTrue();
    assertThat(node.status().node()).isEqualTo("n1");
    seen = node;
  }

  @Nested
  class OneThatIsNested {
    @Test
    void sharesTheNode(EmbeddedNode node) {
      assertSame(node);
    }
  }

  @Nested
  class AnotherThatIsNested {
    @Test
    void sharesTheNodeToo(EmbeddedNode node) {
      assertSame(node);
    }
  }
}
