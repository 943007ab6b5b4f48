package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Wait;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was closed is not kept in the memory, in whatever order things are closed. */
class NothingLeftTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final ElectionCareer CAREER =
      new ElectionCareer() {
        @Override
        public Future<Void> inaugurate(LeaderContext context) {
          return Future.succeededFuture();
        }

        @Override
        public Future<Void> execute(LeaderContext context) {
          return Future.succeededFuture();
        }

        @Override
        public Future<Void> handOver(LeaderContext context) {
          return Future.succeededFuture();
        }
      };

  enum Way {
    SESSION,
    BUS
  }

  private final List<WeakReference<Object>> closed = new ArrayList<>();
  private EmbeddedNode node;

  @BeforeEach
  void open(EmbeddedNode started) {
    node = started;
  }

  private Vertx vertx(Way way) {
    if (way == Way.SESSION) {
      return Vertx.vertx();
    }
    ClusterMember member =
        await(
            ClusterMembers.lite(
                HostPort.parseAll(node.clientOptions().getSeeds()),
                ClusterDefaults.CLUSTER_NAME,
                null));
    return member.vertx();
  }

  private EvenkeelClient client(Way way, Vertx vertx) {
    return await(
        way == Way.SESSION ? Evenkeel.connect(vertx, node.clientOptions()) : Evenkeel.with(vertx));
  }

  private void nothingIsLeft() {
    Wait.until(
        "nothing is left",
        () -> {
          System.gc();
          return closed.stream().allMatch(each -> each.get() == null);
        });
  }

  private <T> T noted(T one) {
    closed.add(new WeakReference<>(one));
    return one;
  }

  private static String name(String what) {
    return what + "-" + System.nanoTime();
  }

  @ParameterizedTest
  @EnumSource
  void aServiceThatWasOpenedAndClosedLeavesNothing(Way way) {
    Vertx vertx = vertx(way);
    EvenkeelClient client = client(way, vertx);
    String name = name("often");
    times(
        1_000,
        i -> {
          Dedup dedup = noted(client.dedup(name));
          if (i % 20 == 0) {
            assertThat(await(dedup.claim("k" + i))).isPresent();
          }
          await(dedup.close());
          await(noted(client.coordinator("c" + name, 10)).close());
        });
    times(
        20,
        i -> {
          ClusterCoordinator coordinator = noted(client.coordinator("c" + name, 10));
          noted(await(coordinator.track("t")));
          await(coordinator.close());
          await(noted(await(election(client, name))).close());
        });
    nothingIsLeft();
    await(client.close());
    await(vertx.close());
  }

  private static Future<Candidate> election(EvenkeelClient client, String name) {
    return client.election(new ElectionOptions().setName("e" + name), CAREER);
  }

  /** Applications do so, because it is the shorter way to end. */
  @ParameterizedTest
  @EnumSource
  void aClientThatIsClosedAfterItsVertxLeavesNothing(Way way) {
    closeAfterVertx(way);
    nothingIsLeft();
  }

  private void closeAfterVertx(Way way) {
    Vertx vertx = noted(vertx(way));
    EvenkeelClient client = noted(client(way, vertx));
    String name = name("late");
    Dedup dedup = noted(client.dedup(name));
    assertThat(await(dedup.claim("k"))).isPresent();
    ClusterTrack track = noted(await(client.coordinator("c" + name, 10).track("t")));
    Candidate candidate = noted(await(election(client, name)));
    node.createTopic(name, 2);
    noted(await(client.producer(new ProducerOptions().setTopic(name))));
    Consumer consumer =
        noted(
            await(
                client.consumer(
                    new ConsumerOptions().setGroup("g" + name).setTopics(List.of(name)),
                    delivery -> Future.succeededFuture())));
    await(vertx.close());
    assertThat(track.move()).isFalse();
    assertThat(candidate.isLeading()).isFalse();
    await(client.close());
    await(candidate.close());
    await(track.destroy());
    await(consumer.close());
    await(dedup.close());
  }
}
