package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class FetchesAheadTest {
  private static final Shard SHARD = new Shard(1, 2);
  private static final FetchAnswer USUAL = new FetchAnswer(0, 7, 0, List.of());

  private final List<FetchRequest> asked = new ArrayList<>();
  private final List<Promise<FetchAnswer>> ahead = new ArrayList<>();
  private final List<FetchRequest> usual = new ArrayList<>();
  private final AtomicReference<String> node = new AtomicReference<>();

  private final FetchesAhead fetches =
      new FetchesAhead(
          new LogCalls() {
            @Override
            public Future<FetchAnswer> fetchAhead(FetchRequest request, Consumer<String> nodes) {
              asked.add(request);
              nodes.accept("n1");
              ahead.add(Promise.promise());
              return ahead.get(ahead.size() - 1).future();
            }

            @Override
            public Future<FetchAnswer> fetch(
                FetchRequest request, boolean quiet, Consumer<String> nodes) {
              usual.add(request);
              return Future.succeededFuture(USUAL);
            }

            @Override
            public Future<Lease> readLease(Shard shard) {
              throw new AssertionError();
            }

            @Override
            public Future<RetryAnswer> fetchRetries(RetryRequest request) {
              throw new AssertionError();
            }

            @Override
            public Future<Reply> submit(Shard shard, DataCommand command) {
              throw new AssertionError();
            }

            @Override
            public Future<Reply> submit(int dataGroup, DataCommand command) {
              throw new AssertionError();
            }

            @Override
            public String leaderOf(Shard shard) {
              return "n1";
            }
          },
          "g");

  private static Assignment assignment(List<Assignment.Owned> owned, Assignment.Coming... coming) {
    return new Assignment("g", "m", "m-1", 1, 1, owned, null).withComing(List.of(coming));
  }

  private static Assignment.Coming coming(long epoch) {
    return new Assignment.Coming(SHARD, epoch);
  }

  private static Assignment.Owned owned(long epoch) {
    return new Assignment.Owned("t", SHARD, epoch, false, 0, 5);
  }

  private static FetchRequest first(long epoch, long offset) {
    return new FetchRequest("g", SHARD, epoch, offset, 1 << 20, 1_000, 0, 15_000);
  }

  /** An answer with two messages. */
  private static FetchAnswer from(long offset) {
    BatchBuilder builder = new BatchBuilder(1_024);
    for (int i = 0; i < 2; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[1]));
    }
    return new FetchAnswer(
        0, 7, 0, List.of(new FetchAnswer.Placed(offset, builder.build(1, 0, 0))));
  }

  private Future<FetchAnswer> take(FetchRequest request) {
    return fetches.take(request, node::set);
  }

  @Test
  void whatIsComingIsAskedForOnce() {
    fetches.assigned(assignment(List.of(), coming(3)));
    fetches.assigned(assignment(List.of(), coming(3)));
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).isAhead()).isTrue();
    assertThat(asked.get(0).epoch()).isEqualTo(3);
  }

  @Test
  void theFirstFetchOfTheOwnerGetsTheAnswerThatHasCome() {
    fetches.assigned(assignment(List.of(), coming(3)));
    fetches.assigned(assignment(List.of(owned(3))));
    ahead.get(0).complete(from(5));
    assertThat(take(first(3, 5)).result()).isEqualTo(from(5));
    assertThat(node).hasValue("n1");
    assertThat(take(first(3, 7))).as("only the first").isNull();
    assertThat(usual).isEmpty();
  }

  @Test
  void orTheOneThatIsStillToCome() {
    fetches.assigned(assignment(List.of(), coming(3)));
    Future<FetchAnswer> taken = take(first(3, 6));
    assertThat(taken.isComplete()).isFalse();
    ahead.get(0).complete(from(5));
    assertThat(taken.result()).isEqualTo(from(5));
    assertThat(usual).isEmpty();
  }

  @Test
  void anAnswerThatBeginsTooLateIsNotUsed() {
    fetches.assigned(assignment(List.of(), coming(3)));
    ahead.get(0).complete(from(5));
    assertThat(take(first(3, 4))).as("messages would be missing").isNull();
    fetches.assigned(assignment(List.of(), coming(4)));
    Future<FetchAnswer> taken = take(first(4, 4));
    ahead.get(1).complete(from(5));
    assertThat(taken.result()).isEqualTo(USUAL);
    assertThat(usual).containsExactly(first(4, 4));
  }

  @Test
  void anAnswerWithoutMessagesOrARefusalCostsNothing() {
    fetches.assigned(assignment(List.of(), coming(3)));
    ahead.get(0).complete(new FetchAnswer(0, 7, 0, List.of()));
    assertThat(take(first(3, 5))).isNull();
    fetches.assigned(assignment(List.of(), coming(4)));
    Future<FetchAnswer> taken = take(first(4, 5));
    ahead.get(1).fail(new RefusedException(Refusal.FENCED, "called off"));
    assertThat(taken.result()).isEqualTo(USUAL);
    assertThat(usual).containsExactly(first(4, 5));
  }

  @Test
  void whatIsNoLongerComingIsForgotten() {
    fetches.assigned(assignment(List.of(), coming(3)));
    fetches.assigned(assignment(List.of()));
    ahead.get(0).complete(from(5));
    assertThat(take(first(3, 5))).isNull();
    assertThat(take(first(4, 5))).isNull();
  }
}
