package dev.evenkeel.dispatcher;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class SessionEndsTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger memberLooks = new AtomicInteger();

  /** Those that are members of the cluster. */
  private volatile Set<String> members = Set.of("n1");

  private final SessionEnds ends = ends(60_000);

  private SessionEnds ends(long answerMillisMax) {
    return new SessionEnds(
        vertx,
        () -> List.of("n1", "n2", "n3"),
        () -> {
          memberLooks.incrementAndGet();
          return members;
        },
        answerMillisMax,
        clock::get);
  }

  /**
   * A node that is there.
   *
   * @param answers what it answers to the first question, the second, ...; null: nothing
   * @return how often it was asked
   */
  private AtomicInteger node(String node, IntFunction<Buffer> answers) {
    AtomicInteger asked = new AtomicInteger();
    vertx
        .eventBus()
        .<Buffer>consumer(
            Addresses.sessions(node),
            question -> {
              assertThat(new JsonObject(question.body()).getString("has")).isEqualTo("s-1");
              Buffer answer = answers.apply(asked.incrementAndGet());
              if (answer != null) {
                question.reply(answer);
              }
            });
    return asked;
  }

  private static Buffer has(boolean has) {
    return JsonBodies.answer(new JsonObject().put("has", has));
  }

  private <T> T onContext(Supplier<Future<T>> task) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(now -> task.get().onComplete(promise));
    return await(promise.future());
  }

  @Test
  void sessionThatNoNodeHasEndsThoughNodesAreDown() {
    node("n1", asked -> has(false));
    assertThat(onContext(() -> ends.ended("s-1"))).isTrue();
  }

  @Test
  void sessionThatOneNodeHasLives() {
    node("n1", asked -> has(false));
    node("n2", asked -> has(true));
    assertThat(onContext(() -> ends.ended("s-1"))).isFalse();
    assertThat(onContext(() -> ends.somewhere("s-1"))).isTrue();
  }

  @Test
  void sessionAtANodeThatWasRemovedLivesWhileThatOneIsAMember() {
    node("n1", asked -> has(false));
    node("removed", asked -> has(true));
    members = Set.of("n1", "removed");
    assertThat(onContext(() -> ends.ended("s-1"))).isFalse();
  }

  @Test
  void addressThatIsMissingForAMomentSaysNothing() {
    members = Set.of("n1", "n2");
    node("n1", asked -> has(false));
    Future<Boolean> ended =
        Future.future(
            it -> context.runOnContext(now -> ends.endedUnreported("s-1").onComplete(it)));
    // By then it has looked, and found nobody at the address of n2.
    Wait.until(() -> memberLooks.get() > 1);
    node("n2", asked -> has(true));
    assertThat(await(ended)).isFalse();
  }

  @Test
  void memberWithoutTheAddressCountsAfterSomeTries() {
    members = null;
    AtomicInteger asked = node("n1", time -> has(false));
    assertThat(onContext(() -> ends.ended("s-1"))).isTrue();
    assertThat(asked).hasValue(SessionEnds.VACANT_TRIES_MAX);
    assertThat(memberLooks).as("once a look").hasValue(asked.get());
  }

  @Test
  void nodeThatDoesNotAnswerIsAskedAgain() {
    AtomicInteger asked = node("n3", time -> time < 3 ? null : has(false));
    SessionEnds impatient = ends(200);
    assertThat(onContext(() -> impatient.ended("s-1"))).isTrue();
    assertThat(asked.get()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void whileItCannotBeFoundOutTheSessionLives() {
    node("n1", asked -> Frames.refusal(Refusal.UNAVAILABLE, "not now"));
    assertThat(onContext(() -> ends.ended("s-1"))).isFalse();
    assertThat(onContext(() -> ends.endedUnreported("s-1"))).isFalse();
    assertThat(onContext(() -> ends.somewhere("s-1"))).isFalse();
  }

  @Test
  void sessionOnItsWayToAnotherNodeLives() {
    AtomicInteger asked = node("n1", time -> has(time > 1));
    assertThat(onContext(() -> ends.endedUnreported("s-1"))).isFalse();
    assertThat(asked).hasValue(2);
  }

  @Test
  void sessionThatIsReportedTwiceIsCheckedOnce() {
    AtomicInteger asked = node("n1", time -> has(false));
    assertThat(onContext(() -> Future.all(ends.ended("s-1"), ends.ended("s-1"))).list())
        .containsOnly(true);
    assertThat(asked).hasValue(1);
  }

  @Test
  void checksAreBounded() {
    List<Boolean> ended =
        onContext(
                () -> {
                  List<Future<Boolean>> all = new ArrayList<>();
                  for (int i = 0; i <= SessionEnds.CHECKS_MAX; i++) {
                    all.add(ends.ended("s-" + i));
                  }
                  return Future.all(all);
                })
            .list();
    assertThat(ended).contains(true).last().isEqualTo(false);
    assertThat(ended.subList(0, SessionEnds.CHECKS_MAX)).containsOnly(true);
    assertThat(onContext(() -> ends.ended("s-again"))).isTrue();
  }

  @Test
  void reportsAreRememberedForAWhile() {
    ends.reported("s-1");
    clock.set(SessionEnds.RECENT_MILLIS);
    ends.reported("s-2");
    ends.reported("s-3");
    ends.reported("s-2");
    assertThat(ends.recent()).containsExactly("s-1", "s-3", "s-2");
    clock.addAndGet(1);
    assertThat(ends.recent()).containsExactly("s-3", "s-2");
    assertThat(ends.reportedAgoMillis("s-1")).isNull();
    assertThat(ends.reportedAgoMillis("s-2")).isEqualTo(1);
    times(SessionEnds.RECENT_MAX, i -> ends.reported("s-many-" + i));
    assertThat(ends.recent()).hasSize(SessionEnds.RECENT_MAX).doesNotContain("s-2");
  }
}
