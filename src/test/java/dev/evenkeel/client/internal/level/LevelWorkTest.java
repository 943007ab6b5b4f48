package dev.evenkeel.client.internal.level;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Options;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.AwayException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** One rule of a member in mode level after another. */
class LevelWorkTest {
  private static final Shard SHARD = new Shard(1, 0);
  private static final int FOREVER = 1_000_000;

  private final ConsumerOptions options =
      Options.member("g", "m", "t").setParallel(4).setMemberTimeoutMillis(FOREVER);
  private final List<String> warnings = new ArrayList<>();
  private final List<Throwable> stops = new ArrayList<>();
  private boolean away;
  private LevelWork work = work(10);
  private long now = 1_000;

  private LevelWork work(int range) {
    LevelWork made =
        new LevelWork(
            options,
            "run",
            range,
            new SplittableRandom(1),
            (text, cause) -> warnings.add(text + ": " + cause),
            (text, cause) -> stops.add(cause),
            () -> away);
    made.heartbeatAnswered(1_000);
    return made;
  }

  private SessionState collect(long term, long session, boolean keep) {
    return work.start(new SessionStart("g", term, session, "n1", keep, 10_000), now);
  }

  private static MessageId id(long offset) {
    return new MessageId(SHARD, offset, 0);
  }

  private static List<HandOut.Entry> messages(long... offsets) {
    return LongStream.of(offsets)
        .mapToObj(
            offset ->
                new HandOut.Entry(id(offset), 7, 1, new Message(null, Map.of(), 5, new byte[10])))
        .toList();
  }

  private static HandOut deal(long session, long first, List<HandOut.Entry> messages) {
    return new HandOut(1, session, first, null, Map.of(1, "t"), Map.of(), messages);
  }

  private long deal(long session, long first, long... offsets) {
    return work.receive(deal(session, first, messages(offsets)), now);
  }

  /** The first session begins with so many messages, from offset 0 on. */
  private void begin(int messages) {
    collect(1, 1, true);
    deal(1, 0, LongStream.range(0, messages).toArray());
  }

  /** As {@link #begin}, and all that may run does. */
  private List<LevelTask> begun(int messages) {
    begin(messages);
    return startAll();
  }

  private List<LevelTask> startAll() {
    List<LevelTask> tasks = new ArrayList<>();
    LevelTask task;
    while ((task = work.next(now)) != null) {
      tasks.add(task);
    }
    return tasks;
  }

  /** The report that is due now, answered at once. */
  private Report told() {
    Report report = work.report(now);
    assertThat(report).isNotNull();
    work.permission(new StartPermission(report.number(), 10_000), now);
    return report;
  }

  private static void refused(Refusal refusal, ThrowingCallable call) {
    Refused.with(refusal, call);
  }

  @Test
  void handsOutWhatIsDealtAndTellsItsEnd() {
    SessionState place = collect(1, 1, true);
    assertThat(place.checkpoint()).isNull();
    assertThat(place.finished()).isZero();
    assertThat(place.held()).isEmpty();
    assertThat(place.ended()).isEmpty();
    assertThat(place.capacity()).isEqualTo(10);
    assertThat(deal(1, 0, 40, 41)).isEqualTo(2);
    List<LevelTask> tasks = startAll();
    Delivery delivery = tasks.get(0).delivery("m");
    assertThat(delivery.topic()).isEqualTo("t");
    assertThat(delivery.shard()).isZero();
    assertThat(delivery.offset()).isEqualTo(40);
    assertThat(delivery.epoch()).isEqualTo(7);
    assertThat(delivery.attempt()).isEqualTo(1);
    assertThat(delivery.member()).isEqualTo("m");
    assertThat(work.running()).isEqualTo(2);
    work.finished(tasks.get(1), now);
    Report report = told();
    assertThat(report.group()).isEqualTo("g");
    assertThat(report.instance()).isEqualTo("run");
    assertThat(report.term()).isEqualTo(1);
    assertThat(report.session()).isEqualTo(1);
    assertThat(report.received()).isEqualTo(2);
    assertThat(report.endedBelow()).isZero();
    assertThat(report.endedAbove()).containsExactly(1);
    assertThat(report.failed()).isEmpty();
    assertThat(report.capacity()).isEqualTo(10);
    work.finished(tasks.get(0), now);
    Report next = told();
    assertThat(next.number()).isGreaterThan(report.number());
    assertThat(next.endedBelow()).isEqualTo(2);
    assertThat(next.endedAbove()).isEmpty();
    assertThat(work.consumed()).isEqualTo(2);
    now += 60_000;
    assertThat(work.report(now)).as("nothing is in hand").isNull();
  }

