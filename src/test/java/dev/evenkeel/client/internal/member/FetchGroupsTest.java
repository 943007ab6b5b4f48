package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Partial;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FetchGroupsTest {
  private record Asked(List<Integer> shards, Promise<Buffer> answer) {}

  private final Vertx vertx = Vertx.vertx();
  private final OwnContext context = new OwnContext(vertx);
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private final List<Integer> alone = new CopyOnWriteArrayList<>();
  private final FetchGroups groups =
      new FetchGroups(
          Partial.of(Link.class, new Asks()),
          context,
          shard -> "n" + shard.topicId(),
          known -> known,
          this::alone);

  @AfterEach
  void close() {
    vertx.close();
  }

  private final class Asks {
    Vertx vertx() {
      return vertx;
    }

    Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
      assertThat(Frames.op(body)).isEqualTo(Op.FETCH_MANY);
      List<Integer> shards =
          FetchManyRequest.decode(Frames.body(body)).fetches().stream()
              .map(each -> each.shard().shard())
              .toList();
      Promise<Buffer> answer = Promise.promise();
      asked.add(new Asked(shards, answer));
      return answer.future();
    }
  }

  private Future<FetchAnswer> alone(FetchRequest request, Consumer<String> node) {
    alone.add(request.shard().shard());
    return Future.succeededFuture(new FetchAnswer(0, 9, 0, List.of()));
  }

  /** Fetches these shards of a topic in one turn. */
  private List<Future<FetchAnswer>> fetch(int topic, int... shards) {
    int before = asked.size();
    List<Future<FetchAnswer>> all = new CopyOnWriteArrayList<>();
    context.run(
        () -> {
          for (int shard : shards) {
            FetchRequest request =
                new FetchRequest("g", new Shard(topic, shard), 1, 5, 1_000, 10, 0, 15_000);
            all.add(groups.fetch(request, node -> assertThat(node).isEqualTo("n" + topic)));
          }
        });
    await().until(() -> asked.size() > before);
    return all;
  }

  private static FetchManyAnswer.Part end(int index, long end) {
    return new FetchManyAnswer.Part(index, Frames.answer(FetchAnswer.head(0, end, 0).view()));
  }

  private static void answer(Asked request, FetchManyAnswer.Part... parts) {
    request.answer.complete(new FetchManyAnswer(List.of(parts)).encode());
  }

  private static <T> T result(Future<T> future) {
    await().until(future::isComplete);
    assertThat(future.succeeded()).as(String.valueOf(future.cause())).isTrue();
    return future.result();
  }

  @Test
  void fetchesOfOneTurnGoTogetherAndThoseWithoutAnAnswerMayAskAgain() {
    List<Future<FetchAnswer>> answers = fetch(1, 0, 1, 2);
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).shards()).containsExactly(0, 1, 2);
    answer(asked.get(0), end(1, 7));
    assertThat(result(answers.get(1)).endOffset()).isEqualTo(7);
    assertThat(result(answers.get(1)).isCutShort()).isFalse();
    assertThat(result(answers.get(0)).isCutShort()).isTrue();
    assertThat(result(answers.get(2)).endOffset()).isEqualTo(5);
  }

  @Test
  void groupsGrowAndWhatTheFormerOneBringsStillCounts() {
    Future<FetchAnswer> first = fetch(1, 0).get(0);
    Future<FetchAnswer> second = fetch(1, 1).get(0);
    assertThat(asked.get(1).shards()).containsExactly(1, 0);
    List<Future<FetchAnswer>> more = fetch(1, 2);
    assertThat(asked.get(2).shards()).as("one is less than two").containsExactly(2);
    answer(asked.get(0), end(0, 6));
    assertThat(result(first).endOffset()).isEqualTo(6);
    answer(asked.get(1), end(0, 8), end(1, 9));
    assertThat(result(second).endOffset()).isEqualTo(8);
    assertThat(more.get(0).isComplete()).isFalse();
    int[] many = IntStream.range(10, 10 + 130).toArray();
    fetch(1, many);
    await().until(() -> asked.size() == 6);
    assertThat(asked.subList(3, 6))
        .extracting(each -> each.shards().size())
        .containsExactlyInAnyOrder(64, 64, 3);
  }

  @Test
  void aFetchThatIsRefusedAsksAloneAndFencedIsFinal() {
    List<Future<FetchAnswer>> answers = fetch(1, 0, 1, 2, 3);
    answer(
        asked.get(0),
        new FetchManyAnswer.Part(0, Frames.refusal(Refusal.NOT_LEADER, "n2")),
        new FetchManyAnswer.Part(1, Frames.refusal(Refusal.FENCED, "gone")),
        new FetchManyAnswer.Part(3, Frames.refusal(Refusal.UNAVAILABLE, "catching up")),
        new FetchManyAnswer.Part(99, Frames.refusal(Refusal.FENCED, "nonsense")));
    assertThat(result(answers.get(0)).endOffset()).isEqualTo(9);
    assertThat(alone).containsExactly(0);
    await().until(answers.get(1)::isComplete);
    assertThat(RefusedException.of(answers.get(1).cause()).refusal()).isEqualTo(Refusal.FENCED);
    assertThat(result(answers.get(2)).isCutShort()).isTrue();
    await().until(answers.get(3)::failed);
  }

  @Test
  void aNodeOfAFormerVersionIsAskedForEachShardAlone() {
    List<Future<FetchAnswer>> answers = new ArrayList<>(fetch(1, 0, 1));
    asked.get(0).answer.complete(Frames.refusal(Refusal.WRONG_VERSION, "unknown operation 25"));
    answers.forEach(FetchGroupsTest::result);
    assertThat(alone).containsExactly(0, 1);
    context.run(
        () ->
            groups.fetch(
                new FetchRequest("g", new Shard(1, 2), 1, 5, 1_000, 10, 0, 15_000), node -> {}));
    await().until(() -> alone.size() == 3);
    assertThat(asked).hasSize(1);
  }

  @Test
  void aLostAnswerFailsTheFetchesThatNoOtherGroupHas() {
    Future<FetchAnswer> first = fetch(1, 0).get(0);
    Future<FetchAnswer> second = fetch(1, 1).get(0);
    asked.get(0).answer.fail(new RefusedException(Refusal.INDETERMINATE, "lost"));
    answer(asked.get(1), end(1, 8));
    assertThat(result(first).endOffset()).isEqualTo(8);
    assertThat(result(second).isCutShort()).isTrue();
    List<Future<FetchAnswer>> lost = fetch(2, 0, 1);
    asked.get(2).answer.fail(new RefusedException(Refusal.INDETERMINATE, "lost"));
    await().until(lost.get(1)::failed);
    assertThat(result(lost.get(0)).endOffset()).as("one asks alone").isEqualTo(9);
    assertThat(alone).containsExactly(0);
  }
}
