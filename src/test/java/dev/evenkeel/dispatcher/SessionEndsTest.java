package dev.evenkeel.dispatcher;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.RunTestOnContext;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On the event loop of the dispatcher, as it is used. */
@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class SessionEndsTest {
  @RegisterExtension final RunTestOnContext loop = new RunTestOnContext();

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
  private SessionEnds ends;

  @BeforeEach
  void begin() {
    ends = ends(60_000);
  }

  private SessionEnds ends(long answerMillisMax) {
    return new SessionEnds(
        loop.vertx(), () -> List.of("n1", "n2", "n3"), answerMillisMax, clock::get);
  }

  /**
   * A node that is there.
   *
   * @param answers what it answers to the first question, the second, ...; null: nothing
   * @return how often it was asked
   */
  private AtomicInteger node(String node, IntFunction<Buffer> answers) {
    AtomicInteger asked = new AtomicInteger();
    loop.vertx()
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

  /** The test succeeds if these are the results. */
  private static void results(VertxTestContext test, List<Future<Boolean>> all, Boolean... expected) {
    Future.all(all)
        .onComplete(
            test.succeeding(
                ended ->
                    test.verify(
                        () -> {
                          assertThat(ended.<Boolean>list()).containsExactly(expected);
                          test.completeNow();
                        })));
  }

  @Test
  void sessionThatNoNodeHasEndsThoughNodesAreDown(VertxTestContext test) {
    node("n1", asked -> has(false));
    results(test, List.of(ends.ended("s-1")), true);
  }

  @Test
  void sessionThatOneNodeHasLives(VertxTestContext test) {
    node("n1", asked -> has(false));
    node("n2", asked -> has(true));
    results(test, List.of(ends.ended("s-1"), ends.somewhere("s-1")), false, true);
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
  void nodeThatDoesNotAnswerIsAskedAgain(VertxTestContext test) {
    AtomicInteger asked = node("n3", time -> time < 3 ? null : has(false));
    Future<Boolean> ended = ends(200).ended("s-1");
    results(test, List.of(ended.map(end -> end && asked.get() >= 3)), true);
  }

  @Test
  void whileItCannotBeFoundOutTheSessionLives(VertxTestContext test) {
    node("n1", asked -> Frames.refusal(Refusal.UNAVAILABLE, "not now"));
    List<Future<Boolean>> all =
        List.of(ends.ended("s-1"), ends.endedUnreported("s-1"), ends.somewhere("s-1"));
    results(test, all, false, false, false);
  }

  @Test
  void sessionOnItsWayToAnotherNodeLives(VertxTestContext test) {
    AtomicInteger asked = node("n1", time -> has(time > 1));
    Future<Boolean> ended = ends.endedUnreported("s-1");
    results(test, List.of(ended, ended.map(end -> asked.get() == 2)), false, true);
  }

  @Test
  void sessionThatIsReportedTwiceIsCheckedOnce(VertxTestContext test) {
    AtomicInteger asked = node("n1", time -> has(false));
    Future<Boolean> ended = ends.ended("s-1");
    Future<Boolean> again = ends.ended("s-1");
    results(test, List.of(ended, again, again.map(end -> asked.get() == 1)), true, true, true);
  }

  @Test
  void checksAreBounded(VertxTestContext test) {
    List<Future<Boolean>> all = new ArrayList<>();
    for (int i = 0; i < SessionEnds.CHECKS_MAX; i++) {
      all.add(ends.ended("s-" + i));
    }
    Future<Boolean> tooMany = ends.ended("s-too-many");
    Future<Boolean> later = Future.all(all).compose(done -> ends.ended("s-again"));
    Future.all(all)
        .onComplete(
            test.succeeding(
                done -> test.verify(() -> assertThat(done.list()).containsOnly(true))));
    results(test, List.of(tooMany, later), false, true);
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
    times(SessionEnds.RECENT_MAX, i -> ends.reported("s-many-" + i));
    assertThat(ends.recent()).hasSize(SessionEnds.RECENT_MAX).doesNotContain("s-2");
  }
}
