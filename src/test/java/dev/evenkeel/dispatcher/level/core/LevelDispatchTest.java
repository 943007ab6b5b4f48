package dev.evenkeel.dispatcher.level.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.dispatcher.level.core.LevelAction.Deadly;
import dev.evenkeel.dispatcher.level.core.LevelAction.Finished;
import dev.evenkeel.dispatcher.level.core.LevelAction.GivenBack;
import dev.evenkeel.dispatcher.level.core.LevelAction.RecordDeaths;
import dev.evenkeel.dispatcher.level.core.LevelAction.SendHandOut;
import dev.evenkeel.dispatcher.level.core.LevelAction.SendStart;
import dev.evenkeel.dispatcher.level.core.LevelAction.SetAside;
import dev.evenkeel.level.Range;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each rule of a {@link LevelDispatch} by itself. */
class LevelDispatchTest {
  private static final Shard SHARD = new Shard(1, 0);
  private static final Shard OTHER = new Shard(1, 1);
  private static final long STALL_MILLIS = 3_000;

  private LevelDispatch book = pull(10);
  private long now = 1_000;
  private long reports;
  private int capacity = 4;

  private static LevelDispatch pull(int range) {
    return new LevelDispatch("g", "n", new LevelPolicy(Range.of(range), LevelPolicy.Strategy.PULL));
  }

  private static LevelDispatch push(int range) {
    return new LevelDispatch("g", "n", new LevelPolicy(Range.of(range), LevelPolicy.Strategy.PUSH));
  }

  private static LiveMember member(String name, boolean closing) {
    return new LiveMember(name, name + "-1", STALL_MILLIS, closing);
  }

  private void live(String... names) {
    book.members(List.of(names).stream().map(name -> member(name, false)).toList(), now);
  }

  private void deliver(int from, int to) {
    deliver(SHARD, from, to);
  }

  private void deliver(Shard shard, int from, int to) {
    for (int i = from; i < to; i++) {
      MessageId id = new MessageId(shard, i, 0);
      book.delivery("t", new HandOut.Entry(id, 1, 1, new Message(null, null, 0, new byte[1])), i);
    }
  }

  private List<LevelAction> actions() {
    book.handOut(now);
    List<LevelAction> all = new ArrayList<>();
    for (LevelAction each = book.poll(); each != null; each = book.poll()) {
      all.add(each);
    }
    return all;
  }

  private static <T> List<T> of(Class<T> type, List<LevelAction> actions) {
    return actions.stream().filter(type::isInstance).map(type::cast).toList();
  }

  private static SessionState nothing(int capacity) {
    return new SessionState(null, 0, List.of(), List.of(), capacity);
  }

  /** The members are asked what they hold, which is nothing. */
  private void beginEmpty(int capacity, String... members) {
    live(members);
    book.begin(1, now);
    answerCollects(capacity);
  }

  /** These messages wait for members that may be dealt them. */
  private void holds(int capacity, int messages, String... members) {
    begin(capacity, members);
    deliver(0, messages);
  }

  /**
   * Who may be dealt what, once each of {@code members} has finished its first message, number 0.
   */
  private void begin(int capacity, String... members) {
    this.capacity = capacity;
    beginEmpty(capacity, members);
    deliver(OTHER, 0, members.length);
    for (SendHandOut each : handOuts()) {
      book.received(each, 1, now);
      report(each, 1);
    }
    actions();
    now += JoinPauses.APART_MILLIS;
  }

  private List<SendStart> answerCollects(int capacity) {
    List<SendStart> collects = starts();
    collects.forEach(each -> book.started(each, nothing(capacity), now));
    return collects;
  }

  private LevelDispatch.Heard report(SendHandOut deal, long endedBelow, Report.Failed... failed) {
    return reportOf(deal, deal.end(), endedBelow, failed);
  }

  private LevelDispatch.Heard reportOf(
      SendHandOut sent, long received, long endedBelow, Report.Failed... failed) {
    HandOut body = sent.body();
    Report report =
        new Report(
            "g",
            sent.instance(),
            body.term(),
            body.session(),
            reports++,
            received,
            endedBelow,
            new long[0],
            List.of(failed),
            capacity);
    return book.reported(report, now);
  }

  private static List<Long> offsets(SendHandOut deal) {
    return deal.body().messages().stream().map(each -> each.id().offset()).toList();
  }