  @Test
  void runsAsManyAsItMay() {
    List<LevelTask> tasks = begun(6);
    assertThat(tasks).hasSize(4);
    work.finished(tasks.get(2), now);
    assertThat(work.next(now).id()).isEqualTo(id(4));
    assertThat(work.next(now)).isNull();
  }

  private void away(LevelTask task) {
    away = true;
    work.failed(task, new AwayException("nobody listens"), now);
  }

  @Test
  void whileNobodyIsThereItLeavesItsMessagesToOthers() {
    List<LevelTask> tasks = begun(6);
    away(tasks.get(1));
    assertThat(work.next(now)).isNull();
    work.finished(tasks.get(0), now);
    assertThat(told().capacity()).as("two still run").isEqualTo(1);
    work.failed(tasks.get(2), new IllegalStateException("broken"), now);
    away(tasks.get(3));
    Report last = told();
    assertThat(last.capacity()).isZero();
    assertThat(last.endedBelow()).isEqualTo(1);
    assertThat(last.endedAbove()).containsExactly(2);
    assertThat(last.failed()).hasSize(1);
    now += 60_000;
    assertThat(work.report(now)).as("it has nothing to say").isNull();
    refused(Refusal.UNAVAILABLE, () -> collect(1, 2, false));
    refused(Refusal.FENCED, () -> deal(1, 6, 6));
    away = false;
    assertThat(collect(1, 3, false).capacity()).isEqualTo(10);
    deal(3, 0, 1);
    assertThat(startAll()).hasSize(1);
  }

  /** The level dispatcher may have taken the messages back when its answer was lost. */
  @Test
  void aMemberThatStepsAsideDoesSoAlsoIfItsSessionIsOver() {
    away(begun(1).get(0));
    Report report = work.report(now);
    work.reportFailed(report.number(), Refusal.INDETERMINATE, now);
    now += 1_000;
    Report again = work.report(now);
    assertThat(again.capacity()).isZero();
    work.reportFailed(again.number(), Refusal.FENCED, now);
    now += 60_000;
    assertThat(work.report(now)).isNull();
    work.close();
    assertThat(work.drained(now)).isTrue();
  }

  /** A new level dispatcher waits for the answers of all. */
  @Test
  void aMemberThatStepsAsideTellsANewLevelDispatcher() {
    away(begun(1).get(0));
    told();
    SessionState state = collect(2, 1, true);
    assertThat(state.held()).isEmpty();
    assertThat(told().capacity()).isZero();
  }

  @Test
  void aDealThatComesAgainOrTooEarlyIsToldByItsNumbers() {
    collect(1, 1, true);
    assertThat(deal(1, 2, 12, 13)).as("a gap").isZero();
    assertThat(deal(1, 0, 10, 11)).isEqualTo(2);
    assertThat(deal(1, 0, 10, 11)).as("again").isEqualTo(2);
    assertThat(deal(1, 1, 11, 12, 13)).as("partly known").isEqualTo(4);
    assertThat(startAll().stream().map(task -> task.id().offset()))
        .containsExactly(10L, 11L, 12L, 13L);
  }

  @Test
  void whatIsOfAnotherSessionIsFenced() {
    refused(Refusal.FENCED, () -> deal(1, 0, 0));
    collect(1, 5, true);
    refused(Refusal.FENCED, () -> collect(1, 4, true));
    refused(Refusal.FENCED, () -> collect(0, 9, true));
    refused(Refusal.FENCED, () -> deal(4, 0, 0));
    refused(Refusal.FENCED, () -> deal(6, 0, 0));
    collect(2, 1, true);
    refused(Refusal.FENCED, () -> collect(1, 9, true));
    assertThat(startAll()).isEmpty();
  }

  @Test
  void aCollectThatComesAgainIsAnsweredAlike() {
    begin(2);
    SessionState first = collect(1, 2, true);
    assertThat(first.held()).containsExactly(id(0), id(1));
    LevelTask task = work.next(now);
    work.finished(task, now);
    SessionState again = collect(1, 2, true);
    assertThat(again.held()).isEqualTo(first.held());
    assertThat(again.finished()).isZero();
    assertThat(told().endedBelow()).isEqualTo(1);
    assertThat(deal(2, 2, 2)).isEqualTo(3);
    refused(Refusal.FENCED, () -> collect(1, 2, true));
  }

