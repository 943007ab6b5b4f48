package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaderClientTest {
  private static final Shard SHARD = new Shard(1, 0);

  /** The data group that holds it, of two. */
  private static final int GROUP = 1;

  private static final Buffer QUESTION = Frames.request(Op.READ_GROUPS, new Bytes());

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private volatile String leader = "a";
  @Closing private ClusterDirectory directory;
  private LeaderClient client;

  @BeforeEach
  void begin() {
    link.serve(
        Addresses.VIEW,
        body ->
            Future.succeededFuture(
                Views.of("a", leader, List.of("a", leader), List.of("a", "b"), List.of())
                    .toJson()
                    .toBuffer()));
    directory = new ClusterDirectory(link);
    client = new LeaderClient(link, directory);
    result(directory.view());
  }

  private void serve(String node, Supplier<Future<Buffer>> answer) {
    link.serve(
        Addresses.control(node),
        body -> {
          asked.add(node);
          return answer.get();
        });
  }

  private static Future<Buffer> done() {
    return Future.succeededFuture(Frames.answer(new byte[] {7}));
  }

  private static Supplier<Future<Buffer>> refusing(RefusedException refused) {
    return () -> Future.failedFuture(refused);
  }

  private Future<ByteBuffer> ask(Retry retry) {
    return client.request(SHARD, Addresses::control, QUESTION, 1_000, retry);
  }

  private static Retry often(int attempts) {
    return new Retry(0, Refusal::retriable, attempts, 10, 60_000, () -> false);
  }

  private static <T> T result(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static RefusedException refusal(Future<?> future) {
    return result(
        future.transform(done -> Future.succeededFuture((RefusedException) done.cause())));
  }

  @Test
  void followsALeaderThatARefusalNamesAndRemembersIt() {
    serve("a", refusing(new RefusedException.NotLeader("b")));
    serve("b", LeaderClientTest::done);
    assertThat(result(ask(Retry.hops(1))).get()).isEqualTo((byte) 7);
    assertThat(asked).containsExactly("a", "b");
    assertThat(directory.leader(GROUP)).isEqualTo("b");
    assertThat(directory.leader(0)).isEqualTo("a");
  }

  @Test
  void withoutHopsTheRefusalGoesToTheCallerAndTheLeaderIsRememberedAllTheSame() {
    serve("a", refusing(new RefusedException.NotLeader("b")));
    assertThat(refusal(ask(Retry.NONE)))
        .isInstanceOfSatisfying(
            RefusedException.NotLeader.class, no -> assertThat(no.leader()).isEqualTo("b"));
    assertThat(directory.leader(GROUP)).isEqualTo("b");
  }

  @Test
  void twoThatNameEachOtherAreNotAskedForEver() {
    serve("a", refusing(new RefusedException.NotLeader("b")));
    serve("b", refusing(new RefusedException.NotLeader("a")));
    assertThat(refusal(ask(Retry.hops(3))).refusal()).isEqualTo(Refusal.NOT_LEADER);
    assertThat(asked).containsExactly("a", "b", "a", "b");
  }

  @Test
  void repeatsWhatMayPassUntilItDoesAndNotMoreOftenThanAllowed() {
    serve("a", () -> asked.size() < 3 ? refusing(unavailable()).get() : done());
    assertThat(result(ask(often(3))).get()).isEqualTo((byte) 7);
    assertThat(asked).hasSize(3);
    asked.clear();
    assertThat(refusal(ask(often(2))).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(asked).hasSize(2);
  }

  private static RefusedException unavailable() {
    return new RefusedException(Refusal.UNAVAILABLE, "not yet");
  }

  @Test
  void anUnknownOutcomeIsRepeatedOnlyForThoseWhoSaySo() {
    Retry surelyNothing =
        new Retry(0, refusal -> refusal == Refusal.UNAVAILABLE, 5, 10, 60_000, () -> false);
    serve("a", refusing(new RefusedException(Refusal.INDETERMINATE, "?")));
    assertThat(refusal(ask(surelyNothing)).refusal()).isEqualTo(Refusal.INDETERMINATE);
    assertThat(asked).hasSize(1);
    assertThat(refusal(ask(often(3))).refusal()).isEqualTo(Refusal.INDETERMINATE);
    assertThat(asked).hasSize(4);
  }

  @Test
  void whatDoesNotPassIsNotRepeated() {
    serve("a", refusing(new RefusedException(Refusal.FENCED, "no")));
    assertThat(refusal(ask(often(5))).refusal()).isEqualTo(Refusal.FENCED);
    assertThat(asked).hasSize(1);
  }

  @Test
  void doesNotWaitForThePauseOnceAnotherLeads() {
    serve("a", refusing(unavailable()));
    serve("b", LeaderClientTest::done);
    leader = "b";
    Retry slow = new Retry(0, Refusal::retriable, 2, 3_600_000, 3_600_000, () -> false);
    assertThat(result(ask(slow)).get()).isEqualTo((byte) 7);
    assertThat(asked).containsExactly("a", "b");
  }

  @Test
  void whoeverAskedAFormerLeaderHearsThatTheOutcomeIsUnknown() {
    Promise<Buffer> never = Promise.promise();
    serve("a", never::future);
    Future<ByteBuffer> answer = ask(Retry.NONE);
    link.publish(
        Addresses.LEADER_CHANGES,
        new LeaderChange.News(List.of(new LeaderChange(GROUP, "b", 9)), true).toJson().toBuffer());
    assertThat(refusal(answer).refusal()).isEqualTo(Refusal.INDETERMINATE);
  }

  @Test
  void withoutALeaderNobodyIsAskedUntilOneIsKnown() {
    directory.leaderHint(GROUP, null);
    serve("a", LeaderClientTest::done);
    assertThat(refusal(ask(Retry.NONE)))
        .isInstanceOf(LeaderClient.NoLeader.class)
        .hasMessage("no leader of data group 1 is known: a majority of the nodes must be up");
    assertThat(asked).isEmpty();
    assertThat(result(ask(often(1_000))).get()).isEqualTo((byte) 7);
  }

  @Test
  void stopsWhenToldToOrWhenTheTimeIsOver() {
    serve("a", refusing(unavailable()));
    AtomicBoolean cancelled = new AtomicBoolean();
    vertx.setTimer(50, id -> cancelled.set(true));
    assertThat(
            refusal(ask(Retry.within(LeaderClient.NO_LIMIT_MILLIS, 5, cancelled::get))).refusal())
        .isEqualTo(Refusal.UNAVAILABLE);
    assertThat(refusal(ask(Retry.within(50, 5, () -> false))).refusal())
        .isEqualTo(Refusal.UNAVAILABLE);
    assertThat(refusal(ask(Retry.within(-1, 5, () -> false))).refusal())
        .isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void aCommandNamesTheGroupThatItGoesToAndARefusalOfTheLogFails() {
    link.serve(
        Addresses.control("a"),
        body -> {
          ByteReader in = new ByteReader(Frames.body(body));
          return Future.succeededFuture(
              Frames.answer(
                  ReplyCodec.encode(
                      in.i32() == GROUP
                          ? Reply.DONE
                          : Reply.refused(Refusal.UNKNOWN_SHARD, "no"))));
        });
    DataCommand command = new DataCommand.OpenProducer(1, 1);
    assertThat(result(client.submit(SHARD, command, 1_000, Retry.NONE))).isEqualTo(Reply.DONE);
    assertThatThrownBy(() -> result(client.submit(0, command, 1_000, Retry.NONE)))
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining("UNKNOWN_SHARD");
  }
}
