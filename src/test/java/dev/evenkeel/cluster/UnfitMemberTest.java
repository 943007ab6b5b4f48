package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.internal.partition.InternalPartition;
import com.hazelcast.internal.partition.PartitionReplica;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Real members of one cluster, and a table of partitions that is broken by force. */
class UnfitMemberTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static final long SHORT_MILLIS = 2_000;

  @Test
  void theOldestMemberEndsWhenAPartitionStaysWithoutOwnerAndTheOtherGoesOn() throws Exception {
    HostPort firstPlace = new HostPort("127.0.0.1", TestPorts.take(4));
    HostPort secondPlace = new HostPort("127.0.0.1", TestPorts.take(4));
    Judge judge = new Judge();
    ClusterMember first = result(join(judge, firstPlace, firstPlace, secondPlace));
    ClusterMember second = result(join(new PartitionWatch(), secondPlace, firstPlace, secondPlace));
    try {
      Wait.until(() -> second.dataMembers() == 2);
      result(first.registry().put("a", new JsonObject()));
      Wait.until(() -> judge.onceWhole);
      Awaitility.await()
          .atMost(LONG)
          .pollInterval(Duration.ofMillis(500))
          // It may end while it is looked for.
          .ignoreException(HazelcastInstanceNotActiveException.class)
          .until(
              () -> {
                // Again and again: the second one may still be given its share.
                orphanOnePartition(firstPlace.port());
                return first.unfit().isComplete();
              });
      assertThat(first.unfit().result()).contains("no owner");
      Wait.until(() -> second.dataMembers() == 1);
      // It takes over what the first one had, and may refuse meanwhile.
      Wait.until(
          () -> {
            Future<Void> put = second.registry().put("b", new JsonObject());
            return put.transform(done -> Future.succeededFuture(done.succeeded()))
                .toCompletionStage()
                .toCompletableFuture()
                .join();
          });
      assertThat(second.unfit().isComplete()).isFalse();
    } finally {
      result(first.close());
      result(second.close());
    }
  }

  /** As the product's, but for a shorter wait; and it tells when it has seen all owners. */
  private static final class Judge extends PartitionWatch {
    private volatile boolean onceWhole;

    Judge() {
      super(SHORT_MILLIS);
    }

    @Override
    void looked(Boolean allOwned) {
      super.looked(allOwned);
      onceWhole |= Boolean.TRUE.equals(allOwned);
    }
  }

  private static Future<ClusterMember> join(
      PartitionWatch judge, HostPort place, HostPort... peers) {
    return ClusterMembers.node(
        new NodeSettings(
            place.host(), place.host(), place.port(), List.of(peers), "unfit-" + peers[0].port()),
        judge);
  }

  /** As if the oldest member could not give away what a dead one had. */
  private static void orphanOnePartition(int port) throws Exception {
    for (HazelcastInstance instance : Hazelcast.getAllHazelcastInstances()) {
      if (instance.getCluster().getLocalMember().getAddress().getPort()
          == NodePorts.hazelcast(port)) {
        InternalPartition partition =
            ((HazelcastInstanceProxy) instance)
                .getOriginal()
                .node
                .getPartitionService()
                .getPartition(0);
        var set = partition.getClass().getDeclaredMethod("setReplicas", PartitionReplica[].class);
        set.setAccessible(true);
        set.invoke(partition, (Object) new PartitionReplica[InternalPartition.MAX_REPLICA_COUNT]);
      }
    }
  }

  private static <T> T result(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }
}