  @Test
  void aLaterSessionGoesOnWithWhatIsInHand() {
    collect(1, 1, true);
    work.receive(
        new HandOut(
            1, 1, 0, new byte[] {9}, Map.of(1, "t"), Map.of(), messages(0, 1, 2, 3, 4, 5, 6)),
        now);
    List<LevelTask> tasks = startAll();
    work.finished(tasks.get(1), now);
    work.failed(tasks.get(2), new IllegalStateException("broken\nin two lines"), now);
    SessionState place = collect(2, 1, true);
    assertThat(place.checkpoint()).containsExactly(9);
    assertThat(place.finished()).isEqualTo(1);
    assertThat(place.held()).containsExactly(id(0), id(3), id(4), id(5), id(6));
    assertThat(place.ended()).containsExactly(id(1));
    work.finished(tasks.get(3), now);
    Report report = told();
    assertThat(report.received()).isEqualTo(5);
    assertThat(report.endedAbove()).containsExactly(1);
    assertThat(report.failed()).as("it was not held any more").isEmpty();
  }

  @Test
  void withoutKeepingItForgetsWhatItHas() {
    collect(1, 1, true);
    work.receive(
        new HandOut(1, 1, 0, new byte[] {9}, Map.of(1, "t"), Map.of(), messages(0, 1, 2, 3, 4, 5)),
        now);
    List<LevelTask> tasks = startAll();
    work.finished(tasks.get(0), now);
    SessionState place = collect(1, 2, false);
    assertThat(place.checkpoint()).isNull();
    assertThat(place.finished()).isZero();
    assertThat(place.held()).isEmpty();
    assertThat(place.ended()).as("that is true for ever").containsExactly(id(0));
    ShardContext lost = work.pollLost();
    assertThat(lost.epoch()).isEqualTo(7);
    assertThat(work.pollLost()).isNull();
    deal(2, 0, 1, 8, 9);
    assertThat(work.running()).isEqualTo(3);
    List<LevelTask> fresh = startAll();
    assertThat(fresh).hasSize(1);
    assertThat(fresh.get(0).id()).as("1 still runs").isEqualTo(id(8));
    work.finished(tasks.get(1), now);
    work.failed(tasks.get(2), new IllegalStateException(), now);
    assertThat(work.next(now).id()).isEqualTo(id(1));
    now += 100;
    Report report = told();
    assertThat(report.endedBelow()).isZero();
    assertThat(report.endedAbove()).isEmpty();
    assertThat(report.failed()).isEmpty();
    assertThat(work.consumed()).isEqualTo(2);
    assertThat(warnings).isEmpty();
  }

  @Test
  void startsNothingAfterThePermissionEnds() {
    begin(6);
    now += 9_999;
    assertThat(work.next(now)).isNotNull();
    now++;
    assertThat(work.next(now)).isNull();
    Report report = work.report(now);
    now += 500;
    work.permission(new StartPermission(report.number(), 1_000), now);
    now += 499;
    assertThat(work.next(now)).isNotNull();
    now++;
    assertThat(work.next(now)).as("it counts from the sending").isNull();
    Report next = work.report(now);
    work.permission(new StartPermission(next.number() + 1, 1_000), now);
    assertThat(work.next(now)).as("an answer to nothing").isNull();
    work.permission(new StartPermission(next.number(), Long.MAX_VALUE), now);
    assertThat(work.next(now)).isNotNull();
  }

  @Test
  void startsNothingWithoutHeartbeatsOrConnection() {
    options.setMemberTimeoutMillis(5_000);
    work = work(10);
    begin(3);
    now += 4_001;
    assertThat(work.next(now)).isNull();
    work.heartbeatAnswered(now - 10);
    assertThat(work.next(now)).isNotNull();
    work.link(false, now);
    assertThat(work.next(now)).isNull();
    assertThat(work.report(now)).isNull();
    work.link(true, now);
    assertThat(work.next(now)).isNotNull();
    assertThat(work.report(now)).isNotNull();
  }

