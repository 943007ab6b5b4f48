package dev.evenkeel.cli;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.VertxExtension;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class VerticleRunTest {
  private static final List<Told> TOLD = new CopyOnWriteArrayList<>();

  private final Teardown teardown = new Teardown();
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private final CompletableFuture<Void> undeployed = new CompletableFuture<>();
  private Vertx vertx;

  /** Notes how it is deployed. */
  public static final class Told extends VerticleBase {
    private volatile boolean stopped;
    private volatile JsonObject config;

    @Override
    public Future<?> start() {
      config = config();
      TOLD.add(this);
      String fails = config.getString("fails");
      return config.containsKey("hangs")
          ? Promise.promise().future()
          : fails == null ? Future.succeededFuture() : Future.failedFuture(fails);
    }

    @Override
    public Future<?> stop() {
      stopped = true;
      return Future.succeededFuture();
    }
  }

  @BeforeEach
  void begin(Vertx vertx) {
    this.vertx = vertx;
    TOLD.clear();
  }

  private VerticleRun run(int instances, JsonObject config) {
    RunTarget target = new RunTarget("told", Told.class, config);
    return new VerticleRun(target, instances, getClass().getClassLoader());
  }

  private void deploy(VerticleRun run) throws Exception {
    run.deploy(vertx, teardown, end, () -> undeployed.complete(null));
  }

  @Test
  void deploysAllInstancesAndUndeploysThem() throws Exception {
    VerticleRun run = run(3, new JsonObject().put("a", 1));
    deploy(run);
    assertThat(run.wasDeployed()).isTrue();
    assertThat(vertx.deploymentIDs()).hasSize(1);
    assertThat(TOLD).hasSize(3).allMatch(each -> each.config.equals(new JsonObject().put("a", 1)));
    teardown.run(10_000);
    assertThat(TOLD).allMatch(each -> each.stopped);
    assertThat(vertx.deploymentIDs()).isEmpty();
    assertThat(undeployed).as("it did not end by itself").isNotDone();
  }

  @Test
  void aVerticleThatUndeploysItselfIsReported() throws Exception {
    deploy(run(2, new JsonObject()));
    Told one = TOLD.get(0);
    await(vertx.undeploy(one.deploymentID()));
    undeployed.get(10, TimeUnit.SECONDS);
    teardown.run(10_000);
    assertThat(TOLD).allMatch(each -> each.stopped);
  }

  @Test
  void aFailureSaysWhatTheVerticleSaid() {
    VerticleRun run = run(1, new JsonObject().put("fails", "the disk is full"));
    assertThatThrownBy(() -> deploy(run))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("cannot deploy told: the disk is full");
    assertThat(run.wasDeployed()).isFalse();
    teardown.run(10_000);
    assertThat(undeployed).isNotDone();
  }

  /** Its start hangs, and the program must end all the same. */
  @Test
  void stopsBeforeItIsDeployed() throws Exception {
    end.complete(null);
    VerticleRun run = run(1, new JsonObject().put("hangs", true));
    deploy(run);
    assertThat(run.wasDeployed()).isFalse();
    teardown.run(10_000);
  }
}
