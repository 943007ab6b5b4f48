package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Elections with a node in this JVM, by sessions and by the node's own client. */
class ElectionTest {
  @RegisterExtension
  static final EvenkeelExtension EVENKEEL = new EvenkeelExtension().withTopic("orders", 1);

  private static final AtomicInteger ELECTIONS = new AtomicInteger();

  private final String election = "election-" + ELECTIONS.incrementAndGet();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private EvenkeelClient session;
  private EmbeddedNode node;

  /** Says what is called, and ends each call at once. */
  private final class Career implements ElectionCareer {
    private final String name;
    private final AtomicReference<LeaderContext> leads = new AtomicReference<>();
    private final AtomicInteger executes = new AtomicInteger();
    private final Promise<Void> handsOver = Promise.promise();

    Career(String name) {
      this.name = name;
    }

    private void say(String what, LeaderContext context) {
      calls.add(name + " " + what + " " + context.term());
    }

    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      say("inaugurate", context);
      leads.set(context);
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> execute(LeaderContext context) {
      assertThat(context).isSameAs(leads.get());
      executes.incrementAndGet();
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      say("handOver", context);
      return handsOver.future();
    }

    @Override
    public void lost(LeaderContext context) {
      say("lost", context);
    }
  }

  @BeforeEach
  void connect(EmbeddedNode started) {
    node = started;
    session = await(Evenkeel.connect(node.clientOptions()));
  }

  @AfterEach
  void close() {
    await(session.close());
  }

  private ElectionOptions options(String member) {
    return new ElectionOptions().setName(election).setMember(member).setPauseMillis(10);
  }

  private Candidate candidate(EvenkeelClient client, Career career) {
    return await(client.election(options(career.name), career));
  }

  @Test
  void oneLeadsAndTheNextBeginsWhenItHasHandedOver() {
    Career a = new Career("a");
    Career b = new Career("b");
    Candidate first = candidate(session, a);
    Wait.until("a works", () -> a.executes.get() > 2);
    Candidate second = candidate(node.client(), b);
    assertThat(first.isLeading()).isTrue();
    assertThat(second.isLeading()).isFalse();
    assertThat(second.leadership()).isNull();
    first.resign();
    Wait.until("a hands over", () -> calls.contains("a handOver 1"));
    assertThat(first.isLeading()).isFalse();
    GroupView shown = await(session.admin().group(election));
    assertThat(shown.singleton().leader()).isEqualTo("a");
    assertThat(shown.members()).hasSize(2);
    assertThat(b.executes.get()).isZero();
    a.handsOver.complete();
    Wait.until("b works", () -> b.executes.get() > 2);
    b.handsOver.complete();
    await(second.close());
    Wait.until("a works again", () -> a.leads.get().term() == 3 && first.isLeading());
    await(first.close());
    assertThat(calls)
        .containsExactly(
            "a inaugurate 1",
            "a handOver 1",
            "b inaugurate 2",
            "b handOver 2",
            "a inaugurate 3",
            "a handOver 3");
    assertThat(a.leads.get().isOver()).isTrue();
  }

  /** The registry is empty after that: only the lease says who leads. */
  @Test
  void theLeaderKeepsItsTermWhenTheNodeStartsAgain() {
    Career a = new Career("a");
    a.handsOver.complete();
    Candidate first = candidate(session, a);
    Wait.until("a works", () -> a.executes.get() > 2);
    Career b = new Career("b");
    b.handsOver.complete();
    Candidate second = candidate(session, b);
    node.restart();
    int before = a.executes.get();
    Wait.until("one of them works", () -> a.executes.get() > before + 2 || b.executes.get() > 2);
    assertThat(first.isLeading()).isTrue();
    assertThat(second.isLeading()).isFalse();
    assertThat(calls).containsExactly("a inaugurate 1");
    await(first.close());
    await(second.close());
  }

  @Test
  void aLoneCandidateThatResignsGetsANewTerm() {
    Career a = new Career("a");
    a.handsOver.complete();
    Candidate alone = candidate(session, a);
    Wait.until("a leads", alone::isLeading);
    alone.resign();
    Wait.until("a leads again", () -> alone.isLeading() && alone.leadership().term() == 2);
    await(alone.close());
    assertThat(calls)
        .containsExactly("a inaugurate 1", "a handOver 1", "a inaugurate 2", "a handOver 2");
  }

  @Test
  void whoClosesItsClientHandsOver() {
    Career a = new Career("a");
    a.handsOver.complete();
    candidate(session, a);
    Wait.until("a leads", () -> a.executes.get() > 0);
    await(session.close());
    assertThat(calls).containsExactly("a inaugurate 1", "a handOver 1");
  }

  @Test
  void aLaterCandidateOfTheSameNameReplacesTheFormer() {
    Career a = new Career("a");
    Candidate former = candidate(session, a);
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    former.onEnd(ends::add);
    Wait.until("a leads", former::isLeading);
    Career again = new Career("a");
    again.handsOver.complete();
    Candidate later = candidate(node.client(), again);
    Wait.until("the later leads", later::isLeading);
    Wait.until("the former has ended", () -> !ends.isEmpty());
    assertThat(RefusedException.of(ends.get(0)).refusal()).isEqualTo(Refusal.MEMBER_REPLACED);
    assertThat(calls).contains("a lost 1").doesNotContain("a handOver 1");
    await(later.close());
  }

  @Test
  void aGroupOfConsumersIsNoElection() {
    ConsumerOptions consumes =
        new ConsumerOptions().setGroup(election).setTopics(List.of("orders"));
    Consumer consumer = await(session.consumer(consumes, message -> Future.succeededFuture()));
    Refused.with(
        Refusal.GROUP_MISMATCH, () -> await(session.election(options("a"), new Career("a"))));
    await(consumer.close());
    Refused.with(
        Refusal.GROUP_MISMATCH, () -> await(session.election(options("a"), new Career("a"))));
  }

  @Test
  void badNamesAreRefused() {
    Refused.with(Refusal.INVALID, () -> await(session.election("", new Career("a"))));
    Refused.with(Refusal.INVALID, () -> await(session.election(options("-"), new Career("a"))));
  }
}