  @Test
  void oneReportAtATimeAndEachSaysEverything() {
    List<LevelTask> tasks = begun(3);
    work.failed(tasks.get(0), new IllegalStateException("broken\nin two lines"), now);
    Report first = work.report(now);
    assertThat(first.failed())
        .containsExactly(
            new Report.Failed(0, "java.lang.IllegalStateException: broken in two lines"));
    work.failed(tasks.get(1), new IllegalStateException("too"), now);
    assertThat(work.report(now)).as("one is on its way").isNull();
    work.reportFailed(first.number() + 7, Refusal.FENCED, now);
    assertThat(work.report(now)).as("another one failed").isNull();
    work.reportFailed(first.number(), Refusal.INDETERMINATE, now);
    assertThat(work.report(now)).as("not at once").isNull();
    now += 300;
    Report second = work.report(now);
    assertThat(second.failed()).hasSize(2);
    work.finished(tasks.get(2), now);
    work.permission(new StartPermission(second.number(), 10_000), now);
    Report third = told();
    assertThat(third.failed()).isEmpty();
    assertThat(third.endedBelow()).isEqualTo(3);
    assertThat(warnings).hasSize(2).first().asString().contains("t/0@7", "attempt 1", "offset 0");
  }

  @Test
  void reportsFromTimeToTimeWhileAnythingIsInHand() {
    begin(1);
    work.next(now);
    now += ReportPlan.RECEIVED_DELAY_MILLIS;
    assertThat(told().received()).isEqualTo(1);
    now += 999;
    assertThat(work.report(now)).isNull();
    now++;
    Report report = work.report(now);
    assertThat(report).isNotNull();
    work.permission(new StartPermission(report.number(), 300), now);
    now += 100;
    assertThat(work.report(now)).as("well before the permission ends").isNotNull();
  }

  @Test
  void withAWideRangeEndsAreToldTogether() {
    options.setParallel(100);
    work = work(160);
    assertThat(collect(1, 1, true).capacity()).isEqualTo(200);
    deal(1, 0, LongStream.range(0, 200).toArray());
    List<LevelTask> tasks = startAll();
    tasks.subList(0, 9).forEach(task -> work.finished(task, now));
    assertThat(work.report(now)).isNull();
    assertThat(work.reportsSoon()).isTrue();
    work.finished(tasks.get(9), now);
    assertThat(told().endedBelow()).isEqualTo(10);
    work.finished(tasks.get(10), now);
    assertThat(work.report(now)).isNull();
    now += LevelWork.REPORT_DELAY_MILLIS;
    assertThat(told().endedBelow()).isEqualTo(11);
  }

  @Test
  void aDealerThatKnowsNothingOfTheSessionStopsIt() {
    for (Refusal refusal : List.of(Refusal.FENCED, Refusal.NOT_LEADER)) {
      work = work(10);
      collect(1, 1, true);
      deal(1, 0, 0, 1, 2, 3, 4, 5);
      LevelTask task = work.next(now);
      work.finished(task, now);
      work.reportFailed(work.report(now).number(), refusal, now);
      assertThat(work.next(now)).isNull();
      now += 999;
      assertThat(work.report(now)).isNull();
      now++;
      Report again = told();
      assertThat(again.endedBelow()).isEqualTo(1);
      assertThat(work.next(now)).as("it was wrong: the session lives").isNotNull();
      work.reportFailed(again.number(), refusal, now);
      assertThat(work.next(now)).as("that was answered").isNotNull();
      now += 1_000;
      work.reportFailed(work.report(now).number(), refusal, now);
      assertThat(work.next(now)).isNull();
      assertThat(collect(1, 2, true).held()).hasSize(5);
      assertThat(work.next(now)).isNotNull();
    }
  }

  @Test
  void forgetsWhatIsCommitted() {
    begin(4);
    startAll().forEach(task -> work.finished(task, now));
    work.receive(new HandOut(1, 1, 4, null, Map.of(), Map.of(SHARD, 3L), List.of()), now);
    assertThat(collect(1, 2, true).ended()).containsExactly(id(3));
  }

  @Test
  void keepsTheLatestCheckpoint() {
    collect(1, 1, true);
    work.receive(checkpoint(1, 0, 1, messages(0)), now);
    work.receive(checkpoint(1, 2, 3, messages(2)), now);
    work.receive(checkpoint(1, 1, 2, messages(1)), now);
    work.receive(checkpoint(1, 0, 1, messages(0)), now);
    work.receive(deal(1, 2, messages(2)), now);
    assertThat(collect(1, 2, true).checkpoint()).containsExactly(3);
    work.receive(checkpoint(2, 3, 4, messages()), now);
    assertThat(collect(1, 3, true).checkpoint()).containsExactly(4);
  }

