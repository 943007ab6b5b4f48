package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LinkAutomataTest {
  private static final long CLUSTER_AHEAD_MILLIS = 1L << 40;
  private static final DedupKey KEY = new DedupKey(1, 2);

  private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final SharedBucket bucket = new SharedBucket();
  private final List<Integer> batches = new CopyOnWriteArrayList<>();
  private final List<String> sessions = new CopyOnWriteArrayList<>();

  @BeforeEach
  void begin() {
    link.become("s-1");
    link.serve(Addresses.DEDUP_STEPS, this::steps);
  }

  @AfterEach
  void stop() {
    await(vertx.close());
  }

  /** As a node. */
  private synchronized Future<Buffer> steps(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    sessions.add(in.text());
    List<Step> steps = SharedCodec.steps(in.raw(in.remaining()));
    batches.add(steps.size());
    long now = Clock.millis() + CLUSTER_AHEAD_MILLIS;
    Bytes answer =
        new Bytes().i64(now).raw(SharedCodec.replies(bucket.apply(steps, now, 1_000_000)));
    return Future.succeededFuture(Frames.answer(answer.view()));
  }

  private SharedAutomata automata(String session) {
    return await().until(() -> LinkAutomata.of(link, session), automata -> automata != null);
  }

  private static Step ask(SharedAutomata at, long token) {
    SharedClaim claim =
        new SharedClaim(new Worker(at.member(), 0, 0), token, 60_000, at.nowMillis() + 60_000);
    return new Step(Step.Kind.ENQUEUE, KEY, claim);
  }

  @Test
  void itKnowsTheTimeOfTheClusterBeforeItIsUsed() {
    Promise<Buffer> late = Promise.promise();
    link.serve(Addresses.DEDUP_STEPS, body -> late.future());
    assertThat(LinkAutomata.of(link, "s-1")).isNull();
    late.fail(new RefusedException(Refusal.UNAVAILABLE, "the node ended"));
    link.serve(Addresses.DEDUP_STEPS, this::steps);
    SharedAutomata automata = automata("s-1");
    assertThat(automata.member()).isEqualTo("s-1");
    assertThat(batches).containsExactly(0);
    long now = Clock.millis() + CLUSTER_AHEAD_MILLIS;
    assertThat(automata.nowMillis()).isBetween(now - 60_000, now + 60_000);
    assertThat(LinkAutomata.of(link, "s-1")).isSameAs(automata);
  }

  @Test
  void stepsGoInOrderInBatchesAndAreAnsweredOnTheContextsOfTheirCallers() {
    SharedAutomata automata = automata("s-1");
    batches.clear();
    Context caller = vertx.getOrCreateContext();
    Promise<List<Answer>> answered = Promise.promise();
    List<Context> contexts = new CopyOnWriteArrayList<>();
    caller.runOnContext(
        now -> {
          List<Future<StepReply>> replies = new ArrayList<>();
          for (int token = 1; token <= 500; token++) {
            CompletionStage<StepReply> reply = automata.step(ask(automata, token));
            reply.thenRun(() -> contexts.add(Vertx.currentContext()));
            replies.add(Future.fromCompletionStage(reply));
          }
          Future.all(replies)
              .map(all -> replies.stream().map(each -> each.result().answer()).toList())
              .onComplete(answered);
        });
    List<Answer> answers = await(answered.future());
    assertThat(answers.subList(0, 2)).containsExactly(Answer.ACCEPT, Answer.BLOCK);
    assertThat(answers.subList(2, 500)).containsOnly(Answer.DECLINE);
    assertThat(batches.stream().mapToInt(size -> size).sum()).isEqualTo(500);
    assertThat(batches.size()).isLessThan(100);
    assertThat(sessions).containsOnly("s-1");
    // A stage runs its dependents in the reverse order: the last context may come after the answer.
    await().until(() -> contexts.size() == 500);
    assertThat(contexts).containsOnly(caller);
  }

  @Test
  void stepsOfADedupNameItAndHaveBatchesOfTheirOwn() {
    automata("s-1");
    SharedAutomata service = LinkAutomata.ofService(link, "s-1", "pages");
    List<String> names = new CopyOnWriteArrayList<>();
    link.serve(
        Addresses.DEDUP_CLAIMS,
        body -> {
          ByteReader in = new ByteReader(body.getBytes());
          String session = in.text();
          names.add(in.text());
          byte[] steps = in.raw(in.remaining());
          return steps(Buffer.buffer(new Bytes().text(session).raw(steps).toArray()));
        });
    assertThat(await(service.step(ask(service, 1))).answer()).isEqualTo(Answer.ACCEPT);
    assertThat(names).containsExactly("pages");
    assertThat(service.member()).isEqualTo("s-1");
    List<Long> heads = new CopyOnWriteArrayList<>();
    long token = (long) service.listen((key, head, until) -> heads.add(head)) << 48 | 7;
    link.publish(Addresses.dedup("s-1"), Buffer.buffer(new HeadMessage(KEY, token, 5).bytes()));
    assertThat(heads).containsExactly(token);
    // The node tells the other session.
    List<Buffer> told = new CopyOnWriteArrayList<>();
    link.serve(
        Addresses.DEDUP_TELL,
        body -> {
          told.add(body);
          return Future.succeededFuture(Frames.answer(new byte[0]));
        });
    service.tell(KEY, new SharedClaim(new Worker("", Worker.SERVICE, 0), 0, 60_000, 77));
    service.tell(KEY, new SharedClaim(new Worker("s-1", Worker.SERVICE, 0), 9, 60_000, 77));
    await().until(() -> told.size() == 1);
    assertThat(new ByteReader(told.get(0).getBytes()).text()).isEqualTo("s-1");
    link.become("s-2");
    assertThatThrownBy(() -> await(service.step(ask(service, 2))))
        .hasMessageContaining("s-1 has ended");
  }

  @Test
  void messagesReachTheListenerOfTheirToken() {
    SharedAutomata automata = automata("s-1");
    List<Long> first = new CopyOnWriteArrayList<>();
    List<Long> second = new CopyOnWriteArrayList<>();
    long one = (long) automata.listen((key, token, until) -> first.add(token)) << 48 | 7;
    long two = (long) automata.listen((key, token, until) -> second.add(until)) << 48 | 8;
    link.publish(Addresses.dedup("s-1"), Buffer.buffer(new HeadMessage(KEY, one, 5).bytes()));
    link.publish(Addresses.dedup("s-1"), Buffer.buffer("nonsense"));
    link.publish(Addresses.dedup("s-1"), Buffer.buffer(new HeadMessage(KEY, two, 6).bytes()));
    assertThat(first).containsExactly(one);
    assertThat(second).containsExactly(6L);
    automata.forget((int) (one >>> 48));
    link.publish(Addresses.dedup("s-1"), Buffer.buffer(new HeadMessage(KEY, one, 5).bytes()));
    assertThat(first).hasSize(1);
  }

  @Test
  void whoIsTheHeadIsTold() {
    List<Buffer> told = new CopyOnWriteArrayList<>();
    link.serve(
        Addresses.DEDUP_TELL,
        body -> {
          told.add(body);
          return Future.succeededFuture(Frames.answer(new byte[0]));
        });
    automata("s-1").tell(KEY, new SharedClaim(new Worker("s-2", 0, 0), 9, 60_000, 77));
    await().until(() -> told.size() == 1);
    ByteReader in = new ByteReader(told.get(0).getBytes());
    assertThat(in.text()).isEqualTo("s-2");
    assertThat(HeadMessage.ofBytes(in.raw(in.remaining()))).isEqualTo(new HeadMessage(KEY, 9, 77));
  }

  @Test
  void messagesThatNobodyTakesAreDroppedBeyondALimit() {
    List<Promise<Buffer>> told = new CopyOnWriteArrayList<>();
    link.serve(
        Addresses.DEDUP_TELL,
        body -> {
          Promise<Buffer> answer = Promise.promise();
          told.add(answer);
          return answer.future();
        });
    SharedAutomata automata = automata("s-1");
    SharedClaim head = new SharedClaim(new Worker("s-2", 0, 0), 9, 60_000, 77);
    Stream.generate(() -> head).limit(1_000).forEach(each -> automata.tell(KEY, each));
    await().until(() -> told.size() == LinkAutomata.TELLS_MAX);
    told.forEach(answer -> answer.complete(Frames.answer(new byte[0])));
    Wait.until(
        () -> {
          automata.tell(KEY, head);
          return told.size() > LinkAutomata.TELLS_MAX;
        });
  }

  @Test
  void anotherSessionHasOthersAndTheFormerOnesFail() {
    SharedAutomata former = automata("s-1");
    link.become(Link.State.LOST);
    assertThat(link.isListenedTo(Addresses.dedup("s-1"))).isFalse();
    link.become("s-2");
    batches.clear();
    assertThatThrownBy(() -> await(former.step(ask(former, 1))))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("s-1 has ended");
    assertThat(batches).isEmpty();
    SharedAutomata next = automata("s-2");
    assertThat(next.member()).isEqualTo("s-2");
    assertThat(link.isListenedTo(Addresses.dedup("s-2"))).isTrue();
    assertThat(await(next.step(ask(next, 1))).answer()).isEqualTo(Answer.ACCEPT);
    link.become("s-3");
    assertThat(link.isListenedTo(Addresses.dedup("s-2"))).isFalse();
    automata("s-3");
    assertThat(link.isListenedTo(Addresses.dedup("s-3"))).isTrue();
  }

  @Test
  void questionsThatComeMeanwhileShareTheNextOne() {
    SharedAutomata automata = automata("s-1");
    List<Promise<Buffer>> asked = new CopyOnWriteArrayList<>();
    link.serve(
        Addresses.DEDUP_HEARD,
        body -> {
          ByteReader in = new ByteReader(body.getBytes());
          assertThat(in.text()).isEqualTo("s-1");
          assertThat(in.text()).isEmpty();
          Promise<Buffer> answer = Promise.promise();
          asked.add(answer);
          return answer.future();
        });
    CompletionStage<Void> first = automata.heard();
    CompletionStage<Void> second = automata.heard();
    assertThat(automata.heard()).isSameAs(second);
    await().until(() -> asked.size() == 1);
    asked.get(0).complete(Frames.answer(new byte[0]));
    await(Future.fromCompletionStage(first));
    await().until(() -> asked.size() == 2);
    assertThat(second.toCompletableFuture()).isNotDone();
    asked.get(1).complete(Frames.refusal(Refusal.UNAVAILABLE, "no majority"));
    assertThatThrownBy(() -> await(Future.fromCompletionStage(second)))
        .hasMessageContaining("no majority");
    CompletionStage<Void> late = automata.heard();
    await().until(() -> asked.size() == 3);
    link.become("s-2");
    assertThat(automata.silentMillisMax()).as("another session").isZero();
    asked.get(2).complete(Frames.answer(new byte[0]));
    assertThatThrownBy(() -> await(Future.fromCompletionStage(late)))
        .hasMessageContaining("s-1 has ended");
  }

  @Test
  void aRefusalOfTheNodeFailsTheSteps() {
    SharedAutomata automata = automata("s-1");
    link.serve(
        Addresses.DEDUP_STEPS,
        body -> Future.succeededFuture(Frames.refusal(Refusal.OVERLOADED, "as told")));
    assertThatThrownBy(() -> await(automata.step(ask(automata, 1))))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.UNAVAILABLE))
        .hasMessageContaining("as told");
  }

  /** As when a consumer looks for automata just while its client is closed. */
  @Test
  void nothingKeepsALinkThatWasClosedBefore() {
    WeakReference<Link> closed = closedLink();
    Wait.until(
        "the link is collected",
        () -> {
          System.gc();
          return closed.get() == null;
        });
  }

  private WeakReference<Link> closedLink() {
    FakeLink other = new FakeLink(vertx);
    other.become(Link.State.CLOSED);
    LinkAutomata.of(other, "s-1");
    return new WeakReference<>(other);
  }
}
