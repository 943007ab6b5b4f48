package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepBatches;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionDedupTest {
  private static final DedupKey KEY = new DedupKey(1, 2);
  private static final long NOW = 4_711;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final Automata automata = new Automata();
  private RefusedException older;
  private final SessionDedup dedup =
      new SessionDedup(
          automata, () -> older == null ? Future.succeededFuture() : Future.failedFuture(older));

  @BeforeEach
  void start() {
    dedup.start(vertx);
  }

  private static final class Automata implements SharedAutomata {
    final SharedBucket bucket = new SharedBucket();
    final List<String> told = new CopyOnWriteArrayList<>();
    volatile RefusedException failure;

    @Override
    public String member() {
      return "n1";
    }

    @Override
    public int listen(Turns turns) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void forget(int number) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long nowMillis() {
      return NOW;
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      return failure == null
          ? CompletableFuture.completedStage(
              bucket.apply(List.of(step), NOW, 1_000).replies().get(0))
          : CompletableFuture.failedStage(failure);
    }

    @Override
    public CompletionStage<Void> heard() {
      return failure == null
          ? CompletableFuture.completedStage(null)
          : CompletableFuture.failedStage(failure);
    }

    @Override
    public long silentMillisMax() {
      return 5_000;
    }

    @Override
    public void tell(DedupKey key, Claim head) {
      told.add(key + " " + head + " " + head.waitsUntilMillis());
    }
  }

  private static SharedClaim claim(String session, long token) {
    return new SharedClaim(new Worker(session, 0, 0), token, 60_000, NOW + 60_000);
  }

  private static Step enqueue(String session, long token) {
    return new Step(Step.Kind.ENQUEUE, KEY, claim(session, token));
  }

  private static Step dequeue(String session, long token) {
    return new Step(Step.Kind.DEQUEUE, KEY, claim(session, token));
  }

  private static final DedupScope SCOPE = DedupScope.ofService("d");
  private static final DedupKey OF_D = SCOPE.key(new byte[] {1});

  private static Step service(Step.Kind kind, DedupKey key, String session, long token) {
    Worker worker = new Worker(session, Worker.SERVICE, token);
    return new Step(kind, key, new SharedClaim(worker, token, 60_000, NOW + 60_000));
  }

  private static Buffer claims(String session, String name, Step... steps) {
    byte[] bytes = SharedCodec.steps(List.of(steps));
    return Buffer.buffer(new Bytes().text(session).text(name).raw(bytes).toArray());
  }

  private StepReply claim(Step.Kind kind, String session, long token) {
    ByteReader answer =
        ask(Addresses.DEDUP_CLAIMS, claims(session, "d", service(kind, OF_D, session, token)));
    assertThat(answer.i64()).isEqualTo(NOW);
    return SharedCodec.replies(answer.raw(answer.remaining())).replies().get(0);
  }

  private static Buffer body(String session, byte[] rest) {
    return Buffer.buffer(new Bytes().text(session).raw(rest).toArray());
  }

  private ByteReader ask(String address, Buffer body) {
    return await(VertxLink.send(vertx, address, body, 60_000).map(Frames::answerReader));
  }

  private List<StepReply> steps(String session, Step... steps) {
    var answer = ask(Addresses.DEDUP_STEPS, body(session, SharedCodec.steps(List.of(steps))));
    assertThat(answer.i64()).isEqualTo(NOW);
    return SharedCodec.replies(answer.raw(answer.remaining())).replies();
  }

  private void refused(Refusal refusal, String address, Buffer body, String why) {
    Refused.with(refusal, () -> ask(address, body), why);
  }

  @Test
  void stepsAreCarriedOutInOrder() {
    List<StepReply> replies =
        steps("s-1", enqueue("s-1", 1), enqueue("s-1", 2), dequeue("s-1", 1), dequeue("s-1", 1));
    assertThat(replies).extracting(StepReply::answer).startsWith(Answer.ACCEPT, Answer.BLOCK);
    assertThat(replies)
        .extracting(StepReply::departure)
        .endsWith(Departure.PASSED_ON, Departure.NOT_HEAD);
    assertThat(replies.get(2).head().token()).isEqualTo(2);
    assertThat(steps("s-1")).isEmpty();
  }

  @Test
  void aClaimOfAFormerSessionCanBeGivenBackAndNotMade() {
    steps("s-1", enqueue("s-1", 1));
    assertThat(steps("s-2", dequeue("s-1", 1)).get(0).departure()).isEqualTo(Departure.FREED);
    refused(
        Refusal.INVALID,
        Addresses.DEDUP_STEPS,
        body("s-2", SharedCodec.steps(List.of(enqueue("s-2", 1), enqueue("s-1", 1)))),
        "session s-2 asks for a key for s-1");
    assertThat(automata.bucket.keys()).isZero();
  }

  @Test
  void whoWorksIsToldByTheNodeAndNotToOthers() {
    assertThat(claim(Step.Kind.ENQUEUE, "s-1", 1).head().token()).isOne();
    StepReply waits = claim(Step.Kind.ENQUEUE, "s-2", 2);
    assertThat(waits.answer()).isEqualTo(Answer.BLOCK);
    assertThat(waits.head().worker()).isEqualTo(new Worker("", Worker.SERVICE, 0));
    assertThat(waits.head().token()).isZero();
    assertThat(waits.head().sinceMillis()).isEqualTo(NOW);
    assertThat(automata.told).containsExactly(OF_D + " s-1/-1#1 " + (NOW + 60_000));
    assertThat(claim(Step.Kind.ENQUEUE, "s-3", 3).answer()).isEqualTo(Answer.DECLINE);
    assertThat(automata.told).hasSize(1);
    StepReply left = claim(Step.Kind.DEQUEUE, "s-1", 1);
    assertThat(left.departure()).isEqualTo(Departure.PASSED_ON);
    assertThat(left.head().worker().member()).isEmpty();
    assertThat(automata.told).endsWith(OF_D + " s-2/-1#2 " + (NOW + 60_000)).hasSize(2);
  }

  @Test
  void stepsOfADedupAreOfItsKeysAndOfProgramsOnly() {
    DedupKey ofAnother = DedupScope.ofService("e").key(new byte[] {1});
    for (Step wrong :
        List.of(
            service(Step.Kind.ENQUEUE, ofAnother, "s-1", 1),
            service(Step.Kind.DEQUEUE, ofAnother, "s-1", 1),
            new Step(Step.Kind.ENQUEUE, OF_D, claim("s-1", 1)))) {
      refused(
          Refusal.INVALID, Addresses.DEDUP_CLAIMS, claims("s-1", "d", wrong), "none of the dedup");
    }
    refused(
        Refusal.INVALID,
        Addresses.DEDUP_CLAIMS,
        claims("s-1", "d", service(Step.Kind.ENQUEUE, OF_D, "s-2", 1)),
        "session s-1 asks for a key for s-2");
    refused(Refusal.INVALID, Addresses.DEDUP_CLAIMS, claims("s-1", "a/b"), "bad dedup name");
    refused(Refusal.INVALID, Addresses.DEDUP_CLAIMS, claims("s-1", ""), "needs a name");
    for (Step.Kind kind : Step.Kind.values()) {
      byte[] nameless = SharedCodec.steps(List.of(service(kind, OF_D, "s-1", 1)));
      refused(Refusal.INVALID, Addresses.DEDUP_STEPS, body("s-1", nameless), "names no dedup");
    }
    assertThat(automata.bucket.keys()).isZero();
  }

  @Test
  void dedupsByNameWaitUntilAllNodesKnowThem() {
    older = Refusal.WRONG_VERSION.error("an older version");
    Buffer named = Buffer.buffer(new Bytes().text("s-1").text("d").toArray());
    refused(Refusal.WRONG_VERSION, Addresses.DEDUP_HEARD, named, "an older version");
    refused(
        Refusal.WRONG_VERSION,
        Addresses.DEDUP_CLAIMS,
        claims("s-1", "d", service(Step.Kind.ENQUEUE, OF_D, "s-1", 1)),
        "an older version");
    assertThat(automata.bucket.keys()).isZero();
    Buffer plain = Buffer.buffer(new Bytes().text("s-1").text("").toArray());
    assertThat(ask(Addresses.DEDUP_HEARD, plain).remaining()).isZero();
    older = null;
    assertThat(ask(Addresses.DEDUP_HEARD, named).remaining()).isZero();
    assertThat(claim(Step.Kind.ENQUEUE, "s-1", 1).answer()).isEqualTo(Answer.ACCEPT);
  }

  @Test
  void whatIsMalformedIsRefused() {
    byte[] good = SharedCodec.steps(List.of(enqueue("s-1", 1)));
    for (int length = 0; length < good.length; length++) {
      if (length != 1) {
        byte[] torn = Arrays.copyOf(good, length);
        refused(Refusal.INVALID, Addresses.DEDUP_STEPS, body("s-1", torn), "malformed");
      }
    }
    byte[] unknown = good.clone();
    unknown[1] = 99;
    refused(Refusal.INVALID, Addresses.DEDUP_STEPS, body("s-1", unknown), "malformed");
    byte[] noClaim = Arrays.copyOf(good, 1 + 1 + DedupKey.BYTES + 1);
    noClaim[noClaim.length - 1] = (byte) 0xff;
    refused(Refusal.INVALID, Addresses.DEDUP_STEPS, body("s-1", noClaim), "without a claim");
    refused(Refusal.INVALID, Addresses.DEDUP_STEPS, body("a/b", good), "bad session name");
    refused(Refusal.INVALID, Addresses.DEDUP_STEPS, Buffer.buffer("xx"), "malformed");
    List<Step> many = Collections.nCopies(StepBatches.BATCH_STEPS_MAX + 1, enqueue("s-1", 1));
    refused(
        Refusal.INVALID,
        Addresses.DEDUP_STEPS,
        body("s-1", SharedCodec.steps(many)),
        "at most 1000 are allowed");
    assertThat(automata.bucket.keys()).isZero();
  }

  @Test
  void whatTheMapRefusesIsRefused() {
    automata.failure = Refusal.OVERLOADED.error("too many steps");
    refused(
        Refusal.OVERLOADED,
        Addresses.DEDUP_STEPS,
        body("s-1", SharedCodec.steps(List.of(enqueue("s-1", 1)))),
        "too many steps");
  }

  @Test
  void aSessionIsAliveIfTheNodeSeesTheCluster() {
    Buffer question = Buffer.buffer(new Bytes().text("s-1").text("").toArray());
    assertThat(ask(Addresses.DEDUP_HEARD, question).remaining()).isZero();
    automata.failure = Refusal.UNAVAILABLE.error("no majority");
    refused(Refusal.UNAVAILABLE, Addresses.DEDUP_HEARD, question, "no majority");
    refused(Refusal.INVALID, Addresses.DEDUP_HEARD, body("a/b", new byte[4]), "bad session name");
    refused(
        Refusal.INVALID,
        Addresses.DEDUP_HEARD,
        Buffer.buffer(new Bytes().text("s-1").text("").u8(1).toArray()),
        "");
  }

  @Test
  void messagesArePassedOn() {
    byte[] message = new HeadMessage(KEY, 9, 77).bytes();
    assertThat(ask(Addresses.DEDUP_TELL, body("s-2", message)).remaining()).isZero();
    assertThat(automata.told).containsExactly(KEY + " s-2/0#9 77");
    refused(Refusal.INVALID, Addresses.DEDUP_TELL, body("s-2", new byte[3]), "malformed");
    refused(Refusal.INVALID, Addresses.DEDUP_TELL, body("", message), "needs a name");
    assertThat(automata.told).hasSize(1);
  }

  @Test
  void afterItWasStoppedNobodyAnswers() {
    Future<Void> stopped = dedup.stop();
    await(stopped);
    Refused.saying(
        () -> ask(Addresses.DEDUP_STEPS, body("s-1", SharedCodec.steps(List.of()))), "not there");
  }
}
