package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.RetentionMarks;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class RetainTest {
  private static final long HOUR = 3_600_000;
  private final Rig rig = new Rig();

  private ShardRecord shard() {
    return rig.tables().shard(SHARD);
  }

  private void retain() {
    rig.run(new DataCommand.Retain());
  }

  private void commit(String group, long offset) {
    rig.run(Commands.commit(group, SHARD, 1, offset));
  }

  @Test
  void keepsEverythingWhileNoGroupReads() {
    rig.open(new TopicConfig(0, -1, -1));
    rig.fill(SHARD, 10);
    rig.pass(100 * HOUR);
    assertThat(shard().start()).isZero();
  }

  @Test
  void dropsWholeBatchesOnceTheSlowestGroupConsumedThemLongEnoughAgo() {
    rig.open(TopicConfig.DEFAULT);
    times(4, i -> rig.fill(SHARD, 10));
    long bytes = shard().bytes();
    rig.grant("slow", SHARD, "a", 0);
    rig.grant("fast", SHARD, "a", 0);
    commit("fast", 40);
    commit("slow", 25);
    retain();
    rig.pass(24 * HOUR - 1);
    assertThat(shard().start()).isZero();

    rig.pass(1);
    assertThat(shard().start()).as("the batch that holds offset 25 begins at 20").isEqualTo(20);
    assertThat(shard().bytes()).isEqualTo(bytes / 2);
    assertThat(shard().dropped()).isZero();
    assertThat(rig.keys(Store.Table.INDEX)).hasSize(2);
    assertThat(rig.keys(Store.Table.INDEX)).hasSize(2);
    assertThat(rig.tables().marks(SHARD).list()).hasSizeLessThanOrEqualTo(25);
  }

  @Test
  void aGroupThatCameLaterKeepsWhatItHasNotConsumed() {
    rig.open(new TopicConfig(1000, -1, -1));
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    commit("g", 10);
    retain();
    rig.grant("late", SHARD, "a", 0);
    rig.pass(1000);
    assertThat(shard().start()).isZero();
    commit("late", 10);
    times(50, i -> rig.pass(42));
    assertThat(shard().start()).isEqualTo(10);
    assertThat(shard().bytes()).isZero();
    assertThat(rig.fill(SHARD, 1)).isEqualTo(10);
  }

  @Test
  void ageDropsWhatNobodyConsumedAndCountsIt() {
    rig.open(new TopicConfig(HOUR, HOUR, -1));
    rig.fill(SHARD, 10);
    rig.pass(HOUR);
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    commit("g", 4);
    assertThat(shard().start()).isZero();
    rig.pass(1);
    assertThat(shard().start()).isEqualTo(10);
    assertThat(shard().dropped()).isEqualTo(6);
    assertThat(rig.tables().lease("g", SHARD).committed()).as("moves up").isEqualTo(10);
  }

  private Skipped skipped(String group) {
    return rig.tables().lease(group, SHARD).skipped();
  }

  /** With three batches of ten messages, each an hour older than the next. */
  private void openWithAgeLimit() {
    rig.open(new TopicConfig(HOUR, 2 * HOUR, -1));
    rig.fill(SHARD, 10);
    rig.pass(HOUR);
    rig.fill(SHARD, 10);
    rig.pass(HOUR);
    rig.fill(SHARD, 10);
  }

  /** A group that was away, or has never had an owner, must hear what it will not get. */
  @Test
  void aGroupHearsWhatWasDroppedBeforeItHadConsumedIt() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SKIPPED));
    openWithAgeLimit();
    rig.grant("g", SHARD, "a", 0);
    rig.grant("up", SHARD, "a", 0);
    rig.run(new DataCommand.OpenLease("sub", SHARD, StartAt.EARLIEST));
    commit("g", 5);
    commit("up", 30);
    assertThat(skipped("g")).isNull();
    retain();
    rig.pass(1);
    assertThat(shard().start()).isEqualTo(10);
    long first = rig.now;
    assertThat(skipped("g")).isEqualTo(new Skipped(5, 9, 5, first));
    assertThat(skipped("sub")).isEqualTo(new Skipped(0, 9, 10, first));
    assertThat(skipped("up")).as("it had consumed all").isNull();
    retain();
    assertThat(skipped("g")).as("nothing more was dropped").isEqualTo(new Skipped(5, 9, 5, first));

    commit("g", 15);
    rig.pass(HOUR);
    assertThat(shard().start()).isEqualTo(20);
    assertThat(skipped("g")).as("with a gap").isEqualTo(new Skipped(5, 19, 10, rig.now));
    assertThat(skipped("sub")).as("with none").isEqualTo(new Skipped(0, 19, 20, rig.now));
    assertThat(shard().dropped()).as("counts the group that misses most").isEqualTo(20);
    assertThat(skipped("g").text()).isEqualTo("10 messages between offsets 5 and 19");
    assertThat(skipped("sub").text()).isEqualTo("20 messages, offsets 0 to 19");
  }

  /** The state was built from the messages below its own offset alone. */
  @Test
  void whatAStateLacksIsSkippedToo() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SKIPPED));
    openWithAgeLimit();
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Release("g", SHARD, 1, 20, 4, new byte[] {1}));
    rig.pass(1);
    assertThat(shard().start()).isEqualTo(10);
    assertThat(skipped("g")).isEqualTo(new Skipped(4, 9, 6, rig.now));
  }

  @Test
  void aResetOrAWeekEndsIt() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SKIPPED));
    openWithAgeLimit();
    rig.grant("g", SHARD, "a", 0);
    rig.grant("reset", SHARD, "a", 0);
    rig.pass(HOUR);
    assertThat(skipped("g").total()).isEqualTo(10);
    assertThat(skipped("reset")).isEqualTo(skipped("g"));
    rig.run(new DataCommand.ResetLease("reset", SHARD, 1, StartAt.EARLIEST));
    assertThat(skipped("reset")).isNull();

    commit("g", 30);
    Skipped last = skipped("g");
    rig.pass(last.millis() + Skipped.KEPT_MILLIS - 1 - rig.now);
    assertThat(skipped("g")).isEqualTo(last);
    rig.grant("g", SHARD, "b", 1);
    assertThat(skipped("g")).as("a grant keeps it").isEqualTo(last);
    rig.pass(1);
    assertThat(skipped("g")).isNull();
  }

  /** A node of a former version could not read it. */
  @Test
  void nothingIsSaidBelowItsFeatureLevel() {
    openWithAgeLimit();
    rig.grant("g", SHARD, "a", 0);
    rig.pass(HOUR);
    assertThat(shard().dropped()).isPositive();
    assertThat(skipped("g")).isNull();
  }

  @Test
  void sizeDropsTheOldest() {
    rig.open(TopicConfig.DEFAULT);
    times(10, i -> rig.fill(SHARD, 10));
    long each = shard().bytes() / 10;
    rig.run(new DataCommand.ConfigureShards(1, new TopicConfig(HOUR, -1, 3 * each + 1)));
    retain();
    assertThat(shard().start()).isEqualTo(70);
    assertThat(shard().bytes()).isEqualTo(3 * each);
    assertThat(shard().dropped()).isEqualTo(70);
  }

  @Test
  void forgetsProducersThatAreSilentOrTooMany() {
    rig.open(TopicConfig.DEFAULT);
    rig.append(SHARD, batch(1, 0, 0, 1));
    rig.pass(RetainDecider.PRODUCER_IDLE_MILLIS_MAX);
    for (int id = 2; id <= RetainDecider.PRODUCERS_MAX + 4; id++) {
      rig.now++;
      rig.append(SHARD, batch(id, 0, 0, 1));
    }
    retain();
    assertThat(rig.tables().producers()).hasSize(RetainDecider.PRODUCERS_MAX);
    assertThat(rig.append(SHARD, batch(1, 0, 1, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.append(SHARD, batch(4, 0, 1, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.append(SHARD, batch(5, 0, 1, 1)).ok()).isTrue();
  }

  /** A spool may be thrown away at any time. A handler's producer stays as long as its lease. */
  @Test
  void forgetsTheProducersThatSpoolsHaveForFormerShardsButNotThoseOfHandlers() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.DROPPED_LAYOUTS));
    long spool = SpoolPublisher.id(5);
    Shard input = SpoolPublisher.input(SHARD.topicId());
    rig.run(new DataCommand.OpenPublisher(spool, 1, SpoolPublisher.group(5), input, true));
    rig.run(new DataCommand.OpenPublisher(9, 1, "g", SHARD, true));
    rig.pass(RetainDecider.PRODUCER_IDLE_MILLIS_MAX);
    retain();
    assertThat(rig.tables().producer(spool)).isNotNull();
    rig.pass(1);
    retain();
    assertThat(rig.tables().producer(spool)).isNull();
    assertThat(rig.tables().producer(9)).isNotNull();
  }

  /** One leader whose clock is ahead by ten years, for an hour, after which another leads. */
  private void aLeaderWithAWrongClock() {
    long right = rig.now;
    rig.now += 10 * 365 * 24 * HOUR;
    rig.pass(HOUR);
    rig.now = right + HOUR;
    retain();
  }

  @Test
  void aLeaderWhoseClockIsAheadDropsNothing() {
    rig.open(new TopicConfig(2 * HOUR, 3 * HOUR, -1));
    rig.fill(SHARD, 10);
    rig.append(SHARD, batch(1, 0, 0, 1));
    rig.grant("g", SHARD, "a", 0);
    commit("g", 11);
    retain();
    aLeaderWithAWrongClock();
    assertThat(shard().start()).as("an hour has passed").isZero();
    assertThat(rig.append(SHARD, batch(1, 0, 1, 1)).ok()).as("its producer is known").isTrue();
  }

  @Test
  void aLeaderWhoseClockWasAheadDoesNotStopRetention() {
    rig.open(new TopicConfig(2 * HOUR, -1, -1));
    rig.run(Commands.openShards(2, "aged", List.of(0), new TopicConfig(HOUR, 3 * HOUR, -1)));
    Shard aged = new Shard(2, 0);
    rig.grant("g", SHARD, "a", 0);
    aLeaderWithAWrongClock();
    long right = rig.now;
    rig.now += 10 * 365 * 24 * HOUR;
    rig.fill(SHARD, 10);
    rig.fill(aged, 10);
    commit("g", 10);
    retain();
    rig.append(SHARD, batch(1, 0, 0, 1));
    rig.now = right;
    retain();
    rig.pass(3 * HOUR + 1);
    assertThat(shard().start()).as("consumed more than two hours ago").isEqualTo(10);
    assertThat(rig.tables().shard(aged).start()).as("older than three hours").isEqualTo(10);
    rig.pass(RetainDecider.PRODUCER_IDLE_MILLIS_MAX);
    assertThat(rig.append(SHARD, batch(1, 0, 1, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
  }

  @Test
  void timeWithoutALeaderDoesNotCount() {
    rig.open(new TopicConfig(2 * HOUR, 3 * HOUR, -1));
    rig.fill(SHARD, 10);
    rig.append(SHARD, batch(1, 0, 0, 1));
    rig.grant("g", SHARD, "a", 0);
    commit("g", 11);
    retain();
    rig.now += 300 * HOUR;
    rig.pass(HOUR);
    assertThat(shard().start()).isZero();
    assertThat(rig.append(SHARD, batch(1, 0, 1, 1)).ok()).isTrue();
    rig.pass(HOUR);
    assertThat(shard().start()).isEqualTo(11);
  }

  @Test
  void marksFromTheFutureAreGivenUp() {
    RetentionMarks marks = RetentionMarks.NONE.sampled(100, 1, 10).sampled(900, 5, 10);
    assertThat(marks.upTo(200).sampled(200, 2, 10))
        .isEqualTo(RetentionMarks.NONE.sampled(100, 1, 10).sampled(200, 2, 10));
  }

  /** Each entry brings what its leader's clock says. */
  @Property(tries = 300)
  void timeGoesOnInShortStepsWhateverClocksSay(@ForAll List<Long> clocks) {
    LogTime time = LogTime.first(0);
    for (long clock : clocks) {
      LogTime next = time.at(clock);
      assertThat(next.millis() - time.millis()).isBetween(0L, LogTime.STEP_MILLIS_MAX);
      assertThat(next.at(clock)).as("the clock stands still").isEqualTo(next);
      assertThat(next.at(clock == Long.MAX_VALUE ? clock : clock + 1).millis())
          .isEqualTo(next.millis() + (clock == Long.MAX_VALUE ? 0 : 1));
      time = next;
    }
  }

  /** A message waits for its next attempt by the time of the log, too. */
  @Test
  void aRetryOfALeaderWhoseClockIsAheadIsDueInTime() {
    rig.open(TopicConfig.DEFAULT);
    rig.fill(SHARD, 1);
    rig.grant("g", SHARD, "a", 0);
    retain();
    long right = rig.now;
    rig.now += 10 * 365 * 24 * HOUR;
    Outcome failed = new Outcome.Failed(0, 1, Outcome.Way.MOVED, 5_000, 0, "broken", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(failed)));
    assertThat(retriesDue()).isZero();
    rig.now = right;
    retain();
    rig.pass(4_999);
    assertThat(retriesDue()).isZero();
    rig.pass(1);
    assertThat(retriesDue()).isEqualTo(1);
  }

  private int retriesDue() {
    RetryRequest request = new RetryRequest("g", SHARD, 1, true, List.of(), 100, 1 << 20);
    LeaseKey key = new LeaseKey(SHARD, "g");
    return rig.data
        .read(store -> new StoredFailures(store, rig.data::bytes, key).answer(request, rig.time()))
        .due()
        .size();
  }
}
