package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.internal.consume.ElectionCore.Call;
import dev.evenkeel.client.internal.consume.ElectionCore.Step;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a candidate calls, and when. */
class ElectionCoreTest {
  private static final long TIMEOUT_MILLIS = 5_000;
  private static final long PAUSE_MILLIS = 200;

  private final ElectionCore core = new ElectionCore("i", TIMEOUT_MILLIS, PAUSE_MILLIS);
  private final List<Step> steps = new ArrayList<>();
  private long now = 100_000;
  private long revision;

  @BeforeEach
  void answered() {
    core.fence().answered(now);
  }

  /** The dispatcher says who leads; the heartbeat was sent just now. */
  private void told(Assignment.Lead lead) {
    core.fence().answered(now);
    core.assigned(new Assignment("e", "m", "i", 1, ++revision, List.of(), lead), now);
    look();
  }

  private void leads(long term) {
    told(new Assignment.Lead(term, true, false));
  }

  private void ends(long term) {
    told(new Assignment.Lead(term, true, true));
  }

  private void look() {
    Step step;
    while ((step = core.next(now)) != null) {
      steps.add(step);
    }
  }

  private void end(boolean failed) {
    core.ended(failed, now);
    look();
  }

  private void pass(long millis) {
    now += millis;
    look();
  }

  private void called(Step... expected) {
    assertThat(steps).containsExactly(expected);
    steps.clear();
  }

  private static Step inaugurate(long term) {
    return new Step(Call.INAUGURATE, term);
  }

  private static Step execute(long term) {
    return new Step(Call.EXECUTE, term);
  }

  private static Step handOver(long term) {
    return new Step(Call.HAND_OVER, term);
  }

  private static Step lost(long term) {
    return new Step(Call.LOST, term);
  }

  private void working(long term) {
    leads(term);
    end(false);
    called(inaugurate(term), execute(term));
  }

  @Test
  void whoDoesNotLeadDoesNothing() {
    told(null);
    pass(10_000);
    called();
    core.close();
    assertThat(core.drained()).isTrue();
    assertThat(core.handedOverTerm()).isNull();
  }

  @Test
  void theNextExecuteBeginsWhenTheFormerHasEndedAndThePauseIsOver() {
    working(7);
    pass(3_000);
    called();
    end(false);
    assertThat(core.dueMillis()).isEqualTo(now + PAUSE_MILLIS);
    pass(PAUSE_MILLIS - 1);
    called();
    pass(1);
    called(execute(7));
  }

  @Test
  void anExecuteThatFailsIsFollowedByAnotherAfterAWhile() {
    working(7);
    end(true);
    pass(ElectionCore.FAILED_MILLIS - 1);
    called();
    pass(1);
    called(execute(7));
  }

  @Test
  void anInaugurationThatFailsIsTriedAgainAndLaterAndLater() {
    leads(7);
    called(inaugurate(7));
    long[] pauses = {1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 30_000};
    for (long pause : pauses) {
      end(true);
      pass(pause - 1);
      leads(7);
      called();
      now++;
      leads(7);
      called(inaugurate(7));
    }
    end(false);
    called(execute(7));
  }

  @Test
  void handOverAwaitsTheExecuteThatRuns() {
    working(7);
    ends(7);
    called();
    assertThat(core.handedOverTerm()).isNull();
    end(false);
    called(handOver(7));
    assertThat(core.handedOverTerm()).isNull();
    end(true);
    assertThat(core.handedOverTerm()).isEqualTo(7);
    told(null);
    pass(10_000);
    called();
  }

  @Test
  void handOverDoesNotAwaitThePause() {
    working(7);
    end(false);
    ends(7);
    called(handOver(7));
  }

  @Test
  void whatWasNotInauguratedIsHandedOverAtOnce() {
    leads(7);
    end(true);
    ends(7);
    called(inaugurate(7));
    assertThat(core.handedOverTerm()).isEqualTo(7);
    told(null);
    called();
  }

  @Test
  void anInaugurationThatRunsIsAwaitedAndHandedOver() {
    leads(7);
    ends(7);
    called(inaugurate(7));
    end(false);
    called(handOver(7));
  }

  @Test
  void whoResignsHandsOverWithoutBeingTold() {
    working(7);
    core.resign(7);
    end(false);
    called(handOver(7));
    end(false);
    leads(7);
    called();
    leads(8);
    called(inaugurate(8));
    end(false);
    called(execute(8));
  }

  @Test
  void aHandoverThatIsCalledOffBeforeItBeganEndsNothing() {
    working(7);
    ends(7);
    leads(7);
    end(false);
    pass(PAUSE_MILLIS);
    called(execute(7));
  }

  @Test
  void aHandoverThatIsCalledOffWhileItRunsEndsTheTerm() {
    working(7);
    ends(7);
    end(false);
    leads(7);
    end(false);
    pass(1_000);
    called(handOver(7));
    assertThat(core.handedOverTerm()).isEqualTo(7);
  }

  @Test
  void nothingBeginsWhenTheLastAnsweredHeartbeatIsOld() {
    working(7);
    end(false);
    pass(TIMEOUT_MILLIS - SelfFence.MARGIN_MILLIS);
    called(execute(7));
    end(false);
    pass(10_000);
    core.close();
    look();
    called();
    assertThat(core.drained()).isFalse();
    leads(7);
    called(handOver(7));
    end(false);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void norWithoutAConnection() {
    working(7);
    core.fence().link(false);
    end(false);
    pass(PAUSE_MILLIS);
    called();
    core.fence().link(true);
    look();
    called(execute(7));
  }

  @Test
  void aLostTermIsToldOnceAndTheNextAwaitsTheCallThatRuns() {
    working(7);
    told(null);
    called(lost(7));
    leads(9);
    pass(3_000);
    called();
    end(false);
    called(inaugurate(9));
    end(false);
    called(execute(9));
  }

  @Test
  void aTermIsLostWhileItIsInauguratedOrHandedOver() {
    leads(7);
    leads(8);
    called(inaugurate(7), lost(7));
    end(false);
    called(inaugurate(8));
    end(false);
    ends(8);
    end(false);
    called(execute(8), handOver(8));
    told(null);
    called(lost(8));
    end(false);
    called();
    assertThat(core.handedOverTerm()).as("too late").isNull();
  }

  @Test
  void anOldAssignmentChangesNothing() {
    working(7);
    Assignment late = new Assignment("e", "m", "i", 1, revision - 1, List.of(), null);
    assertThat(core.assigned(late, now)).isFalse();
    Assignment other = new Assignment("e", "m", "j", 1, revision + 1, List.of(), null);
    assertThat(core.assigned(other, now)).isFalse();
    look();
    called();
  }

  @Test
  void whoEndsAgainstItsWillHasLostTheTerm() {
    working(7);
    core.end();
    look();
    called(lost(7));
    assertThat(core.drained()).as("execute still runs").isFalse();
    end(false);
    assertThat(core.drained()).isTrue();
  }
}
