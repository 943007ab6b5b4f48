package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Programs that rely on claims, over a cluster that delays, loses and gives up; virtual time. */
class LeasedCoordinatorTest {
  private static final long HEAD_MILLIS_MAX = 20_000;
  private static final long SILENT_MILLIS_MAX = 5_000;
  private static final long GIVEN_UP_MILLIS = 7_500;
  private static final DedupKey KEY = new DedupKey(1, 1);

  private final SharedBucket bucket = new SharedBucket();
  private final Map<String, Seat> seats = new HashMap<>();

  /** What is on its way. */
  private final List<Runnable> network = new ArrayList<>();

  private Random random = new Random(1);
  private boolean disorder;
  private long now = 1_000_000;
  private long works;

  /** A process under one name. */
  private final class Seat implements SharedAutomata {
    final String name;
    final List<Worker> workers = new ArrayList<>();
    Turns turns;

    /** When the cluster heard of it last. */
    long heardMillis = now;

    boolean cutOff;
    boolean losesAnswers;
    boolean forbidden;
    int questions;

    /** How late it knows the time of the cluster. */
    long lateMillis;

    long silentMillisMax = SILENT_MILLIS_MAX;

    Seat(String name) {
      this.name = name;
      seats.put(name, this);
    }

    @Override
    public String member() {
      return name;
    }

    @Override
    public int listen(Turns added) {
      turns = added;
      return 1;
    }

    @Override
    public void forget(int number) {
      turns = null;
    }

    @Override
    public long nowMillis() {
      return now - lateMillis;
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      workers.add(step.claim().worker());
      CompletableFuture<StepReply> reply = new CompletableFuture<>();
      byte[] bytes = SharedCodec.steps(List.of(step));
      send(
          () -> {
            if (forbidden) {
              reply.completeExceptionally(Refusal.FORBIDDEN.error("no permission"));
              return;
            }
            byte[] done = SharedCodec.replies(bucket.apply(SharedCodec.steps(bytes), now, 1_000));
            answer(() -> reply.complete(SharedCodec.replies(done).replies().get(0)), reply);
          },
          reply);
      return reply;
    }

    @Override
    public CompletionStage<Void> heard() {
      questions++;
      CompletableFuture<Void> reply = new CompletableFuture<>();
      send(() -> answer(() -> reply.complete(null), reply), reply);
      return reply;
    }

    private void send(Runnable request, CompletableFuture<?> reply) {
      if (cutOff) {
        network.add(() -> reply.completeExceptionally(new IllegalStateException("cut off")));
        return;
      }
      network.add(
          () -> {
            heardMillis = now;
            request.run();
          });
    }

    private void answer(Runnable answer, CompletableFuture<?> reply) {
      network.add(
          losesAnswers
              ? () -> reply.completeExceptionally(new IllegalStateException("no answer"))
              : answer);
    }

    @Override
    public long silentMillisMax() {
      return silentMillisMax;
    }

    @Override
    public void tell(DedupKey key, Claim head) {
      Seat to = seats.get(head.worker().member());
      long token = head.token();
      long waitsUntil = head.waitsUntilMillis();
      network.add(
          () -> {
            if (to != null && to.turns != null) {
              to.turns.head(key, token, waitsUntil);
            }
          });
    }
  }

  private final class Program {
    final Seat seat;
    final LeasedCoordinator coordinator;

    Program(String name) {
      seat = new Seat(name);
      coordinator =
          new LeasedCoordinator(
              seat, ClusteredCoordinator.Settings.guarded(HEAD_MILLIS_MAX), () -> now);
    }

    LeasedClaim ask() {
      return coordinator.claim(KEY, ++works);
    }

    LeasedClaim answered() {
      LeasedClaim claim = ask();
      settle();
      return claim;
    }
  }

  private void settle() {
    while (!network.isEmpty()) {
      network.remove(disorder ? random.nextInt(network.size()) : 0).run();
    }
  }

  private void pass(long millis, Program... running) {
    for (long until = now + millis; now < until; ) {
      now += 200;
      for (Program each : running) {
        each.coordinator.tick();
      }
      settle();
    }
  }

  /** The cluster frees the keys of processes that it has not heard for long. */
  private void sweep() {
    for (SharedBucket.Swept swept :
        bucket.sweep(name -> now - seats.get(name).heardMillis < GIVEN_UP_MILLIS, now)) {
      if (swept.head() != null) {
        seats.values().iterator().next().tell(swept.key(), swept.head());
      }
    }
  }

