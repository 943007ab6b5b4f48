package dev.evenkeel.cluster;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.Wait;
import io.vertx.core.Vertx;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An application whose Hazelcast instance outlives its Vert.x. */
class OwnHazelcastTest {
  private static final String ID = "own-hazelcast";

  private final HazelcastInstance hazelcast = Hazelcast.newHazelcastInstance(config());

  private static Config config() {
    Config config = new Config().setClusterName(ID);
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getMemberAttributeConfig().setAttribute(NodeList.ID, ID);
    return config;
  }

  @AfterEach
  void stop() {
    hazelcast.shutdown();
  }

  private Vertx vertx() {
    return await(
        Vertx.builder()
            .withClusterManager(new HazelcastClusterManager(hazelcast))
            .buildClustered());
  }

  private WeakReference<Vertx> former() {
    Vertx vertx = vertx();
    assertThat(await(ClusterMembers.of(vertx)).id()).isEqualTo(ID);
    assertThat(ClusterMembers.shared(ID)).isNotNull();
    await(vertx.close());
    return new WeakReference<>(vertx);
  }

  @Test
  void nothingIsLeftOfAFormerVertx() {
    WeakReference<Vertx> former = former();
    assertThat(ClusterMembers.shared(ID)).isNull();
    Vertx vertx = vertx();
    ClusterMember member = await(ClusterMembers.of(vertx));
    assertThat(ClusterMembers.shared(ID)).isSameAs(member.dedup());
    Wait.until(
        "the former Vert.x is collected",
        () -> {
          System.gc();
          return former.get() == null;
        });
    await(vertx.close());
  }
}
