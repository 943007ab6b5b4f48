package dev.evenkeel.cli;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Wait;
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

  /** What the stops of the first instances wait for. */
  private static final List<Promise<Void>> STOPPING = new CopyOnWriteArrayList<>();

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
      if (config.containsKey("throws")) {
        throw new IllegalStateException("it was closed already");
      }
      return STOPPING.size() > TOLD.indexOf(this)
          ? STOPPING.get(TOLD.indexOf(this)).future()
          : Future.succeededFuture();
    }
  }

  @BeforeEach
  void begin(Vertx vertx) {
    this.vertx = vertx;
    TOLD.clear();
    STOPPING.clear();
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
    CompletableFuture<Boolean> known =
        undeployed.thenApply(ended -> vertx.deploymentIDs().contains(one.deploymentID()));
    await(vertx.undeploy(one.deploymentID()));
    assertThat(known.get(10, TimeUnit.SECONDS)).as("Vert.x still undeploys it").isFalse();
    teardown.run(10_000);
    assertThat(TOLD).allMatch(each -> each.stopped);
  }

  /** The end of the program would cut off those that still stop. */
  @Test
  void anEndIsReportedWhenAllInstancesHaveStopped() throws Exception {
    STOPPING.addAll(List.of(Promise.promise(), Promise.promise()));
    deploy(run(2, new JsonObject()));
    Future<Void> over = vertx.undeploy(TOLD.get(0).deploymentID());
    STOPPING.get(0).complete();
    Wait.until(() -> TOLD.stream().allMatch(each -> each.stopped));
    assertThat(undeployed).isNotDone();
    STOPPING.get(1).complete();
    await(over);
    undeployed.get(10, TimeUnit.SECONDS);
  }

  /** A node that runs in the same program stops after it, and needs time for that. */
  @Test
  void aStopThatHangsLeavesTimeForWhatComesAfterIt() throws Exception {
    STOPPING.add(Promise.promise());
    CompletableFuture<Void> next = new CompletableFuture<>();
    teardown.add("node", () -> Future.fromCompletionStage(next));
    RunTarget target = new RunTarget("told", Told.class, new JsonObject());
    deploy(new VerticleRun(target, 1, getClass().getClassLoader(), 100));
    CompletableFuture<Void> over =
        CompletableFuture.runAsync(() -> teardown.run(Long.MAX_VALUE / 2_000_000));
    vertx.setTimer(200, timer -> next.complete(null));
    over.get(60, TimeUnit.SECONDS);
    assertThat(TOLD.get(0).stopped).isTrue();
    STOPPING.get(0).complete();
  }

  /** Vert.x does not deploy it again, so the program must not go on without it. */
  @Test
  void aVerticleThatUndeploysItselfAndThrowsIsReported() throws Exception {
    deploy(run(1, new JsonObject().put("throws", true)));
    vertx.undeploy(TOLD.get(0).deploymentID());
    undeployed.get(10, TimeUnit.SECONDS);
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