  private static Answer turn(LeasedClaim claim) {
    return claim.turn().toCompletableFuture().getNow(null);
  }

  private static Departure left(CompletionStage<Departure> leaving) {
    return leaving.toCompletableFuture().getNow(null);
  }

  private static void failed(LeasedClaim claim, Refusal refusal) {
    assertThatThrownBy(() -> claim.turn().toCompletableFuture().join())
        .cause()
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(refusal));
  }

  private final Program a = new Program("a");
  private final Program b = new Program("b");

  @Example
  void oneWorksOneWaitsAndTheThirdIsDeclined() {
    LeasedClaim works = a.answered();
    LeasedClaim waits = b.answered();
    LeasedClaim third = a.answered();
    assertThat(turn(works)).isEqualTo(Answer.ACCEPT);
    assertThat(a.coordinator.isHeld(works)).isTrue();
    assertThat(waits.answered().toCompletableFuture().getNow(null)).isEqualTo(Answer.BLOCK);
    assertThat(turn(waits)).isNull();
    assertThat(b.coordinator.isHeld(waits)).isFalse();
    assertThat(turn(third)).isEqualTo(Answer.DECLINE);
    CompletionStage<Departure> leaving = a.coordinator.giveBack(works);
    assertThat(a.coordinator.isHeld(works)).isFalse();
    settle();
    assertThat(left(leaving)).isEqualTo(Departure.PASSED_ON);
    assertThat(left(a.coordinator.giveBack(works))).isEqualTo(Departure.PASSED_ON);
    assertThat(turn(waits)).isEqualTo(Answer.ACCEPT);
    assertThat(b.coordinator.isHeld(waits)).isTrue();
    assertThat(left(b.coordinator.giveBack(waits))).isNull();
    settle();
    assertThat(bucket.keys()).isZero();
    assertThat(a.coordinator.idle() && b.coordinator.idle()).isTrue();
    assertThat(a.coordinator.claims()).isZero();
  }

  @Example
  void aClaimIsHeldAsLongAsQuestionsAreAnswered() {
    LeasedClaim claim = a.answered();
    pass(15_000, a);
    assertThat(a.coordinator.isHeld(claim)).isTrue();
    assertThat(a.seat.questions).isBetween(10, 16);
    assertThat(claim.lost().toCompletableFuture()).isNotDone();
  }

  @Example
  void aClaimWhoseProcessIsNotHeardIsLostBeforeTheClusterGivesItUp() {
    LeasedClaim claim = a.answered();
    pass(2_000, a);
    long cut = now;
    a.seat.cutOff = true;
    while (a.coordinator.isHeld(claim)) {
      pass(200, a);
    }
    assertThat(now - cut).isLessThanOrEqualTo(SILENT_MILLIS_MAX);
    pass(200, a);
    assertThat(claim.lost().toCompletableFuture()).isDone();
    assertThat(a.coordinator.figures().lost()).isOne();
    assertThat(a.coordinator.figures().processing()).isZero();
    // What is lost stays lost.
    a.seat.cutOff = false;
    pass(2_000, a);
    assertThat(a.coordinator.isHeld(claim)).isFalse();
    CompletionStage<Departure> leaving = a.coordinator.giveBack(claim);
    settle();
    assertThat(left(leaving)).isEqualTo(Departure.NOT_HEAD);
    assertThat(a.coordinator.figures().lost()).isOne();
    assertThat(bucket.keys()).isZero();
  }

  @Example
  void aProcessThatHungReliesOnNothingThatItReadsLate() {
    LeasedClaim works = b.answered();
    LeasedClaim waits = a.answered();
    b.coordinator.giveBack(works);
    // The step, and what it answers; the message for a stays unread, because a hangs.
    network.remove(0).run();
    network.remove(0).run();
    List<Runnable> unread = new ArrayList<>(network);
    network.clear();
    now += GIVEN_UP_MILLIS;
    b.seat.heardMillis = now;
    sweep();
    LeasedClaim other = b.answered();
    assertThat(b.coordinator.isHeld(other)).isTrue();
    unread.forEach(Runnable::run);
    assertThat(turn(waits)).isNull();
    settle();
    assertThat(a.coordinator.isHeld(waits)).isFalse();
    assertThat(turn(waits)).isNull();
    b.coordinator.giveBack(other);
    settle();
    assertThat(a.coordinator.isHeld(waits)).isTrue();
  }

  @Example
  void theAnswerToALaterClaimDoesNotBringBackOneThatWasLost() {
    LeasedClaim works = a.answered();
    now += GIVEN_UP_MILLIS;
    sweep();
    LeasedClaim successor = b.answered();
    // The process goes on, and claims another key before its timer runs.
    LeasedClaim later = a.coordinator.claim(new DedupKey(2, 2), ++this.works);
    settle();
    assertThat(a.coordinator.isHeld(later)).isTrue();
    assertThat(b.coordinator.isHeld(successor)).isTrue();
    assertThat(a.coordinator.isHeld(works)).isFalse();
    assertThat(works.lost().toCompletableFuture()).isDone();
  }

  /** Any session may send a message that names another one. */
  @Example
  void aForgedMessageMakesNobodyWork() {
    LeasedClaim works = a.answered();
    LeasedClaim waits = b.answered();
    SharedClaim tail = waits.ticket.claim;
    for (long until : new long[] {tail.waitsUntilMillis(), 0, Long.MAX_VALUE}) {
      b.seat.turns.head(KEY, tail.token(), until);
      settle();
      assertThat(turn(waits)).isNull();
      assertThat(b.coordinator.isHeld(waits)).isFalse();
    }
    // Of a claim that there is not, and of one that works.
    b.seat.turns.head(KEY, tail.token() + 1, 0);
    a.seat.turns.head(new DedupKey(9, 9), works.ticket.claim.token(), 0);
    settle();
    assertThat(a.coordinator.isHeld(works)).isTrue();
    a.coordinator.giveBack(works);
    settle();
    assertThat(b.coordinator.isHeld(waits)).isTrue();
  }

  /** So the node finds it where the claims of programs are. */
  @Example
  void aClaimThatNobodyKnowsIsGivenBackAsOneOfAProgram() {
    LeasedClaim works = a.answered();
    SharedClaim claim = works.ticket.claim;
    a.seat.turns.head(KEY, claim.token() + 1, 0);
    assertThat(network).hasSize(1);
    settle();
    assertThat(a.seat.workers).isNotEmpty().allMatch(Worker::isService);
    assertThat(a.coordinator.isHeld(works)).isTrue();
  }

  @Example
  void whatWasSeenAsLostStaysLost() {
    LeasedClaim claim = a.answered();
    now += 3_000;
    a.coordinator.tick();
    now += 2_000;
    assertThat(a.coordinator.isHeld(claim)).isFalse();
    // The question was sent in time.
    settle();
    assertThat(a.coordinator.isHeld(claim)).isFalse();
  }

  @Example
  void anAnswerThatIsReadTooLateIsAskedForAgain() {
    LeasedClaim claim = a.ask();
    network.remove(0).run();
    now += SILENT_MILLIS_MAX;
    network.remove(0).run();
    assertThat(turn(claim)).isNull();
    settle();
    assertThat(a.coordinator.isHeld(claim)).isTrue();
  }

  @Example
  void theTimeOfAHeadCountsFromWhenItBecameTheHead() {
    LeasedClaim works = a.answered();
    LeasedClaim waits = b.answered();
    a.coordinator.giveBack(works);
    network.remove(0).run();
    // It is the head now, and learns that late.
    now += 3_000;
    settle();
    assertThat(b.coordinator.isHeld(waits)).isTrue();
    pass(HEAD_MILLIS_MAX - 3_000 - 600, b);
    assertThat(b.coordinator.isHeld(waits)).isTrue();
    pass(200, b);
    assertThat(b.coordinator.isHeld(waits)).isFalse();
    assertThat(waits.lost().toCompletableFuture()).isDone();
  }

  @Example
  void theTimeOfAHeadDoesNotGrowByTheTimeOfTheAnswer() {
    a.seat.lateMillis = 3_000;
    LeasedClaim claim = a.ask();
    long asked = now;
    network.remove(0).run();
    now += 3_000;
    settle();
    assertThat(a.coordinator.isHeld(claim)).isTrue();
    while (a.coordinator.isHeld(claim)) {
      pass(200, a);
    }
    assertThat(now - asked).isBetween(HEAD_MILLIS_MAX - 1_000, HEAD_MILLIS_MAX);
  }

  @Example
  void aClaimNeverGoesAheadUnguarded() {
    a.seat.cutOff = true;
    LeasedClaim claim = a.answered();
    pass(9_000, a);
    assertThat(claim.turn().toCompletableFuture()).isNotDone();
    pass(1_200, a);
    failed(claim, Refusal.UNAVAILABLE);
    a.seat.cutOff = false;
    pass(2_000, a);
    assertThat(a.coordinator.idle()).isTrue();
  }

  @Example
  void aClaimThatIsForbiddenFailsAtOnce() {
    a.seat.forbidden = true;
    failed(a.answered(), Refusal.FORBIDDEN);
  }

  @Example
  void underAnotherNameClaimsAtWorkAreLostAndThoseThatWaitAskAgain() {
    LeasedClaim works = a.answered();
    LeasedClaim waits = a.answered();
    Seat next = new Seat("a2");
    a.seat.silentMillisMax = 0;
    assertThat(a.coordinator.isHeld(works)).as("at once").isFalse();
    a.coordinator.use(next);
    settle();
    assertThat(works.lost().toCompletableFuture()).isDone();
    assertThat(turn(waits)).as("it took the place of its former claim").isNull();
    now += GIVEN_UP_MILLIS;
    next.heardMillis = now;
    sweep();
    pass(1_000, a);
    assertThat(a.coordinator.isHeld(waits)).isTrue();
  }

  @Example
  void ifTheAnswerToGivingBackIsLostNobodyKnows() {
    LeasedClaim claim = a.answered();
    a.seat.losesAnswers = true;
    CompletionStage<Departure> leaving = a.coordinator.giveBack(claim);
    settle();
    assertThat(bucket.keys()).isZero();
    a.seat.losesAnswers = false;
    pass(2_000, a);
    assertThat(left(leaving)).isEqualTo(Departure.UNKNOWN);
    assertThat(a.coordinator.figures().lost()).isZero();
  }

  @Example
  void ifTheMapWasLostGivingBackTells() {
    LeasedClaim claim = a.answered();
    bucket.sweep(name -> false, now);
    assertThat(turn(b.answered())).isEqualTo(Answer.ACCEPT);
    CompletionStage<Departure> leaving = a.coordinator.giveBack(claim);
    settle();
    assertThat(left(leaving)).isEqualTo(Departure.NOT_HEAD);
    assertThat(a.coordinator.figures().lost()).isOne();
  }

  @Example
  void closingEndsClaimsInEveryState() {
    LeasedClaim works = a.answered();
    LeasedClaim waits = a.answered();
    LeasedClaim asks = b.ask();
    RefusedException why = Refusal.UNAVAILABLE.error("closed");
    CompletableFuture<Void> closed = a.coordinator.close(why);
    b.coordinator.close(why);
    failed(waits, Refusal.UNAVAILABLE);
    failed(asks, Refusal.UNAVAILABLE);
    LeasedClaim late = a.ask();
    failed(late, Refusal.UNAVAILABLE);
    settle();
    pass(2_000, a, b);
    assertThat(closed).isCompleted();
    assertThat(a.coordinator.isHeld(works)).isFalse();
    assertThat(bucket.keys()).isZero();
  }

  @Property(tries = 300)
  void neverAreTwoSureOfOneKey(@ForAll long seed) {
    random = new Random(seed);
    disorder = true;
    List<Program> programs = new ArrayList<>(List.of(a, b, new Program("c")));
    Map<Program, Long> hungUntil = new HashMap<>();
    Map<Program, List<LeasedClaim>> claims = new HashMap<>();
    programs.forEach(each -> claims.put(each, new ArrayList<>()));
    int begun = 0;
    for (int step = 0; step < 600; step++) {
      now += random.nextInt(400);
      Program one = programs.get(random.nextInt(3));
      one.seat.cutOff = random.nextInt(20) == 0 ^ one.seat.cutOff && random.nextInt(3) > 0;
      one.seat.losesAnswers = random.nextInt(10) == 0;
      if (random.nextInt(40) == 0) {
        hungUntil.put(one, now + random.nextInt(12_000));
      }
      sweep();
      for (Program each : programs) {
        if (now < hungUntil.getOrDefault(each, 0L)) {
          continue;
        }
        List<LeasedClaim> own = claims.get(each);
        if (random.nextInt(3) == 0 && own.size() < 3) {
          own.add(each.ask());
        }
        if (random.nextInt(6) == 0 && !own.isEmpty()) {
          each.coordinator.giveBack(own.remove(random.nextInt(own.size())));
        }
        each.coordinator.tick();
      }
      for (int i = random.nextInt(12); i > 0 && !network.isEmpty(); i--) {
        network.remove(random.nextInt(network.size())).run();
        Set<LeasedClaim> sure = new HashSet<>();
        for (Program each : programs) {
          claims.get(each).stream().filter(each.coordinator::isHeld).forEach(sure::add);
        }
        assertThat(sure.size()).as("sure of the key at once").isLessThan(2);
        begun += sure.size();
      }
    }
    assertThat(begun).isPositive();
  }
}
