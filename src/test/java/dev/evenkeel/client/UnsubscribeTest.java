package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class UnsubscribeTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  /** Each asked whether the group forgets it while the last heartbeat of the other one read it. */
  @Test
  void whenAllUnsubscribeAtATimeTheGroupForgetsTheTopic(EmbeddedNode node) {
    List<String> topics = List.of("kept", "left");
    topics.forEach(topic -> node.createTopic(topic, 2));
    List<Consumer> consumers = new ArrayList<>();
    for (String member : List.of("a", "b", "c")) {
      var options = new ConsumerOptions().setGroup("g").setMember(member).setTopics(topics);
      consumers.add(await(node.client().consumer(options, delivery -> Future.succeededFuture())));
    }
    for (int i = 0; i < 10; i++) {
      var asked = consumers.stream().map(consumer -> consumer.unsubscribe("left")).toList();
      await(Future.all(asked));
      assertThat(asked).as("time %s", i).anyMatch(Future::result);
      consumers.forEach(consumer -> await(consumer.subscribe("left")));
    }
    consumers.forEach(consumer -> await(consumer.close()));
  }
}
