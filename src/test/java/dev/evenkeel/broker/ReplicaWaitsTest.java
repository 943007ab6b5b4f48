package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.ByteReader;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ReplicaWaitsTest {
  private static final int EACH = 2_048;

  private static Future<ByteBuffer> await(Bench bench, String user) {
    Buffer request = Frames.request(Op.AWAIT_REPLICAS, new ReplicasRequest(0, 1, 15_000).encode());
    return bench.send(Addresses.data("n1"), request, user, "c");
  }

  @Test
  void aUserWhoLetsManyRequestsWaitLeavesRoomForOthers() throws Exception {
    try (Bench bench = new Bench(1 << 20, new JsonObject(), 1, "n1")) {
      CompletableFuture<Replicas> everywhere = new CompletableFuture<>();
      bench.cluster.group("d0").lagging = everywhere;
      List<Future<ByteBuffer>> waiting = new ArrayList<>();
      for (int i = 0; i < EACH; i++) {
        waiting.add(await(bench, "mallory"));
      }
      Refused.with(
          Refusal.OVERLOADED,
          () -> get(await(bench, "mallory")),
          "the user 'mallory' has 2048 of the 4096 requests that wait for all replicas");
      assertThat(waiting).noneMatch(Future::isComplete);
      waiting.add(await(bench, "alice"));
      waiting.add(await(bench, null));
      Wait.until(
          "hers waits",
          () ->
              Shares.of(bench.vertx).all().get(Scarce.REPLICA_WAITS).usage().containsKey("alice"));
      everywhere.complete(new Replicas(1, List.of()));
      for (Future<ByteBuffer> each : waiting) {
        assertThat(ReplicasAnswer.decode(new ByteReader(get(each))).missing()).isEmpty();
      }
      assertThat(Shares.of(bench.vertx).all().get(Scarce.REPLICA_WAITS).usage()).isEmpty();
    }
  }
}
