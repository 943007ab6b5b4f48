package dev.evenkeel.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class DeployByNameTest {
  @Test
  void servesFromItsConfigurationAlone(
      Vertx vertx, VertxTestContext test, @TempDir Path directory) {
    JsonObject config =
        new JsonObject()
            .put("node", "solo")
            .put("data", directory.toString())
            .put("peers", new JsonArray().add(new JsonObject().put("node", "solo")))
            .put("engines", MemoryEngines.class.getName());
    vertx
        .deployVerticle(BrokerVerticle.class.getName(), new DeploymentOptions().setConfig(config))
        .compose(
            id ->
                vertx
                    .eventBus()
                    .<Buffer>request(Addresses.VIEW, Buffer.buffer())
                    .eventually(() -> vertx.undeploy(id)))
        .onComplete(
            test.succeeding(
                answer ->
                    test.verify(
                        () -> {
                          JsonObject view = new JsonObject(answer.body());
                          assertThat(ClusterView.fromJson(view).node()).isEqualTo("solo");
                          assertThat(LocalObjects.get(vertx, LogNode.class)).isNull();
                          test.completeNow();
                        })));
  }

  @Test
  void saysWhatTheConfigurationLacks(Vertx vertx, VertxTestContext test) {
    vertx
        .deployVerticle(BrokerVerticle.class.getName())
        .onComplete(
            test.failing(
                failure ->
                    test.verify(
                        () -> {
                          assertThat(failure)
                              .isInstanceOf(RefusedException.class)
                              .hasMessageContaining("'node'");
                          test.completeNow();
                        })));
  }
}