  private static List<Long> range(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  void nothingIsDealtBeforeAllHaveAnswered() {
    live("a", "b");
    book.begin(1, now);
    deliver(0, 4);
    List<SendStart> collects = starts();
    assertThat(collects).hasSize(2).allMatch(each -> each.body().keep());
    book.started(collects.get(0), nothing(4), now);
    assertThat(actions()).isEmpty();
    book.started(collects.get(1), nothing(4), now);
    assertThat(handOuts()).hasSize(2);
  }

  private List<SendHandOut> handOuts() {
    return of(SendHandOut.class, actions());
  }

  private List<SendStart> starts() {
    return of(SendStart.class, actions());
  }

  private SendHandOut handOut() {
    return onlyHandOut(actions());
  }

  /** The member takes all of the one hand-out. */
  private SendHandOut taken(List<LevelAction> actions) {
    SendHandOut sent = onlyHandOut(actions);
    received(sent);
    return sent;
  }

  private void pass(long millis) {
    now += millis;
    book.tick(now);
  }

  private SendHandOut onlyHandOut(List<LevelAction> actions) {
    assertThat(of(SendHandOut.class, actions)).hasSize(1);
    return of(SendHandOut.class, actions).get(0);
  }

  /** The run of a member ends, and another one takes its place and joins. */
  private List<LevelAction> next(String name, int run) {
    book.members(List.of(new LiveMember(name, name + "-" + run, STALL_MILLIS, false)), now);
    List<LevelAction> all = new ArrayList<>(actions());
    of(SendStart.class, all).forEach(each -> book.started(each, nothing(capacity), now));
    now += JoinPauses.APART_MILLIS;
    all.addAll(actions());
    return all;
  }

  /** What members die of is found, and whatever else they had in hand is handled. */
  @Test
  void whatMembersDieOfIsHandedOutAloneAndThenBecomesADeadLetter() {
    holds(4, 6, "a");
    int run = 2;
    List<SendHandOut> deaths = new ArrayList<>();
    List<Long> handled = new ArrayList<>();
    List<Deadly> deadly = new ArrayList<>();
    List<LevelAction> next = actions();
    for (int turn = 0; turn < 30 && handled.size() < 5; turn++) {
      deadly.addAll(of(Deadly.class, next));
      SendHandOut handOut = taken(next);
      if (offsets(handOut).contains(1L)) {
        deaths.add(handOut);
        assertThat(actions()).as("nothing comes on top of it").isEmpty();
        next = next("a", run++);
      } else {
        handled.addAll(offsets(handOut));
        report(handOut, handOut.end());
        next = actions();
      }
    }
    assertThat(deadly).containsExactly(new Deadly(1, Limits.CRASHES_MAX_DEFAULT));
    assertThat(handled).containsExactlyInAnyOrder(0L, 2L, 3L, 4L, 5L);
    assertThat(deaths).hasSize(Limits.CRASHES_MAX_DEFAULT);
    for (int death = 2; death < Limits.CRASHES_MAX_DEFAULT; death++) {
      HandOut alone = deaths.get(death).body();
      assertThat(alone.messages()).hasSize(1);
      assertThat(alone.messages().get(0).attempt()).isEqualTo(death + 1);
    }
  }

  /** A session over HTTP whose caller is gone: it names what the caller has got. */
  @Test
  void ofAMemberThatSaysWhatItDiedOfOnlyThatIsHeldAgainst() {
    holds(4, 4, "a");
    SendHandOut inHand = taken(actions());
    assertThat(offsets(inHand)).containsExactly(0L, 1L, 2L, 3L);
    book.died("a-1", List.of(new MessageId(SHARD, 2, 0)));

    // Until it has finished one, the next run gets no more.
    inHand = taken(next("a", 2));
    assertThat(offsets(inHand)).containsExactly(0L);
    report(inHand, inHand.end());
    inHand = taken(actions());
    assertThat(offsets(inHand)).containsExactly(1L, 2L, 3L);
    assertThat(inHand.body().messages()).allMatch(each -> each.attempt() == 1);
    // Whether it was heard to close makes no difference.
    book.members(List.of(new LiveMember("a", "a-2", STALL_MILLIS, true)), now);
    book.died("a-2", List.of(new MessageId(SHARD, 2, 0)));

    inHand = taken(next("a", 3));
    assertThat(offsets(inHand)).as("alone").containsExactly(2L);
    assertThat(inHand.body().messages()).allMatch(each -> each.attempt() == 3);
    report(inHand, inHand.end());
    inHand = handOut();
    assertThat(offsets(inHand)).as("not held against these").containsExactly(1L, 3L);
    assertThat(inHand.body().messages()).allMatch(each -> each.attempt() == 1);
  }

  /** The run of a member that asks for its own limit ends with its messages in hand, and so on. */
  private List<Deadly> runsDie(int runs, int crashesMax, LiveMember... others) {
    List<Deadly> deadly = new ArrayList<>();
    for (int run = 1; run <= runs; run++) {
      List<LiveMember> there = new ArrayList<>(List.of(others));
      there.add(
          new LiveMember("a", "a-x" + run, STALL_MILLIS, crashesMax, false, null, null, true));
      book.members(there, now);
      for (int step = 0; step < 3; step++) {
        List<LevelAction> next = actions();
        deadly.addAll(of(Deadly.class, next));
        of(SendStart.class, next).stream()
            .filter(each -> each.instance().startsWith("a-"))
            .forEach(each -> book.started(each, nothing(capacity), now));
        of(SendHandOut.class, next).forEach(each -> book.received(each, each.end(), now));
        now += JoinPauses.APART_MILLIS;
      }
    }
    return deadly;
  }

  private static LiveMember away(int crashesMax) {
    return new LiveMember("b", "b-1", STALL_MILLIS, crashesMax, false, null, null, true);
  }

  private void oneMessageInHand() {
    holds(4, 1, "a");
    SendHandOut inHand = taken(actions());
  }

  /** The lease of the shard, with the deaths that dispatchers have recorded. */
  private Lease lease = Lease.fresh("g", SHARD, 1, 0, new Generation(0, 0));

  /** Carries out what the log is to record. */
  private List<LevelAction> recorded(List<LevelAction> actions) {
    for (RecordDeaths each : of(RecordDeaths.class, actions)) {
      assertThat(each.epoch()).isEqualTo(1);
      lease = lease.died(each.died(), 100);
    }
    return actions;
  }

  /** Another dispatcher has the group, and delivers what is not committed, without these. */
  private void anotherDispatcher(Collection<Long> over) {
    book = pull(10);
    book.assigned(SHARD, lease.crashes());
    book.begin(2, now);
    for (int offset = (int) lease.committed(); offset < 6; offset++) {
      if (!over.contains((long) offset)) {
        deliver(offset, offset + 1);
      }
    }
  }

  /**
   * A message kills every member, and each death is seen by another dispatcher. The message still
   * becomes a dead letter, and the others that were in hand are handled.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 3, 4})
  void whatMembersDieOfIsFoundAlthoughEachDeathIsSeenByAnotherDispatcher(long deadlyOffset) {
    Set<Long> handled = new TreeSet<>();
    List<Deadly> deadly = new ArrayList<>();
    int deaths = 0;
    capacity = 4;
    while (deadly.isEmpty()) {
      assertThat(deaths).as("deaths").isLessThanOrEqualTo(Limits.CRASHES_MAX_DEFAULT + 2);
      anotherDispatcher(handled);
      live("a");
      boolean lives = true;
      for (int step = 0; step < 20 && lives && deadly.isEmpty(); step++) {
        List<LevelAction> next = actions();
        deadly.addAll(of(Deadly.class, next));
        of(SendStart.class, next).forEach(each -> book.started(each, nothing(capacity), now));
        now += JoinPauses.APART_MILLIS;
        for (SendHandOut each : of(SendHandOut.class, next)) {
          received(each);
          lives = !offsets(each).contains(deadlyOffset);
          if (lives) {
            handled.addAll(offsets(each));
            report(each, each.end());
          }
        }
      }
      assertThat(lives && deadly.isEmpty()).as("nothing becomes of the message").isFalse();
      if (!lives) {
        deaths++;
        book.members(List.of(), now);
        recorded(actions());
      }
      while (handled.contains(lease.committed())) {
        lease = lease.committedAt(lease.committed() + 1);
      }
    }
    assertThat(deadly.get(0).ticket()).isEqualTo((int) deadlyOffset);
    assertThat(deadly.get(0).deaths()).isEqualTo(Limits.CRASHES_MAX_DEFAULT);
  }

  @Test
  void theNextDispatcherHandsOutAloneWhatMembersDiedOfAndGoesOnCounting() {
    oneMessageInHand();
    recorded(actions());
    assertThat(lease.crashes()).isNull();
    for (int run = 1; run <= 2; run++) {
      recorded(next("a", run + 1)).forEach(this::received);
    }
    assertThat(lease.crashes()).isEqualTo(new Crashes(0, 2, 1, -1));

    anotherDispatcher(List.of());
    live("a");
    answerCollects(4);
    SendHandOut alone = taken(actions());
    assertThat(offsets(alone)).containsExactly(0L);
    assertThat(alone.body().messages().get(0).attempt()).isEqualTo(3);
    assertThat(runsDie(1, 3)).containsExactly(new Deadly(0, 3));
  }

  private void received(LevelAction action) {
    if (action instanceof SendHandOut sent) {
      book.received(sent, sent.end(), now);
    }
  }

  /** A dispatcher ended between the last death and the dead letter. */
  @Test
  void whatTooManyMembersDiedOfUnderFormerDispatchersIsNotHandedOutAgain() {
    lease = lease.died(new Outcome.Died(2, Limits.CRASHES_MAX_DEFAULT, 3), 100);
    anotherDispatcher(List.of());
    assertThat(of(Deadly.class, actions())).as("nobody has said a limit").isEmpty();
    live("a");
    answerCollects(4);
    assertThat(of(Deadly.class, actions()))
        .containsExactly(new Deadly(2, Limits.CRASHES_MAX_DEFAULT));
  }

  /** Members that die meanwhile with others in hand do not hide it from the next dispatcher. */
  @Test
  void theLogKeepsTheMessageOfAShardThatMostMembersDiedOf() {
    lease = lease.died(new Outcome.Died(0, 4, 1), 100);
    anotherDispatcher(List.of());
    live("a", "b");
    answerCollects(4);
    recorded(actions()).forEach(this::received);
    live("a");
    recorded(actions());
    assertThat(lease.crashes())
        .satisfiesAnyOf(
            known -> assertThat(known).isEqualTo(new Crashes(0, 4, 1, -1)),
            known -> assertThat(known).isEqualTo(new Crashes(0, 5, 1, -1)));
  }

  /** It is one message, whatever else happens to it between the deaths. */
  @Test
  void aMessageThatFailsBetweenTwoDeathsKeepsItsCount() {
    oneMessageInHand();
    actions();
    next("a", 2).forEach(this::received);
    SendHandOut alone = taken(next("a", 3));
    report(alone, alone.end(), new Report.Failed(alone.end() - 1, "broken"));
    assertThat(of(LevelAction.Failed.class, actions())).hasSize(1);
    MessageId id = new MessageId(SHARD, 0, 0);
    book.delivery("t", new HandOut.Entry(id, 1, 2, new Message(null, null, 0, new byte[1])), 7);
    alone = taken(actions());
    assertThat(alone.body().messages().get(0).attempt()).as("a failure, two deaths").isEqualTo(4);
    assertThat(runsDie(1, 3)).containsExactly(new Deadly(7, 3));
  }

  @Test
  void membersSayAfterHowManyDeathsAMessageIsADeadLetter() {
    oneMessageInHand();
    assertThat(runsDie(2, 3)).isEmpty();
    assertThat(runsDie(1, 3)).containsExactly(new Deadly(0, 3));
  }

  @Test
  void membersMaySayThatNoMessageIsADeadLetterForTheirDeaths() {
    oneMessageInHand();
    assertThat(runsDie(40, 0)).isEmpty();
  }

  @Test
  void ofMembersThatDifferTheOneThatBearsMoreDeathsHolds() {
    oneMessageInHand();
    assertThat(runsDie(6, 3, away(7))).isEmpty();
    assertThat(runsDie(1, 3, away(7))).containsExactly(new Deadly(0, 7));
  }

  @Test
  void ofMembersThatDifferTheOneThatBearsAllDeathsHolds() {
    oneMessageInHand();
    assertThat(runsDie(40, 3, away(0))).isEmpty();
  }

  /** Members hold what they have in hand: that is no reason to set anybody aside. */
  @Test
  void whileTheGroupIsPausedNothingIsHandedOutAndNobodyIsWaitedFor() {
    holds(4, 2, "a");
    SendHandOut inHand = taken(actions());
    deliver(2, 8);
    book.paused(true);
    for (int i = 0; i < 100; i++) {
      pass(STALL_MILLIS / 10);
      assertThat(actions()).isEmpty();
    }
    book.paused(false);
    report(inHand, inHand.end());
    assertThat(offsets(handOut())).containsExactly(2L, 3L, 4L, 5L);
  }

  /** Else the same messages are sent again and again, as fast as it answers. */
  @Test
  void whoHasNoRoomIsSentNothingBeforeItEndsSomething() {
    holds(4, 4, "a");
    SendHandOut sent = handOut();
    long second = sent.body().firstSequence() + 1;
    book.received(sent, second, now);
    assertThat(actions()).as("it took one of four").isEmpty();
    now += 20;
    assertThat(actions()).isEmpty();
    reportOf(sent, second, second);
    sent = handOut();
    assertThat(offsets(sent)).startsWith(1L, 2L, 3L);

    book.received(sent, second, now);
    assertThat(offsets(handOut())).as("it has ended all it took").startsWith(1L);
  }

  /** The answer to a release comes when the shard is gone, and may be of before a reset. */
  @Test
  void whatWasCommittedBeforeAShardCameAgainIsForgotten() {
    book.assigned(SHARD, null);
    book.committed(SHARD, 100);
    book.withdrawn(SHARD);
    book.committed(SHARD, 100);
    book.assigned(SHARD, null);
    book.committed(SHARD, 5);
    begin(4, "a");
    deliver(5, 6);
    book.committed(SHARD, 6);
    assertThat(handOut().body().committed()).containsEntry(SHARD, 6L);
  }

  /** A hand-out before it was lost. */
  @Test
  void whoMissesSomethingIsSentItAtOnce() {
    holds(8, 2, "a");
    SendHandOut lost = handOut();
    deliver(2, 4);
    SendHandOut next = handOut();
    book.received(next, lost.body().firstSequence(), now);
    assertThat(offsets(handOut())).containsExactly(0L, 1L, 2L, 3L);
  }

  /** In a pause nobody ends anything, and so nobody gets room. */
  @Test
  void whoHasNoRoomInAPauseIsNotSetAsideAfterIt() {
    holds(4, 4, "a");
    SendHandOut sent = handOut();
    long second = sent.body().firstSequence() + 1;
    book.received(sent, second, now);
    book.paused(true);
    for (int i = 0; i < 100; i++) {
      pass(STALL_MILLIS / 10);
      actions();
    }
    assertThat(reportOf(sent, second, 1).permission().mayStartMillis()).isPositive();
    book.paused(false);
    for (long until = now + STALL_MILLIS - 100; now < until; now += 20) {
      book.tick(now);
      assertThat(of(SetAside.class, actions())).isEmpty();
    }
  }

  /** What members have in hand they may handle; whatever is not goes back to the log. */
  @Test
  void whileAShardIsPausedNothingOfItIsHandedOut() {
    holds(1, 4, "a", "b");
    List<SendHandOut> inHand = handOuts();
    inHand.forEach(each -> book.received(each, each.end(), now));
    assertThat(inHand).hasSize(2);
    book.paused(SHARD, true);
    assertThat(of(GivenBack.class, actions())).containsExactly(new GivenBack(2), new GivenBack(3));

    report(inHand.get(0), inHand.get(0).end());
    deliver(OTHER, 2, 3);
    assertThat(handOut().body().messages().get(0).id().shard()).isEqualTo(OTHER);

    long left = offsets(inHand.get(1)).get(0);
    live("a");
    assertThat(of(GivenBack.class, actions()))
        .as("its member has left")
        .containsExactly(new GivenBack((int) left));

    book.paused(SHARD, false);
    deliver(4, 5);
    assertThat(book.deliveries.waiting()).isEqualTo(1);
  }

  /** Rolling restarts, over and over, with messages in hand. */
  @Test
  void whatAMemberHadInHandThatLeavesIsNoReasonOfADeath() {
    holds(4, 4, "a");
    List<LevelAction> next = actions();
    for (int run = 1; run < 20; run++) {
      assertThat(of(Deadly.class, next)).isEmpty();
      assertThat(offsets(onlyHandOut(next))).startsWith(0L);
      book.members(List.of(new LiveMember("a", "a-" + run, STALL_MILLIS, true)), now);
      next = next("a", run + 1);
    }
  }

  @Test
  void oneThatDoesNotAnswerIsWaitedForAndJoinsAnew() {
    live("a", "b");
    book.begin(1, now);
    deliver(0, 4);
    List<SendStart> collects = starts();
    book.started(collects.get(0), nothing(4), now);
    pass(LevelDispatch.BEGIN_MILLIS_MAX - 1);
    assertThat(handOuts()).isEmpty();
    pass(1);
    List<LevelAction> then = actions();
    assertThat(of(SendHandOut.class, then)).hasSize(1);
    assertThat(of(SendStart.class, then)).hasSize(1).noneMatch(c -> c.body().keep());
    book.started(collects.get(1), nothing(4), now);
    assertThat(Insight.level(book)).as("the late answer is of no use").containsExactly("a");
  }

  private void beginWithOneUnheard() {
    LiveMember unheard =
        new LiveMember(
            "b", "b-1", STALL_MILLIS, Limits.CRASHES_MAX_DEFAULT, false, null, null, false);
    book.members(List.of(member("a", false), unheard), now);
    book.begin(1, now);
  }

  /** It may be gone together with the former dispatcher, and counts as alive for its timeout. */
  @Test
  void oneThatOnlyTheRegistryNamesIsNotWaitedForAsLongAsOneThatWasHeard() {
    beginWithOneUnheard();
    deliver(0, 4);
    book.started(starts().get(0), nothing(4), now);
    pass(LevelDispatch.UNHEARD_MILLIS_MAX - 1);
    assertThat(handOuts()).isEmpty();
    pass(1);
    assertThat(handOuts()).hasSize(1);
    assertThat(LevelDispatch.UNHEARD_MILLIS_MAX).isLessThan(LevelDispatch.BEGIN_MILLIS_MAX);
  }

  @Test
  void oneThatIsHeardWhileItIsAskedIsAskedAgainAtOnceAndGoesOn() {
    beginWithOneUnheard();
    List<SendStart> first = starts();
    book.started(first.get(0), nothing(4), now);
    live("a", "b");
    List<SendStart> again = starts();
    assertThat(again).hasSize(1);
    assertThat(again.get(0).instance()).isEqualTo("b-1");
    assertThat(again.get(0).body().keep()).isTrue();
    assertThat(again.get(0).body().session()).isGreaterThan(first.get(1).body().session());
    book.startFailed(first.get(1), Refusal.INDETERMINATE, now);
    book.started(again.get(0), nothing(4), now);
    deliver(0, 4);
    assertThat(handOuts()).hasSize(2);
  }

  @Test
  void pullDealsNoMoreThanTheCapacityAndPushUpToTheRangeInTurn() {
    holds(3, 50, "a", "b");
    assertThat(handOuts()).allMatch(each -> each.end() == 4);
    book = push(10);
    holds(3, 50, "a", "b");
    List<SendHandOut> deals = handOuts();
    assertThat(deals).allMatch(each -> each.end() >= 10);
    assertThat(offsets(deals.get(0)).subList(0, 3)).containsExactly(0L, 2L, 4L);
  }

  @Test
  void aNewcomerJoinsWhenAllHandsAreEmptyAndIsHeardBeforeOthersGetMore() {
    holds(3, 20, "a");
    SendHandOut first = handOuts().get(0);
    live("a", "b");
    answerCollects(3);
    report(first, 2);
    assertThat(handOuts()).as("all wait").isEmpty();
    assertThat(Insight.level(book)).containsExactly("a");
    report(first, 4);
    List<SendHandOut> greeting = handOuts();
    assertThat(Insight.level(book)).containsExactly("a", "b");
    assertThat(greeting).extracting(SendHandOut::instance).containsExactly("b-1");
    assertThat(greeting.get(0).end()).isOne();
    assertThat(handOuts()).isEmpty();
    report(greeting.get(0), 1);
    assertThat(handOuts()).extracting(SendHandOut::end).containsExactlyInAnyOrder(7L, 4L);
  }

  @Test
  void nobodyWaitsLongForANewcomerOrForWhatIsInHand() {
    holds(3, 20, "a");
    actions();
    live("a", "b", "c");
    answerCollects(3);
    actions();
    now += JoinPauses.PAUSE_MILLIS_MAX;
    List<SendHandOut> greeting = handOuts();
    assertThat(Insight.level(book)).containsExactly("a", "b", "c");
    assertThat(greeting).hasSize(2).allMatch(each -> each.end() == 1);
    report(greeting.get(0), 1);
    assertThat(handOuts()).isEmpty();
    now += JoinPauses.PAUSE_MILLIS_MAX;
    assertThat(handOuts()).hasSize(2);
  }

  @Test
  void aNewcomerThatCanTakeNothingHoldsNobodyUpForEver() {
    begin(3, "a");
    live("a", "b");
    answerCollects(0);
    deliver(0, 20);
    assertThat(handOuts()).isEmpty();
    assertThat(Insight.level(book)).containsExactly("a", "b");
    now += JoinPauses.PAUSE_MILLIS_MAX;
    assertThat(handOuts()).extracting(SendHandOut::instance).containsExactly("a-1");
  }

  @Test
  void endsComeOutOnceAndFailuresWithTheirError() {
    holds(4, 4, "a");
    SendHandOut deal = handOuts().get(0);
    report(deal, 4, new Report.Failed(2, "no"));
    List<LevelAction> ends = actions();
    assertThat(of(Finished.class, ends)).extracting(Finished::ticket).containsExactly(0, 2);
    assertThat(of(LevelAction.Failed.class, ends)).containsExactly(new LevelAction.Failed(1, "no"));
    report(deal, 4, new Report.Failed(2, "no"));
    assertThat(actions()).isEmpty();
    assertThat(Insight.open(book)).isEqualTo(1);
  }

  @Test
  void whatWasLostIsSentAgainWithTheStanding() {
    beginEmpty(4, "a");
    deliver(0, 4);
    SendHandOut deal = handOuts().get(0);
    assertThat(deal.body().checkpoint()).isNotNull();
    book.handOutFailed(deal, Refusal.INDETERMINATE, now);
    assertThat(actions()).isEmpty();
    now += 1_000;
    SendHandOut again = handOuts().get(0);
    assertThat(offsets(again)).isEqualTo(range(0, 4));
    assertThat(again.body().checkpoint()).isNotNull();
    book.received(again, 4, now);
    now += 1_000;
    assertThat(actions()).isEmpty();
  }

  @Test
  void messagesOfOneThatIsGoneComeFirstAndInOrder() {
    holds(3, 10, "a", "b");
    List<SendHandOut> deals = handOuts();
    live("b");
    report(deals.get(1), 4);
    SendHandOut next = handOuts().get(0);
    assertThat(offsets(next).subList(0, 3)).isEqualTo(offsets(deals.get(0)));
    assertThat(Insight.open(book)).isEqualTo(7);
  }

  /**
   * A group that comes back has a long backlog in some shards before the first message of others.
   */
  @Test
  void noShardWaitsForTheBacklogOfAnother() {
    begin(4, "a");
    deliver(SHARD, 0, 100);
    deliver(OTHER, 1, 3);
    SendHandOut handedOut = handOut();
    assertThat(handedOut.body().messages().stream().map(each -> each.id().shard()))
        .containsExactly(SHARD, OTHER, SHARD, OTHER);
    assertThat(offsets(handedOut)).containsExactly(0L, 1L, 1L, 2L);
    book.withdrawn(SHARD);
    assertThat(of(GivenBack.class, actions()))
        .extracting(GivenBack::ticket)
        .startsWith(2, 3)
        .hasSize(100);
    deliver(SHARD, 50, 51);
    report(handedOut, 4);
    assertThat(offsets(handOut())).containsExactly(50L);
  }

  @Test
  void oneThatClosesGetsNothingAndLeavesWhenItsHandIsEmpty() {
    holds(3, 10, "a", "b");
    List<SendHandOut> deals = handOuts();
    book.members(List.of(member("a", true), member("b", false)), now);
    report(deals.get(0), 2);
    assertThat(handOuts()).isEmpty();
    assertThat(Insight.level(book)).contains("a");
    report(deals.get(0), 4);
    actions();
    assertThat(Insight.level(book)).containsExactly("b");
  }

  /** As one at whose address nobody listens. */
  @Test
  void whoCanHandleNothingForNowHoldsUpNobodyAndIsAskedAgainLater() {
    holds(4, 8, "a", "b");
    List<SendHandOut> inHand = handOuts();
    SendHandOut ofA = inHand.get(0);
    SendHandOut ofB = inHand.get(1);
    capacity = 0;
    assertThat(report(ofA, ofA.body().firstSequence() + 1).permission()).isNotNull();
    capacity = 4;
    report(ofB, ofB.end());
    List<Long> left = offsets(ofA).subList(1, offsets(ofA).size());
    SendHandOut again = handOut();
    assertThat(again.instance()).isEqualTo("b-1");
    assertThat(offsets(again)).containsExactlyElementsOf(left);
    assertThat(again.body().messages()).allMatch(each -> each.attempt() == 1);
    report(ofA, ofA.end());
    assertThat(starts()).isEmpty();
    now += 500;
    book.tick(now);
    SendStart asked = starts().get(0);
    assertThat(asked.instance()).isEqualTo("a-1");
    book.startFailed(asked, Refusal.UNAVAILABLE, now);
    now += 500;
    book.tick(now);
    assertThat(starts()).hasSize(1);
  }

  @Test
  void whoeverHoldsTheRoundTooLongIsSetAsideButNotBeforeItWasPromised() {
    book = pull(2);
    beginEmpty(2, "a", "b");
    deliver(0, 20);
    List<SendHandOut> deals = handOuts();
    report(deals.get(1), 2);
    actions();
    long mayStart = report(deals.get(0), 0).permission().mayStartMillis();
    assertThat(mayStart).isPositive().isLessThan(STALL_MILLIS);
    long until = now + STALL_MILLIS;
    while (now < until - 100) {
      now += 100;
      book.received(deals.get(0), 2, now);
      book.tick(now);
      assertThat(book.figures(now).setAside()).isZero();
    }
    assertThat(book.figures(now).holder()).isEqualTo("a");
    assertThat(report(deals.get(0), 0).permission().mayStartMillis()).isZero();
    pass(200);
    assertThat(book.figures(now).setAside()).isEqualTo(1);
    assertThat(report(deals.get(0), 1).refusal()).isEqualTo(Refusal.FENCED);
    List<LevelAction> then = actions();
    assertThat(of(SetAside.class, then)).containsExactly(new SetAside("a", STALL_MILLIS, 1));
    assertThat(of(SendStart.class, then)).hasSize(1).noneMatch(c -> c.body().keep());
    assertThat(of(SendHandOut.class, then)).hasSize(1);
  }

  /** All others wait for it, since it is its turn. */
  @Test
  void soIsOneThatDoesNotFinishWhatItMustHandleAlone() {
    book = push(10);
    begin(4, "a", "b");
    book.assigned(SHARD, lease.died(new Outcome.Died(0, 2, 1), 100).crashes());
    deliver(0, 1);
    deliver(OTHER, 2, 100);
    for (int i = 0; i < 100 && book.figures(now).setAside() == 0; i++) {
      for (SendHandOut each : handOuts()) {
        boolean alone = each.body().messages().get(0).id().shard().equals(SHARD);
        received(each);
        report(each, alone ? each.end() - 1 : each.end());
      }
      pass(100);
    }
    assertThat(book.figures(now).setAside()).isEqualTo(1);
  }

  @Test
  void whatAMemberHoldsIsNotDealtAgainAndWhatHasEndedIsFinished() {
    beginEmpty(4, "a");
    deliver(0, 4);
    byte[] checkpoint = handOuts().get(0).body().checkpoint();
    book = pull(10);
    live("a");
    deliver(0, 6);
    book.begin(2, now);
    SendStart collect = starts().get(0);
    List<MessageId> held = List.of(new MessageId(SHARD, 2, 0), new MessageId(SHARD, 3, 0));
    List<MessageId> ended = List.of(new MessageId(SHARD, 0, 0), new MessageId(SHARD, 1, 0));
    book.started(collect, new SessionState(checkpoint, 2, held, ended, 4), now);
    List<LevelAction> then = actions();
    assertThat(of(Finished.class, then)).hasSize(2);
    SendHandOut deal = of(SendHandOut.class, then).get(0);
    assertThat(offsets(deal)).containsExactly(4L, 5L);
    assertThat(deal.body().firstSequence()).isEqualTo(2);
    report(deal, 4);
    assertThat(of(Finished.class, actions())).hasSize(4);
    assertThat(Insight.remembered(book)).isZero();
  }

  @Test
  void aLostShardIsGivenBackAndAttachedWhenItComesAgain() {
    holds(2, 4, "a");
    SendHandOut deal = handOuts().get(0);
    book.withdrawn(SHARD);
    assertThat(of(GivenBack.class, actions())).hasSize(4);
    assertThat(Insight.open(book)).isZero();
    deliver(0, 2);
    assertThat(handOuts()).isEmpty();
    report(deal, 3);
    assertThat(of(Finished.class, actions())).hasSize(2);
  }

  @Test
  void afterAResetAllOfTheShardIsDealtWhoeverHasOrHadIt() {
    holds(2, 4, "a");
    SendHandOut deal = handOuts().get(0);
    book.withdrawn(SHARD);
    actions();
    deliverOfGeneration(1, 0, 2);
    report(deal, 3);
    List<LevelAction> then = actions();
    assertThat(of(Finished.class, then)).isEmpty();
    assertThat(offsets(of(SendHandOut.class, then).get(0))).containsExactly(0L, 1L);
    assertThat(report(of(SendHandOut.class, then).get(0), 5).permission()).isNotNull();
    assertThat(of(Finished.class, actions())).hasSize(2);
  }

  @Test
  void whatMembersFinishedAndHoldFromBeforeAResetSaysNothingToTheNextDealer() {
    beginEmpty(4, "a");
    deliver(0, 4);
    byte[] checkpoint = handOuts().get(0).body().checkpoint();
    book = pull(10);
    live("a");
    deliverOfGeneration(1, 0, 6);
    book.begin(2, now);
    SendStart collect = starts().get(0);
    List<MessageId> held = List.of(new MessageId(SHARD, 2, 0), new MessageId(SHARD, 3, 0));
    List<MessageId> ended = List.of(new MessageId(SHARD, 0, 0), new MessageId(SHARD, 1, 1));
    book.started(collect, new SessionState(checkpoint, 2, held, ended, 4), now);
    List<LevelAction> then = actions();
    assertThat(of(Finished.class, then)).hasSize(1);
    SendHandOut deal = of(SendHandOut.class, then).get(0);
    assertThat(offsets(deal)).containsExactly(0L, 2L);
    report(deal, 4);
    SendHandOut rest = handOuts().get(0);
    assertThat(offsets(rest)).containsExactly(3L, 4L, 5L);
  }

  private void deliverOfGeneration(long generation, int from, int to) {
    for (int i = from; i < to; i++) {
      MessageId id = new MessageId(SHARD, i, generation);
      book.delivery("t", new HandOut.Entry(id, 2, 1, new Message(null, null, 0, new byte[1])), i);
    }
  }

  @Test
  void membersHearBelowWhatTheGroupIsDone() {
    beginEmpty(4, "a");
    book.committed(SHARD, 7);
    deliver(7, 8);
    SendHandOut deal = handOuts().get(0);
    assertThat(deal.body().committed()).containsEntry(SHARD, 7L);
    report(deal, 1);
    actions();
    book.received(deal, 1, now);
    deliver(8, 9);
    assertThat(handOuts().get(0).body().committed()).isEmpty();
  }

  @Test
  void afterClosingNothingIsDealtAndWhatIsInHandMayEnd() {
    holds(2, 4, "a");
    SendHandOut deal = handOuts().get(0);
    book.close();
    assertThat(of(GivenBack.class, actions())).hasSize(2);
    report(deal, 3);
    assertThat(of(Finished.class, actions())).hasSize(2);
    assertThat(Insight.open(book)).isZero();
  }
}
