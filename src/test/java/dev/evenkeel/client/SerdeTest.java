package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SerdeTest {
  private final List<Message> sent = new ArrayList<>();

  /** Takes every message. */
  private final Producer producer =
      (Producer)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {Producer.class},
              (proxy, method, args) -> {
                assertThat(method.getName()).isEqualTo("send");
                assertThat(args[1]).isInstanceOf(Duration.class);
                sent.add((Message) args[0]);
                return Future.succeededFuture(new Producer.Position(0, sent.size() - 1));
              });

  private static Delivery delivery(byte[] payload) {
    return new Delivery("t", 0, 0, Message.builder(payload).build(), "m", 1, 1);
  }

  @Test
  void objectsComeBackAsTheyWere() throws Exception {
    assertThat(Serde.TEXT.deserialize(Serde.TEXT.serialize("Grüße"))).isEqualTo("Grüße");
    JsonObject json = new JsonObject().put("total", 12).put("name", "Ä");
    assertThat(Serde.JSON.deserialize(Serde.JSON.serialize(json))).isEqualTo(json);
    byte[] bytes = {1, -1};
    assertThat(Serde.BYTES.deserialize(Serde.BYTES.serialize(bytes))).isEqualTo(bytes);
  }

  @Test
  void aProducerSendsWhatTheSerdeGives() {
    TypedProducer<JsonObject> orders = Serde.JSON.producer(producer);
    await(orders.send("k", new JsonObject().put("n", 1), Map.of("trace", "4711")));
    await(orders.send(new JsonObject()));
    assertThat(sent.get(0).payloadText()).isEqualTo("{\"n\":1}");
    assertThat(sent.get(0).keyText()).isEqualTo("k");
    assertThat(sent.get(0).headerText("trace")).isEqualTo("4711");
    assertThat(sent.get(1).hasKey()).isFalse();
  }

  @Test
  void whatHasNoPayloadIsNotSent() {
    Serde<Integer> broken =
        new Serde<>() {
          @Override
          public byte[] serialize(Integer value) {
            throw new IllegalStateException("no");
          }

          @Override
          public Integer deserialize(byte[] payload) {
            return 0;
          }
        };
    Refused.saying(
        () -> await(broken.producer(producer).send(1)), "the object cannot be made a payload");
    assertThat(sent).isEmpty();
  }

  @Test
  void aPayloadThatCannotBeReadFailsItsMessage() {
    List<String> got = new ArrayList<>();
    ConsumerHandler handler =
        Serde.TEXT.handler(
            (text, delivery) -> {
              got.add(text);
              return Future.succeededFuture();
            });
    await(handler.handle(delivery("hello".getBytes())));
    Future<Void> failed = handler.handle(delivery(new byte[] {(byte) 0xFF, (byte) 0xFE, 0}));
    assertThat(failed.failed()).isTrue();
    assertThat(failed.cause())
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("the payload of 3 bytes cannot be read");
    assertThat(got).containsExactly("hello");
    assertThat(Serde.JSON.handler((json, delivery) -> Future.succeededFuture()))
        .satisfies(json -> assertThat(json.handle(delivery(new byte[0])).failed()).isTrue());
  }

  @Test
  void aBlockingHandlerGetsObjects() {
    List<String> got = new ArrayList<>();
    BlockingHandler handler =
        Serde.TEXT.blockingHandler((text, delivery) -> got.add(text + delivery.topic()));
    await(handler.handle(delivery("a".getBytes())));
    assertThat(handler.handle(delivery(new byte[] {(byte) 0xFF})).failed()).isTrue();
    assertThat(got).containsExactly("at");
  }
}
