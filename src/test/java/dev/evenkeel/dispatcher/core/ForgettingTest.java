package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * How a group that was absent for long is forgotten: its record first, then what it has in data
 * groups.
 */
class ForgettingTest {
  private static final long HOUR = 3_600_000;

  private final Bench bench = Bench.withShards(2);
  private final Heartbeat again = bench.beat("a", "a2", 200);

  @BeforeEach
  void groupThatStopped() {
    bench.settings = TestSettings.withGroupForget(TestSettings.atOnce(), HOUR);
    bench.activate(List.of());
    Heartbeat member = bench.beat("a");
    bench.send(member, Bench.leaving(member)).pass(HOUR / 2);
    bench.clear();
  }

  private List<DataCommand.ForgetLeases> forgets() {
    return bench.actions.stream()
        .filter(DispatcherAction.ForgetLeases.class::isInstance)
        .map(each -> ((DispatcherAction.ForgetLeases) each).command())
        .filter(each -> each.topicId() != DataCommand.ForgetLeases.NO_TOPIC)
        .toList();
  }

  private boolean askedToForget() {
    return bench.metaWrites().stream().anyMatch(MetaCommand.ForgetGroup.class::isInstance);
  }

  @Test
  void aDispatcherThatWasReplacedTouchesNoLease() {
    bench.refuseNext = Refusal.NOT_LEADER;
    for (long passed = 0; passed < HOUR && !askedToForget(); passed += 5_000) {
      bench.pass(5_000);
    }
    assertThat(askedToForget()).isTrue();
    assertThat(bench.log.groups).containsKey("g");
    assertThat(bench.log.leases).containsKey("g");
    assertThat(forgets()).isEmpty();
  }

  @Test
  void theNextDispatcherDropsTheLeasesOfAGroupWithoutARecord() {
    bench.loseForgets = true;
    bench.pass(HOUR);
    assertThat(bench.log.groups).isEmpty();
    assertThat(bench.log.leases).containsKey("g");
    bench.activate(List.of());
    bench.loseForgets = false;
    bench.pass(20_000);
    assertThat(bench.log.leases).isEmpty();
  }

  /** A dispatcher that was replaced reads leases of now, but the meta log of before. */
  @Test
  void aDispatcherThatKnowsNoRecordAsksTheMetaLogFirst() {
    bench.send(again);
    bench.pass(5_000, again).owned("aa");
    var record = bench.log.groups.remove("g");
    bench.activate(List.of());
    bench.log.groups.put("g", record);
    bench.clear();
    bench.refuseNext = Refusal.NOT_LEADER;
    bench.send(bench.beat("b"));
    assertThat(askedToForget()).isTrue();
    assertThat(forgets()).isEmpty();
    assertThat(bench.owners()).isEqualTo("aa");
  }

  @Test
  void whoComesWhileLeasesAreLeftOfAForgottenGroupFindsNothingOfIt() {
    bench.loseForgets = true;
    bench.pass(HOUR);
    bench.activate(List.of());
    bench.loseForgets = false;
    assertThat(bench.log.leases).containsKey("g");
    long epoch = bench.lease(0).epoch();
    bench.clear();
    bench.send(again);
    bench.pass(1_000, again);
    assertThat(forgets()).hasSize(1);
    assertThat(bench.owners()).isEqualTo("aa");
    assertThat(bench.lease(0).epoch()).isGreaterThan(epoch);
  }

  @Test
  void aResetThatIsUnderWayEndsWithItsGroup() {
    bench.lateShard = 1;
    long pending = bench.reset(false, 0, 1);
    assertThat(bench.answer(pending)).as("it waits").isNull();
    // Another dispatcher has forgotten it.
    bench.log.groups.remove("g");
    bench.pass(15_000);
    assertThat(bench.log.leases).isEmpty();
    assertThat(bench.answer(pending))
        .isEqualTo(
            new DispatcherAction.Refuse(
                pending, Refusal.UNKNOWN_GROUP, "group 'g' was forgotten during the reset"));
  }

  @Test
  void whoComesBackMeanwhileWaitsUntilAllIsForgotten() {
    bench.loseForgets = true;
    bench.pass(HOUR);
    long epoch = bench.lease(0).epoch();
    assertThat(bench.send(again)).as("it waits").isNull();
    bench.pass(5_000);
    bench.loseForgets = false;
    bench.pass(5_000);
    bench.send(again);
    bench.pass(5_000, again).owned("aa");
    assertThat(bench.lease(0).epoch()).isGreaterThan(epoch);
    DataCommand.ForgetLeases late = forgets().get(0);
    assertThat(bench.log.apply(late))
        .as("nothing was dropped")
        .isEqualTo(new Reply.OfNumber(bench.lease(0).epoch()));
    assertThat(bench.owners()).isEqualTo("aa");
  }

  @Test
  void aHigherNumberOfAnEarlierDispatcherIsTakenOver() {
    bench.log.apply(Commands.forgetLeases("g", 40));
    bench.pass(HOUR);
    assertThat(forgets()).extracting(DataCommand.ForgetLeases::epochMax).contains(40L);
    assertThat(bench.log.groups).isEmpty();
  }

  /** Its lease is gone already: an answer was lost, and another log group was not reached. */
  @Test
  void handlersThatPublishInAnEpochThatNoLeaseHasDoNotKeepTheGroup() {
    bench.log.publisherEpochs.put("g", 40L);
    bench.pass(HOUR);
    assertThat(bench.log.groups).isEmpty();
    assertThat(bench.log.leases).isEmpty();
    assertThat(bench.log.publisherEpochs).isEmpty();
    bench.send(again);
    bench.pass(1_000, again);
    assertThat(bench.lease(0).epoch()).isEqualTo(41);
  }

  @Test
  void theRecordStaysUntilAllNewLeasesWouldHaveHigherEpochs() {
    bench.loseRaises = true;
    bench.pass(HOUR);
    assertThat(askedToForget()).isFalse();
    assertThat(bench.log.groups).containsKey("g");
    assertThat(bench.send(again)).as("it is not being forgotten").isNotNull();
    bench.send(Bench.leaving(again));
    bench.loseRaises = false;
    bench.pass(2 * HOUR);
    assertThat(bench.log.groups).isEmpty();
  }
}
