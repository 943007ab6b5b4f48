package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.MemberLeftException;
import com.hazelcast.core.OperationTimeoutException;
import dev.evenkeel.TestPorts;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.core.json.JsonObject;
import java.net.BindException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that cannot go on in the cluster ends whole, so that it can be run again in its JVM. */
class StartAnewTest {
  private record Run(
      CompletableFuture<Vertx> ready,
      CompletableFuture<CompletableFuture<Void>> end,
      CompletableFuture<Integer> status) {}

  @Test
  void aNodeWithoutItsMemberEndsAllOfItselfAndRunsAgainWithItsData(@TempDir Path data)
      throws Exception {
    int port = TestPorts.take(4);
    NodeConfig config =
        NodeConfig.of(
            ConfigReader.merge(
                Map.of(),
                "",
                Map.of(),
                Map.of(
                    "port", String.valueOf(port),
                    "data", data.resolve("d").toString(),
                    "roles", "broker,dispatcher")));
    Run first = run(config);
    JsonObject create = new JsonObject().put("action", "create").put("name", "t").put("shards", 2);
    // A slow machine may answer that it does not know whether it was made.
    Awaitility.await()
        .ignoreExceptionsInstanceOf(ExecutionException.class)
        .until(() -> hasTopic(first) || ask(first, create) != null);
    for (HazelcastInstance instance : Hazelcast.getAllHazelcastInstances()) {
      if (instance.getCluster().getLocalMember().getAddress().getPort()
          == NodePorts.hazelcast(port)) {
        instance.getLifecycleService().terminate();
      }
    }
    assertThat(first.status())
        .failsWithin(60, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(ServeRun.Unfit.class);
    Run second = run(config);
    Awaitility.await()
        .ignoreExceptionsInstanceOf(ExecutionException.class)
        .until(() -> hasTopic(second));
    second.end().join().complete(null);
    assertThat(second.status()).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo(ExitStatus.DONE);
  }

  @Test
  void aNodeThatTheClusterDoesNotAnswerWhileItStartsIsRunAgain() {
    // As Vert.x passes it on, when the address of a verticle cannot be registered.
    OperationTimeoutException silence = new OperationTimeoutException("PutOperation");
    assertThatThrownBy(() -> ServeRun.get(CompletableFuture.failedFuture(silence)))
        .isInstanceOf(ServeRun.Unfit.class)
        .hasMessageContaining("while the node was starting");
    MemberLeftException gone = new MemberLeftException("the owner of a part has left");
    assertThatThrownBy(() -> ServeRun.get(CompletableFuture.failedFuture(new VertxException(gone))))
        .isInstanceOf(ServeRun.Unfit.class);
    assertThatThrownBy(
            () -> ServeRun.get(CompletableFuture.failedFuture(new BindException("in use"))))
        .isInstanceOf(CommandFailure.class);
  }

  private static boolean hasTopic(Run run) throws Exception {
    return ask(run, new JsonObject().put("action", "list")).toString().contains("\"t\"");
  }

  private static Object ask(Run run, JsonObject question) throws Exception {
    return run.ready()
        .get(60, TimeUnit.SECONDS)
        .eventBus()
        .request(ApiAddresses.TOPICS, question)
        .toCompletionStage()
        .toCompletableFuture()
        .get(30, TimeUnit.SECONDS)
        .body();
  }

  private static Run run(NodeConfig config) {
    Run run =
        new Run(new CompletableFuture<>(), new CompletableFuture<>(), new CompletableFuture<>());
    ServeRun.Guest guest =
        (vertx, httpPort, teardown, end) -> {
          run.end().complete(end);
          run.ready().complete(vertx);
        };
    new Thread(
            () -> {
              try {
                run.status().complete(new ServeRun(config, guest, new Teardown()).run());
              } catch (InterruptedException | RuntimeException e) {
                run.status().completeExceptionally(e);
              }
            },
            "node")
        .start();
    return run;
  }
}
