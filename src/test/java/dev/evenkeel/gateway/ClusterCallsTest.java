package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Brokers answer in turn, and those that follow hear of a new topic later than the leader. */
class ClusterCallsTest {
  private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final ClusterCalls calls = new ClusterCalls(link);
  private final List<String> nodes = List.of("n1", "n2", "n3");
  private final AtomicInteger asked = new AtomicInteger();
  private String leader = "n3";

  @AfterEach
  void close() throws Exception {
    calls.close();
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** The nodes in turn; one of them has heard of the topic. */
  private void serve(String knows) {
    link.serve(
        Addresses.VIEW,
        request -> {
          String node = nodes.get(asked.getAndIncrement() % nodes.size());
          return Future.succeededFuture(view(node, node.equals(knows)).toJson().toBuffer());
        });
  }

  private ClusterView view(String node, boolean hasHeard) {
    return new ClusterView(
        "c",
        node,
        leader,
        new ArrayList<>(List.of("n1")),
        nodes,
        hasHeard
            ? List.of(new TopicInfo(1, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1))
            : List.of(),
        1,
        List.of(1L),
        true,
        hasHeard ? 8 : 7);
  }

  private static ClusterView await(Future<ClusterView> view) throws Exception {
    return view.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void aTopicThatFollowersHaveNotHeardOfIsFound() throws Exception {
    serve("n3");
    for (int i = 0; i < nodes.size(); i++) {
      assertThat(await(calls.topicsWith("t")).topic("t")).isNotNull();
      assertThat(await(calls.newestTopics()).topic("t")).isNotNull();
    }
  }

  @Test
  void withoutALeaderTheNewestViewCounts() throws Exception {
    leader = null;
    serve("n2");
    assertThat(await(calls.topicsWith("t")).topic("t")).isNotNull();
    assertThat(await(calls.newestTopics()).metaIndex()).isEqualTo(8);
  }

  @Test
  void aTopicThatTheLeaderDoesNotKnowIsMissingSoon() throws Exception {
    serve("none");
    assertThat(await(calls.topicsWith("t")).topic("t")).isNull();
    assertThat(asked).hasValueLessThan(2 * nodes.size());
  }
}
