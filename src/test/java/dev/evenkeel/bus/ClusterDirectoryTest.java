package dev.evenkeel.bus;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClusterDirectoryTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final AtomicInteger asked = new AtomicInteger();
  private volatile ClusterView view = view("a", 4);
  @Closing private final ClusterDirectory directory;

  ClusterDirectoryTest() {
    link.serve(
        Addresses.VIEW,
        body -> {
          asked.incrementAndGet();
          return Future.succeededFuture(view.toJson().toBuffer());
        });
    directory = new ClusterDirectory(link);
  }

  @Test
  void whatANodeWasAskedIsGivenUpWhenItDoesNotAnswerALaterQuestion() {
    directory.close();
    ClusterDirectory fresh = new ClusterDirectory(link, 50);
    try {
      AtomicInteger questions = new AtomicInteger();
      Promise<Buffer> fetch = Promise.promise();
      Promise<Buffer> other = Promise.promise();
      Promise<Buffer> silence = Promise.promise();
      link.serve(Addresses.data("a"), body -> silence.future());
      link.serve(
          Addresses.data("b"),
          body -> {
            questions.incrementAndGet();
            return Future.succeededFuture(Frames.refusal(Refusal.INVALID, "empty"));
          });
      Future<Buffer> lost = fresh.whileLeads(0, "a", fetch.future());
      Future<Buffer> waits = fresh.whileLeads(1, "b", other.future());
      await().until(lost::isComplete);
      Refused.is(Refusal.INDETERMINATE, lost.cause());
      int asked = questions.get();
      await().until(() -> questions.get() > asked + 1);
      assertThat(waits.isComplete()).as("of a node that answers").isFalse();
      other.complete(Buffer.buffer());
      assertThat(await(waits)).isEqualTo(Buffer.buffer());
    } finally {
      fresh.close();
    }
  }

  @Test
  void asksAndRemembers() {
    assertThat(directory.current()).isNull();
    assertThat(directory.leaderOf(new Shard(1, 0))).isNull();
    assertThat(await(directory.view())).isEqualTo(view);
    // An answer would come later only.
    Future<ClusterView> known = directory.view();
    assertThat(known.isComplete()).isTrue();
    assertThat(known.result()).isEqualTo(view).isEqualTo(directory.current());
    assertThat(directory.leaderOf(new Shard(1, 0))).isEqualTo("a");
  }

  /** The answer to a question that was asked before may not show what has changed since. */
  @Test
  void whoAsksAnewGetsAnAnswerToAQuestionOfItsOwn() {
    directory.close();
    Promise<Buffer> first = Promise.promise();
    ClusterView later = view("b", 5);
    AtomicInteger requests = new AtomicInteger();
    link.serve(
        Addresses.VIEW,
        body ->
            requests.incrementAndGet() == 1
                ? first.future()
                : Future.succeededFuture(later.toJson().toBuffer()));
    Promise<ClusterView> early = Promise.promise();
    Promise<ClusterView> anew = Promise.promise();
    vertx.runOnContext(
        turn -> {
          ClusterDirectory fresh = new ClusterDirectory(link);
          fresh.refresh().onComplete(early);
          fresh
              .askAnew()
              .onComplete(
                  answered -> {
                    fresh.close();
                    anew.handle(answered);
                  });
          first.complete(view.toJson().toBuffer());
        });
    assertThat(await(early.future())).isEqualTo(view);
    assertThat(await(anew.future())).isEqualTo(later);
  }

  @Test
  void requestsAtOneTimeShareAnAnswer() {
    directory.close();
    Promise<Buffer> answer = Promise.promise();
    AtomicInteger requests = new AtomicInteger();
    link.serve(
        Addresses.VIEW,
        body -> {
          requests.incrementAndGet();
          return answer.future();
        });
    Promise<ClusterView> one = Promise.promise();
    Promise<ClusterView> two = Promise.promise();
    // In one turn of an event loop, so that no time can pass after which another broker is asked.
    vertx.runOnContext(
        turn -> {
          ClusterDirectory fresh = new ClusterDirectory(link);
          fresh.refresh().onComplete(one);
          fresh.refresh().onComplete(two);
          answer.complete(view.toJson().toBuffer());
          fresh.close();
        });
    assertThat(await(one.future())).isSameAs(await(two.future()));
    assertThat(requests).hasValue(1);
  }

  @Test
  void takesHintsAtOnce() {
    await(directory.view());
    // Nobody tells it otherwise any more, however long this takes.
    link.become(Link.State.LOST);
    directory.leaderHint(1, "b");
    assertThat(directory.leaderOf(new Shard(1, 0))).isEqualTo("b");
    assertThat(directory.leaderOf(new Shard(1, 1))).isEqualTo("a");
    directory.leaderHint(1, null);
    assertThat(directory.leaderOf(new Shard(1, 0))).isNull();
    directory.leaderHint(ClusterView.META, "c");
    assertThat(directory.current().metaLeader()).isEqualTo("c");
  }

  @Test
  void readsAgainWhenTopicsChangeOrTheLinkComesBack() {
    await(directory.view());
    view = view("a", 9);
    link.publish(Addresses.TOPIC_CHANGES, Buffer.buffer());
    await().until(() -> directory.current().topic("t").shards() == 9);
    view = view("b", 9);
    link.become(Link.State.CONNECTED);
    await().until(() -> "b".equals(directory.leaderOf(new Shard(1, 0))));
  }

  @Test
  void takesAnnouncedLeadersAtOnceButNotThoseOfAnEarlierTerm() {
    AtomicInteger told = new AtomicInteger();
    directory.onLeader(told::incrementAndGet);
    await(directory.view());
    Shard shard = new Shard(1, 1);
    Promise<String> answer = Promise.promise();
    Future<String> waiting = directory.whileLeads(0, "a", answer.future());
    announce(new LeaderChange(0, "b", 7), true);
    assertThat(directory.leaderOf(shard)).isEqualTo("b");
    assertThat(waiting.failed()).isTrue();
    assertThat(told).hasValue(1);
    announce(new LeaderChange(0, "a", 6), false);
    assertThat(told).hasValue(1);
    assertThat(directory.leaderOf(shard)).isEqualTo("b");
    // A node that does not know of the change yet is asked.
    await(directory.refresh());
    assertThat(directory.leaderOf(shard)).isEqualTo("b");
    link.publish(Addresses.LEADER_CHANGES, Buffer.buffer("nonsense"));
    assertThat(directory.leaderOf(shard)).isEqualTo("b");
  }

  private void announce(LeaderChange leader, boolean began) {
    link.publish(
        Addresses.LEADER_CHANGES,
        new LeaderChange.News(List.of(leader), began).toJson().toBuffer());
  }

  @Test
  void asksAnotherBrokerWhenOneDoesNotAnswer() {
    link.serve(
        Addresses.VIEW,
        body ->
            asked.incrementAndGet() == 1
                ? Promise.<Buffer>promise().future()
                : Future.succeededFuture(view.toJson().toBuffer()));
    assertThat(await(directory.refresh())).isEqualTo(view);
    assertThat(asked).hasValueGreaterThanOrEqualTo(2);
  }

  @Test
  void theTopicsOfANodeThatHasNotCaughtUpCountForNothing() {
    ClusterView behind = behind(view("b", 9));
    link.serve(
        Addresses.VIEW,
        body ->
            Future.succeededFuture(
                (asked.incrementAndGet() == 1 ? behind : view).toJson().toBuffer()));
    assertThat(await(directory.refresh())).as("another is asked").isEqualTo(view);
    link.serve(Addresses.VIEW, body -> Future.succeededFuture(behind.toJson().toBuffer()));
    ClusterView merged = await(directory.refresh());
    assertThat(merged.topics()).isEqualTo(view.topics());
    assertThat(merged.caughtUp()).isTrue();
    assertThat(merged.metaLeader()).isEqualTo("b");
    assertThat(merged.existing("t").shards()).isEqualTo(view.topic("t").shards());
  }

  @Test
  void whatIsMissingIsUnknownOnlyToWhoHasCaughtUp() {
    assertThat(view.missing("none").refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
    assertThat(behind(view).missing("none").refusal()).isEqualTo(Refusal.UNAVAILABLE);
    Fails.saying(() -> behind(view).existing("none"), "does not know the topics yet");
    assertThat(ClusterView.fromJson(behind(view).toJson())).isEqualTo(behind(view));
  }

  private static ClusterView behind(ClusterView view) {
    return known("c", view, List.of(), false, -1);
  }

  private static ClusterView at(long metaIndex, ClusterView view) {
    return known("c", view, view.topics(), true, metaIndex);
  }

  private static ClusterView known(
      String cluster, ClusterView view, List<TopicInfo> topics, boolean caughtUp, long metaIndex) {
    return Views.formed(
        cluster,
        view.node(),
        view.metaLeader(),
        view.dataLeaders(),
        view.nodes(),
        topics,
        view.metaTerm(),
        view.dataTerms(),
        caughtUp,
        metaIndex);
  }

  @Test
  void topicsOfALaterEntryCountAlsoIfAnOlderViewComesAfterThem() {
    view = at(9, view("a", 9));
    await(directory.refresh());
    view = at(4, view("b", 4));
    ClusterView merged = await(directory.refresh());
    assertThat(merged.topic("t").shards()).isEqualTo(9);
    assertThat(merged.metaIndex()).isEqualTo(9);
    assertThat(merged.metaLeader()).isEqualTo("b");
    view = at(-1, view("a", 5));
    assertThat(await(directory.refresh()).topic("t").shards()).as("unknown index").isEqualTo(5);
    view = at(9, view("a", 9));
    await(directory.refresh());
    ClusterView other = view("a", 4);
    view = known("another cluster", other, other.topics(), true, 4);
    assertThat(await(directory.refresh()).topic("t").shards()).isEqualTo(4);
  }

  @Test
  void theBestOfWhatBrokersAnswerCounts() {
    ClusterView behind = behind(view("b", 9));
    link.serve(
        Addresses.VIEW,
        body ->
            asked.incrementAndGet() == 1
                ? Future.succeededFuture(behind.toJson().toBuffer())
                : Future.failedFuture("gone"));
    assertThat(await(directory.refresh()).metaLeader()).as("rather than a failure").isEqualTo("b");
  }

  @Test
  void aFailureKeepsWhatIsKnown() {
    await(directory.view());
    link.become(Link.State.LOST);
    assertThatThrownBy(() -> await(directory.refresh())).isInstanceOf(RefusedException.class);
    assertThat(await(directory.view())).isEqualTo(view);
    directory.close();
    assertThatThrownBy(() -> await(directory.refresh())).hasMessageContaining("closed");
  }

  private static ClusterView view(String leader, int shards) {
    return Views.of(
        "a",
        leader,
        List.of(leader, leader),
        List.of("a", "b"),
        List.of(
            new TopicInfo(
                1, "t", shards, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1_700_000_000_000L)));
  }
}
