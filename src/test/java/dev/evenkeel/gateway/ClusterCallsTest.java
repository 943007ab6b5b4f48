package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.DescribeDeadLetter;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Views;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Brokers answer in turn, and those that follow hear of a change later than the leader. */
class ClusterCallsTest {
  private static final TopicInfo TOPIC =
      new TopicInfo(1, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1);

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  @Closing private final ClusterCalls calls = new ClusterCalls(link);
  private final List<String> nodes = List.of("n1", "n2", "n3");
  private final AtomicInteger asked = new AtomicInteger();
  private String leader = "n3";

  /** The nodes in turn; one of them has heard of the topic. */
  private void serve(String knows) {
    serve(knows, TOPIC, null);
  }

  /**
   * The nodes in turn.
   *
   * @param now the topic as one of them knows it
   * @param before the topic as the others know it; null: they do not
   */
  private void serve(String knows, TopicInfo now, TopicInfo before) {
    link.serve(
        Addresses.VIEW,
        request -> {
          String node = nodes.get(asked.getAndIncrement() % nodes.size());
          boolean hasHeard = node.equals(knows);
          TopicInfo topic = hasHeard ? now : before;
          return Future.succeededFuture(
              view(node, hasHeard, topic == null ? List.of() : List.of(topic)).toJson().toBuffer());
        });
  }

  private ClusterView view(String node, boolean hasHeard, List<TopicInfo> topics) {
    return Views.formed(
        "c",
        node,
        leader,
        new ArrayList<>(List.of("n1")),
        nodes,
        topics,
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
      assertThat(await(calls.topicsWith("t", -1)).topic("t")).isNotNull();
      assertThat(await(calls.newestTopics()).topic("t")).isNotNull();
    }
  }

  @Test
  void withoutALeaderTheNewestViewCounts() throws Exception {
    leader = null;
    serve("n2");
    assertThat(await(calls.topicsWith("t", -1)).topic("t")).isNotNull();
    assertThat(await(calls.newestTopics()).metaIndex()).isEqualTo(8);
  }

  @Test
  void aTopicThatTheLeaderDoesNotKnowIsMissingSoon() throws Exception {
    serve("none");
    assertThat(await(calls.topicsWith("t", -1)).topic("t")).isNull();
    assertThat(asked).hasValueLessThan(2 * nodes.size());
  }

  @Test
  void aShardThatFollowersHaveNotHeardOfIsFound() throws Exception {
    serve("n3", TOPIC.opening(2, List.of(0)).opened(2), TOPIC);
    for (int i = 0; i < nodes.size(); i++) {
      assertThat(await(calls.topicsWith("t", 2)).topic("t").has(2)).isTrue();
    }
    assertThat(await(calls.topicsWith("t", 7)).topic("t").has(7)).isFalse();
  }

  /** As a user sees a topic right after its change, whichever node answers. */
  @Test
  void aTopicIsShownAsItWasChangedLast() throws Exception {
    serve("n3", TOPIC.configured(new TopicConfig(7, -1, -1)), TOPIC);
    link.serve(
        Addresses.control("n1"),
        request -> Future.succeededFuture(Frames.refusal(Refusal.INVALID.error("no figures"))));
    ApiAnswers answers = new ApiAnswers();
    new TopicsApi(calls, new ReadyApi(calls)).serve(answers);
    for (int i = 0; i < nodes.size(); i++) {
      Object shown =
          answers
              .answer(ApiAddresses.TOPICS, new JsonObject().put("action", "get").put("name", "t"))
              .toCompletionStage()
              .toCompletableFuture()
              .get(20, TimeUnit.SECONDS);
      assertThat(((JsonObject) shown).getLong("retentionMillis")).isEqualTo(7);
    }
  }

  /** An answer names no deleted topic, and leaves out none that was just created. */
  @Test
  void deadLettersAreThoseOfTheTopicsAsTheyAreNow() throws Exception {
    TopicInfo again = new TopicInfo(2, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1);
    serve("n3", again, TOPIC);
    List<Integer> read = new ArrayList<>();
    link.serve(
        Addresses.control("n1"),
        request -> {
          ByteReader body = new ByteReader(Frames.body(request));
          body.text();
          read.add(RecordCodec.SHARD.read(body).topicId());
          return Future.succeededFuture(Frames.refusal(Refusal.INVALID.error("read")));
        });
    DeadLettersApi letters = new DeadLettersApi(calls, new FailedMessages(calls));
    for (int i = 0; i < nodes.size(); i++) {
      DescribeDeadLetter question = new DescribeDeadLetter("g", "t/0/5");
      assertThat(letters.show(question).toCompletionStage().toCompletableFuture())
          .failsWithin(20, TimeUnit.SECONDS);
    }
    assertThat(read).hasSize(nodes.size()).containsOnly(2);
  }

  @Test
  void aDeadLetterOfATopicThatWasJustMadeIsNoUnknownTopic() {
    serve("n3");
    link.serve(
        Addresses.control("n1"),
        request -> Future.succeededFuture(Frames.refusal(Refusal.INVALID.error("it was asked"))));
    FailedMessages failed = new FailedMessages(calls);
    var changes = new DeadLetterChanges(calls, failed, new DeadLettersApi(calls, failed));
    for (int i = 0; i < nodes.size(); i++) {
      wasAsked(failed.list("g", "t/0/5", 100, any -> true, null));
      wasAsked(changes.change("g", List.of("t/0/5"), false, true, true));
    }
  }

  private static void wasAsked(Future<?> answer) {
    assertThat(answer.toCompletionStage().toCompletableFuture())
        .failsWithin(20, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining("it was asked");
  }
}
