package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Context;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A node goes on with a topic that was deleted and made again. */
@Tag("full")
class TopicMadeAgainTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final Message MESSAGE = new Message(null, null, 0, new byte[1]);
  private static final int ROUNDS = 3;

  @Test
  void aTopicThatWasMadeAgainTakesMessagesAtOnce(EmbeddedNode node) {
    Vertx vertx = Vertx.vertx();
    Context context = vertx.getOrCreateContext();
    ProducerPool pool =
        new ProducerPool(
            (topic, acks) -> node.client().producer(new ProducerOptions().setTopic(topic)));
    node.createTopic("again", 1);
    for (int round = 0; round < ROUNDS; round++) {
      Promise<Producer.Position> sent = Promise.promise();
      context.runOnContext(
          none -> pool.send("again", Acks.MAJORITY, MESSAGE, null, 0).onComplete(sent));
      assertThat(await(sent.future()).offset()).isZero();
      await(node.client().admin().deleteTopic("again"));
      await(node.client().admin().createTopic("again", 1));
    }
    Promise<Void> closed = Promise.promise();
    context.runOnContext(none -> pool.close().onComplete(closed));
    await(closed.future());
    await(vertx.close());
  }
}
