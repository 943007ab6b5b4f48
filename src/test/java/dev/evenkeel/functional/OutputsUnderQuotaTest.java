package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Handlers publish to a topic whose quota is smaller than what they publish at once. */
class OutputsUnderQuotaTest {
  @RegisterExtension
  static final EvenkeelExtension EVENKEEL =
      new EvenkeelExtension().withTopic("in", 1).withTopic("out", 1);

  private static final int INPUTS = 40;

  /** Of the first input: more than the quota carries, and not to be divided. */
  private static final int MANY = 150;

  private static final int FEW = 5;
  private static final long PER_SECOND = 120;

  private static int outputs(int input) {
    return input == 0 ? MANY : FEW;
  }

  @Test
  void theyPassOnceAndInOrderAndNobodyElseWaitsForThem(EmbeddedNode node, EvenkeelClient client) {
    await(node.admin().setQuota(QuotaKind.TOPIC, "out", null, PER_SECOND));
    List<String> expected = new ArrayList<>();
    for (int input = 0; input < INPUTS; input++) {
      for (int i = 0; i < outputs(input); i++) {
        expected.add(input + "-" + i);
      }
    }
    Producer in = await(client.producer(new ProducerOptions().setTopic("in")));
    List<Future<?>> sent = new ArrayList<>();
    IntStream.range(0, INPUTS)
        .forEach(i -> sent.add(in.send(null, Integer.toString(i).getBytes(UTF_8))));
    await(Future.all(sent));

    ContextHandler handler =
        (delivery, context) -> {
          String input = delivery.message().payloadText();
          for (int i = 0; i < outputs(Integer.parseInt(input)); i++) {
            context.publish("out", "k", Buffer.buffer(input + "-" + i));
          }
          return Future.succeededFuture();
        };
    await(client.consumer(options("work", "in"), handler));
    Producer other = await(client.producer(new ProducerOptions().setTopic("out")));
    await(other.send("k", "other".getBytes(UTF_8)));
    node.awaitConsumed("work");

    List<String> got = Collections.synchronizedList(new ArrayList<>());
    await(
        client.consumer(
            options("check", "out"),
            delivery -> {
              got.add(delivery.message().payloadText());
              return Future.succeededFuture();
            }));
    Awaitility.await().until(() -> got.size() > expected.size());
    node.awaitConsumed("check");
    assertThat(got).contains("other");
    got.remove("other");
    assertThat(got).isEqualTo(expected);
  }

  private static ConsumerOptions options(String group, String topic) {
    return new ConsumerOptions().setGroup(group).setMember(group).setTopics(List.of(topic));
  }
}