  private static HandOut checkpoint(
      long session, long first, int mark, List<HandOut.Entry> messages) {
    return new HandOut(
        1, session, first, new byte[] {(byte) mark}, Map.of(1, "t"), Map.of(), messages);
  }

  @Test
  void takesNoMoreThanThePendingLimits() {
    options.setPendingMessagesMax(3);
    work = work(10);
    assertThat(collect(1, 1, true).capacity()).isEqualTo(3);
    assertThat(deal(1, 0, 0, 1, 2, 3, 4)).isEqualTo(3);
    List<LevelTask> tasks = startAll();
    work.finished(tasks.get(0), now);
    assertThat(deal(1, 3, 3, 4)).isEqualTo(4);
    options.setPendingMessagesMax(3_000).setPendingBytesMax(100);
    work = work(10);
    collect(1, 1, true);
    assertThat(deal(1, 0, 0, 1, 2, 3, 4)).as("74 bytes each").isEqualTo(2);
    startAll().forEach(task -> work.finished(task, now));
    assertThat(deal(1, 2, 2, 3, 4)).isEqualTo(4);
  }

  @Test
  void aMessageThatNeverEndsBoundsWhatIsStartedAboveIt() {
    options.setPendingMessagesMax(100_000);
    work = work(10);
    collect(1, 1, true);
    int count = LevelWork.SPAN_MESSAGES_MAX + 10;
    deal(1, 0, LongStream.range(0, count).toArray());
    LevelTask old = work.next(now);
    LevelTask task;
    long ended = 0;
    while ((task = work.next(now)) != null) {
      work.finished(task, now);
      ended++;
    }
    assertThat(ended).isEqualTo(LevelWork.SPAN_MESSAGES_MAX - 1);
    assertThat(told().endedAbove()).hasSize((int) ended);
    work.finished(old, now);
    assertThat(startAll()).hasSize(4);
  }

  @Test
  void whileTheGroupIsPausedNothingBegins() {
    begin(4);
    LevelTask first = work.next(now);
    work.groupPaused(true);
    assertThat(work.next(now)).isNull();
    work.finished(first, now);
    assertThat(work.next(now)).isNull();
    assertThat(told().endedBelow()).as("it still tells what has ended").isEqualTo(1);
    work.groupPaused(false);
    assertThat(startAll()).hasSize(3);
  }

  @Test
  void whatFailsThroughTheMemberIsNotReported() {
    List<LevelTask> tasks = begun(6);
    work.failed(tasks.get(0), new RefusedException(Refusal.OVERLOADED, "the spool is full"), now);
    assertThat(startAll()).as("another takes its place").hasSize(1);
    work.failed(tasks.get(1), new MemberFaultException("the disk is full"), now);
    work.failed(tasks.get(2), new MemberFaultException("the disk is full"), now);
    assertThat(stops).hasSize(1);
    now += 5_000;
    assertThat(work.next(now)).as("nothing begins any more").isNull();
    work.close();
    work.finished(tasks.get(3), now);
    Report report = told();
    assertThat(report.failed()).isEmpty();
    assertThat(report.endedBelow()).isZero();
    assertThat(report.endedAbove()).containsExactly(3);
  }

  @Test
  void whatIsRefusedForNowBeginsAgainHere() {
    begin(1);
    LevelTask task = work.next(now);
    work.failed(task, new RefusedException(Refusal.UNAVAILABLE, "no node answers"), now);
    assertThat(work.next(now)).isNull();
    now += 1_000;
    assertThat(work.next(now)).isSameAs(task);
    assertThat(task.delivery("m").attempt()).isEqualTo(1);
  }

  @Test
  void closesWhenWhatRanIsTold() {
    List<LevelTask> tasks = begun(6);
    assertThat(work.drained(now)).isFalse();
    assertThat(work.close()).containsExactly(new ShardContext("t", 0, 7, "m", 0));
    work.finished(tasks.get(0), now);
    work.finished(tasks.get(1), now);
    work.failed(tasks.get(2), new GivenBackException("not wanted"), now);
    assertThat(work.next(now)).isNull();
    assertThat(work.drained(now)).as("one runs").isFalse();
    work.failed(tasks.get(3), new IllegalStateException(), now);
    assertThat(work.drained(now)).as("nobody was told").isFalse();
    now += 20;
    Report report = told();
    assertThat(report.endedBelow()).isEqualTo(2);
    assertThat(report.endedAbove()).containsExactly(3);
    assertThat(report.failed()).hasSize(1);
    assertThat(work.drained(now)).isTrue();
    assertThat(collect(1, 2, true).held()).containsExactly(id(2), id(4), id(5));
    assertThat(work.next(now)).isNull();
  }

