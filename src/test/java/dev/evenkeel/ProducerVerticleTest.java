package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.internal.produce.FakeBroker;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.Checkpoint;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class ProducerVerticleTest {
  private static final String NAME = "dev.evenkeel.ProducerVerticle";
  private static final byte[] NUMBER = {0, 0, 0, 5};

  private Vertx vertx;
  private FakeBroker broker;

  @BeforeEach
  void share(Vertx vertx) {
    this.vertx = vertx;
    FakeLink link = new FakeLink(vertx);
    broker = new FakeBroker(link);
    LocalObjects.put(vertx, Link.class, link);
    LocalObjects.put(vertx, ClusterDirectory.class, new ClusterDirectory(link));
  }

  private static JsonObject message() {
    return JsonObject.of("key", "k", "payloadBase64", Base64.getEncoder().encodeToString(NUMBER));
  }

  private Future<String> deploy() {
    return deploy(new JsonObject().put("topic", "t").put("address", "in"));
  }

  private Future<String> deploy(JsonObject config) {
    return vertx.deployVerticle(NAME, new DeploymentOptions().setConfig(config));
  }

  private Future<JsonObject> send(JsonObject message) {
    return vertx.eventBus().<JsonObject>request("in", message).map(Message::body);
  }

  @Test
  void sendsWhatComesInAndAnswersWithThePlace(VertxTestContext test) {
    deploy()
        .compose(id -> send(message()).eventually(() -> vertx.undeploy(id)))
        .onComplete(
            test.succeeding(
                at ->
                    test.verify(
                        () -> {
                          assertThat(broker.messages(at.getInteger("shard"))).containsExactly(5);
                          assertThat(at.getLong("offset")).isZero();
                          test.completeNow();
                        })));
  }

  @Test
  void aDelayedMessageHasNoOffsetYet(VertxTestContext test) {
    deploy()
        .compose(id -> send(message().put("deliverAfterMs", 60_000)))
        .onComplete(
            test.succeeding(
                waits ->
                    test.verify(
                        () -> {
                          assertThat(waits.containsKey("offset")).isTrue();
                          assertThat(waits.getValue("offset")).isNull();
                          assertThat(broker.dues).hasSize(1);
                          test.completeNow();
                        })));
  }

  @Test
  void refusesWhatIsNotAMessage(VertxTestContext test) {
    Checkpoint refused = test.checkpoint(2);
    deploy()
        .onComplete(
            test.succeeding(
                id -> {
                  refuses(new JsonObject().put("key", "k"), "payload", test, refused);
                  JsonObject soon = message().put("deliverAfterMs", "soon");
                  refuses(soon, "deliverAfterMs", test, refused);
                }));
  }

  private void refuses(
      JsonObject message, String expected, VertxTestContext test, Checkpoint refused) {
    send(message)
        .onComplete(
            test.failing(
                failure ->
                    test.verify(
                        () -> {
                          assertThat(failure)
                              .isInstanceOfSatisfying(
                                  ReplyException.class,
                                  reply ->
                                      assertThat(reply.failureCode())
                                          .isEqualTo(1 + Refusal.INVALID.ordinal()))
                              .hasMessageContaining(expected);
                          refused.flag();
                        })));
  }

  @Test
  void needsAnAddress(VertxTestContext test) {
    deploy(new JsonObject().put("topic", "t"))
        .onComplete(
            test.failing(
                failure ->
                    test.verify(
                        () -> {
                          assertThat(failure).hasMessageContaining("'address'");
                          test.completeNow();
                        })));
  }
}
