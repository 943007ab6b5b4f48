package dev.evenkeel;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.internal.produce.FakeBroker;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.json.JsonObject;
import java.util.Base64;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProducerVerticleTest {
  private static final String NAME = "dev.evenkeel.ProducerVerticle";
  private static final byte[] NUMBER = {0, 0, 0, 5};

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final FakeBroker broker = new FakeBroker(link);

  @BeforeEach
  void share() {
    LocalObjects.put(vertx, Link.class, link);
    LocalObjects.put(vertx, ClusterDirectory.class, new ClusterDirectory(link));
  }

  @Test
  void sendsWhatComesInAndAnswersWithThePlace() {
    String id = deploy(new JsonObject().put("topic", "t").put("address", "in"));
    JsonObject message =
        JsonObject.of("key", "k", "payloadBase64", Base64.getEncoder().encodeToString(NUMBER));
    JsonObject at = (JsonObject) await(vertx.eventBus().request("in", message)).body();
    assertThat(broker.messages(at.getInteger("shard"))).containsExactly(5);
    assertThat(at.getLong("offset")).isZero();
    JsonObject later = message.copy().put("deliverAfterMs", 60_000);
    JsonObject waits = (JsonObject) await(vertx.eventBus().request("in", later)).body();
    assertThat(waits.containsKey("offset")).isTrue();
    assertThat(waits.getValue("offset")).isNull();
    assertThat(broker.dues).hasSize(1);
    JsonObject wrong = message.copy().put("deliverAfterMs", "soon");
    Fails.saying(() -> await(vertx.eventBus().request("in", wrong)), "deliverAfterMs");
    await(vertx.undeploy(id));
  }

  @Test
  void refusesWhatIsNotAMessage() {
    deploy(new JsonObject().put("topic", "t").put("address", "in"));
    assertThatThrownBy(
            () -> await(vertx.eventBus().request("in", new JsonObject().put("key", "k"))))
        .isInstanceOfSatisfying(
            ReplyException.class,
            failure -> assertThat(failure.failureCode()).isEqualTo(1 + Refusal.INVALID.ordinal()))
        .hasMessageContaining("payload");
  }

  @Test
  void needsAnAddress() {
    Fails.saying(() -> deploy(new JsonObject().put("topic", "t")), "'address'");
  }

  private String deploy(JsonObject config) {
    return await(vertx.deployVerticle(NAME, new DeploymentOptions().setConfig(config)));
  }
}