  /** The handlers of those will never end. */
  @Test
  void oneThatDiesDoesNotWaitForWhatItDiedOf() {
    List<LevelTask> tasks = begun(3);
    work.finished(tasks.get(1), now);
    assertThat(work.die(List.of(tasks.get(0).delivery("m"), tasks.get(1).delivery("m"))))
        .as("the other one has ended")
        .containsExactly(id(0));
    work.close();
    work.failed(tasks.get(2), new GivenBackException("nobody has it"), now);
    assertThat(work.next(now)).isNull();
    assertThat(work.drained(now)).as("no report was sent").isFalse();
    now += 20;
    assertThat(told().endedAbove()).containsExactly(1);
    assertThat(work.drained(now)).isTrue();
  }

  @Test
  void aClosingMemberDoesNotWaitForADealerThatHasGivenItUp() {
    options.setMemberTimeoutMillis(5_000);
    work = work(10);
    work.close();
    assertThat(work.drained(now)).as("it had no dealer").isTrue();
    work = work(10);
    begin(1);
    work.finished(work.next(now), now);
    work.close();
    work.reportFailed(work.report(now).number(), Refusal.FENCED, now);
    assertThat(work.drained(now)).isFalse();
    now += 5_000;
    assertThat(work.drained(now)).isTrue();
  }

  @Test
  void whilePausedNothingIsBegun() {
    begin(2);
    LevelTask task = work.next(now);
    work.pause(true);
    assertThat(work.next(now)).isNull();
    work.finished(task, now);
    now += 2;
    assertThat(told().capacity()).isEqualTo(1);
    work.pause(false);
    assertThat(work.next(now)).isNotNull();
  }

  @Test
  void whatIsWrongIsRefusedAndChangesNothing() {
    refused(
        Refusal.INVALID, () -> work.start(new SessionStart("other", 1, 1, "n1", true, 100), now));
    refused(Refusal.INVALID, () -> work.start(new SessionStart("g", 1, 1, null, true, 100), now));
    refused(Refusal.INVALID, () -> work.start(new SessionStart("g", 1, -1, "n", true, 100), now));
    refused(Refusal.INVALID, () -> work.start(new SessionStart("g", 1, 1, "n", true, -1), now));
    collect(1, 1, true);
    refused(Refusal.INVALID, () -> deal(1, -1, 0));
    refused(Refusal.INVALID, () -> deal(1, Long.MAX_VALUE, 0));
    refused(Refusal.INVALID, () -> deal(1, 0, 0, -5));
    Message message = new Message(null, Map.of(), 5, new byte[1]);
    refused(Refusal.INVALID, () -> oneOf(new HandOut.Entry(id(3), 7, 0, message)));
    refused(Refusal.INVALID, () -> oneOf(new HandOut.Entry(id(3), -7, 1, message)));
    refused(
        Refusal.INVALID,
        () -> oneOf(new HandOut.Entry(new MessageId(new Shard(2, 0), 3, 0), 7, 1, message)));
    refused(
        Refusal.INVALID,
        () ->
            work.receive(
                new HandOut(
                    1,
                    1,
                    0,
                    new byte[LevelWork.CHECKPOINT_BYTES_MAX + 1],
                    Map.of(1, "t"),
                    Map.of(),
                    messages(0)),
                now));
    assertThat(startAll()).isEmpty();
    assertThat(deal(1, 0, 0)).isEqualTo(1);
    assertThat(collect(1, 2, true).checkpoint()).isNull();
  }

  /** The level dispatcher may answer a report, or refuse it, when the member has left. */
  @Test
  void anAnswerAfterTheEndChangesNothing() {
    for (boolean refused : List.of(true, false)) {
      work = work(10);
      collect(1, 1, true);
      now += FOREVER;
      Report report = work.report(now);
      assertThat(report).isNotNull();
      work.end();
      if (refused) {
        work.reportFailed(report.number(), Refusal.FENCED, now);
      } else {
        work.permission(new StartPermission(report.number(), 1_000), now);
      }
      assertThat(work.report(now + FOREVER)).isNull();
    }
  }

  private void oneOf(HandOut.Entry dealt) {
    List<HandOut.Entry> both = new ArrayList<>(messages(0));
    both.add(dealt);
    work.receive(deal(1, 0, both), now);
  }
}
