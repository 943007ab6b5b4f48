package dev.evenkeel.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.log.LogNode;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeployByNameTest {
  @Closing private final Vertx vertx = Vertx.vertx();

  @Test
  void servesFromItsConfigurationAlone(@TempDir Path directory) throws Exception {
    JsonObject config =
        new JsonObject()
            .put("node", "solo")
            .put("data", directory.toString())
            .put("peers", new JsonArray().add(new JsonObject().put("node", "solo")))
            .put("engines", MemoryEngines.class.getName());
    String id =
        Bench.get(
            vertx.deployVerticle(
                BrokerVerticle.class.getName(), new DeploymentOptions().setConfig(config)));
    Buffer answer =
        Bench.get(vertx.eventBus().<Buffer>request(Addresses.VIEW, Buffer.buffer())).body();
    assertThat(ClusterView.fromJson(new JsonObject(answer)).node()).isEqualTo("solo");
    Bench.get(vertx.undeploy(id));
    assertThat(LocalObjects.get(vertx, LogNode.class)).isNull();
  }

  @Test
  void saysWhatTheConfigurationLacks() {
    Refused.saying(() -> Bench.get(vertx.deployVerticle(BrokerVerticle.class.getName())), "'node'");
  }
}
