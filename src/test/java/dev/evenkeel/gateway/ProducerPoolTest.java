package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a producer that was opened earlier does not know any more, another one finds. */
class ProducerPoolTest {
  private final List<String> opened = new ArrayList<>();
  private boolean gone;

  private Future<Producer.Position> send(ProducerPool pool, String topic) {
    Message message = new Message(null, null, 0, new byte[1]);
    return pool.send(topic, Acks.MAJORITY, message, null, 0);
  }

  /** Knows the topic that was there when it was opened. */
  private Future<Producer> open(String topic) {
    int number = opened.size();
    opened.add(topic);
    Producer producer =
        (Producer)
            Proxy.newProxyInstance(
                Producer.class.getClassLoader(),
                new Class<?>[] {Producer.class},
                (proxy, method, arguments) ->
                    method.getName().equals("close")
                        ? Future.succeededFuture()
                        : gone && (number == 0 || opened.size() > 2)
                            ? Future.failedFuture(
                                new RefusedException(Refusal.UNKNOWN_TOPIC, "it was deleted"))
                            : Future.succeededFuture(new Producer.Position(number, 0)));
    return Future.succeededFuture(producer);
  }

  @Test
  void whatAnOpenProducerDoesNotKnowAnotherOneLooksForOnce() {
    ProducerPool pool = new ProducerPool((topic, acks) -> open(topic));
    assertThat(await(send(pool, "t")).shard()).isZero();
    gone = true;
    assertThat(await(send(pool, "t")).shard()).isOne();
    assertThat(await(send(pool, "t")).shard()).isOne();
    assertThat(opened).hasSize(2);
    opened.add("something that makes all of them fail");
    assertThatThrownBy(() -> await(send(pool, "t"))).hasMessageContaining("it was deleted");
    assertThat(opened).as("one more was opened, and not a second one").hasSize(4);
  }

  /** The view of a node that has had no producer for the topic may be from before. */
  @Test
  void aProducerThatBeganWithAnOldViewIsReplacedToo() {
    ProducerPool pool = new ProducerPool((topic, acks) -> open(topic));
    gone = true;
    assertThat(await(send(pool, "t")).shard()).isOne();
    assertThat(opened).hasSize(2);
  }

  @Test
  void aTopicThatNoProducerFindsIsLookedForOnce() {
    ProducerPool pool =
        new ProducerPool(
            (topic, acks) -> {
              opened.add(topic);
              return Future.failedFuture(new RefusedException(Refusal.UNKNOWN_TOPIC, "no topic"));
            });
    assertThatThrownBy(() -> await(send(pool, "t"))).hasMessageContaining("no topic");
    assertThat(opened).hasSize(1);
  }
}
