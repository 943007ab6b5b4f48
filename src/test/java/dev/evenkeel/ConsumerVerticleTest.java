package dev.evenkeel;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.member.FakeCluster;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ConsumerVerticleTest {
  static final AtomicInteger SEEN = new AtomicInteger();

  /** Deployed by its name. */
  public static final class Counting implements ConsumerHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      SEEN.incrementAndGet();
      return Future.succeededFuture();
    }
  }

  private static final String NAME = "java:dev.evenkeel.ConsumerVerticle";

  @Closing private final Vertx vertx = Vertx.vertx();

  private static JsonObject config(String handler) {
    return new JsonObject()
        .put("handler", handler)
        .put("group", "g")
        .put("topics", new JsonArray().add("t"))
        .put("heartbeatMillis", 100);
  }

  private Throwable failure(JsonObject config) {
    Future<String> deployed = vertx.deployVerticle(NAME, new DeploymentOptions().setConfig(config));
    Awaitility.await().until(deployed::isComplete);
    return deployed.cause();
  }

  @Test
  void refusesAKeyThatItDoesNotKnow() {
    assertThat(failure(config(Counting.class.getName()).put("paralel", 4)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("unknown consumer option 'paralel': did you mean 'parallel'?");
  }

  @Test
  void consumesWhileItIsDeployed() throws Exception {
    FakeCluster cluster = new FakeCluster(vertx, 1);
    LocalObjects.put(vertx, Link.class, cluster);
    String id =
        await(
            vertx.deployVerticle(
                NAME, new DeploymentOptions().setConfig(config(Counting.class.getName()))));
    int before = SEEN.get();
    cluster.append(
        0,
        List.of(
            new Message(null, Map.of(), 0, new byte[1]),
            new Message(null, Map.of(), 0, new byte[1])));
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> SEEN.get() == before + 2);
    await(vertx.undeploy(id));
    assertThat(cluster.lease(0).owned()).isFalse();
    assertThat(cluster.lease(0).committed()).isEqualTo(2);
  }

  @Test
  void sendsMessagesToItsAddress() throws Exception {
    FakeCluster cluster = new FakeCluster(vertx, 1);
    LocalObjects.put(vertx, Link.class, cluster);
    List<String> bodies = new CopyOnWriteArrayList<>();
    vertx
        .eventBus()
        .<Buffer>consumer(
            "billing.handle",
            message -> {
              bodies.add(message.body().toString());
              message.reply(null);
            });
    JsonObject config = config(null).put("address", "billing.handle");
    String id = await(vertx.deployVerticle(NAME, new DeploymentOptions().setConfig(config)));
    cluster.append(0, List.of(Message.of(null, 0, new byte[] {'a'})));
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> bodies.equals(List.of("a")));
    await(vertx.undeploy(id));
    assertThat(cluster.lease(0).committed()).isEqualTo(1);
  }

  @Test
  void saysWhatIsWrongWithItsConfiguration() {
    assertThat(failure(config(Counting.class.getName()).put("address", "a")))
        .hasMessageContaining("only one of them");
    assertThat(failure(config(null).put("adress", "a")))
        .hasMessageContaining("did you mean 'address'?");
    assertThat(failure(config(null).put("address", "evenkeel.api.topics")))
        .hasMessageContaining("reserved");
    assertThat(failure(config(Counting.class.getName()).put("addressTimeoutMillis", 500)))
        .hasMessageContaining("no address");
    assertThat(failure(config(null))).hasMessageContaining("needs 'handler'");
    assertThat(failure(config("com.acme.Missing"))).hasMessageContaining("com.acme.Missing");
    assertThat(failure(config("java.lang.String"))).hasMessageContaining("implements");
    assertThat(failure(config(Counting.class.getName()))).hasMessageContaining("not clustered");
    assertThat(failure(config(Counting.class.getName()).put("order", "any")))
        .hasMessageContaining("bad configuration");
  }
}
