package dev.evenkeel.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonObject;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Rates, ages and the times of looks. */
class LiveFiguresTest {
  @Example
  void aRateIsUnknownUntilThereAreTwoSamplesApart() {
    Meter meter = new Meter(3_000);
    assertThat(meter.perSecond()).isNull();
    meter.add(1_000, 10);
    assertThat(meter.perSecond()).isNull();
    meter.add(1_300, 20);
    assertThat(meter.perSecond()).isNull();
    meter.add(1_500, 60);
    assertThat(meter.perSecond()).isCloseTo(100, within(0.01));
  }

  @Example
  void aRateForgetsWhatIsOutsideOfItsWindowAndBeginsAnewWhenTheCountDoes() {
    Meter meter = new Meter(3_000);
    for (int i = 0; i <= 20; i++) {
      meter.add(i * 500L, Math.min(i, 10) * 50L);
    }
    assertThat(meter.perSecond()).isZero();
    meter.add(10_500, 3);
    assertThat(meter.perSecond()).isNull();
    meter.add(11_000, 8);
    assertThat(meter.perSecond()).isCloseTo(10, within(0.01));
  }

  @Property(tries = 200)
  void aSteadyRateIsSeenHoweverOftenOneLooks(
      @ForAll @Size(min = 5, max = 300) List<@IntRange(min = 1, max = 900) Integer> gaps) {
    Meter meter = new Meter(3_000);
    long now = 0;
    meter.add(now, now);
    for (int gap : gaps) {
      now += gap;
      meter.add(now, now / 10 * 7);
    }
    Double rate = meter.perSecond();
    assertThat(rate == null ? now < 1_300 : Math.abs(rate - 700) < 20).isTrue();
  }

  @Example
  void anAgeIsKnownAsFarAsTheHistoryGoes() {
    EndHistory history = new EndHistory();
    history.add(1_000, 100);
    history.add(2_000, 100);
    history.add(3_000, 110);
    assertThat(history.ageMillis(99, 5_000)).as("before the history").isNull();
    assertThat(history.ageMillis(110, 5_000)).as("not there yet").isNull();
    assertThat(history.ageMillis(100, 5_000)).isEqualTo(2_900);
    assertThat(history.ageMillis(109, 5_000)).isEqualTo(2_000);
    history.add(4_000, 3);
    assertThat(history.ageMillis(100, 5_000)).as("another topic").isNull();
  }

  @Property(tries = 200)
  void anAgeIsAsExactAsTheSamplesAndTheirNumberIsBounded(
      @ForAll @IntRange(min = 2, max = 2_000) int looks,
      @ForAll @IntRange(min = 0, max = 1_999) int back) {
    EndHistory history = new EndHistory();
    for (int i = 0; i <= looks; i++) {
      history.add(i * 500L, i * 10L);
    }
    long now = looks * 500L;
    long offset = Math.max(0, looks * 10L - 1 - back * 10L);
    // Messages come steadily, so interpolation finds them also where samples were thinned out.
    Long age = history.ageMillis(offset, now);
    assertThat(age).isNotNull();
    assertThat((double) age).isCloseTo(now - (offset + 1) * 50.0, within(1.0));
  }

  @Property(tries = 300)
  void looksAreNeverTooClose(
      @ForAll @Size(max = 200) List<@IntRange(min = 0, max = 80) Integer> steps) {
    LookPlan plan = new LookPlan(0);
    long now = 0;
    long begun = Long.MIN_VALUE / 2;
    boolean inFlight = false;
    for (int step : steps) {
      now += step;
      if (step % 3 == 0) {
        plan.hurry();
      }
      if (inFlight && step % 2 == 0) {
        plan.ended(now, step % 5 != 0);
        inFlight = false;
      }
      if (plan.due(now)) {
        assertThat(inFlight).isFalse();
        assertThat(now - begun).isGreaterThanOrEqualTo(LookPlan.GAP_MILLIS);
        plan.begun(now);
        begun = now;
        inFlight = true;
      }
    }
  }

  @Example
  void aChangeIsLookedAtAtOnceAndASlowDispatcherIsAskedLess() {
    LookPlan plan = new LookPlan(0);
    plan.begun(0);
    plan.ended(10, true);
    assertThat(plan.due(499)).isFalse();
    assertThat(plan.due(500)).isTrue();
    plan.hurry();
    assertThat(plan.due(109)).isFalse();
    assertThat(plan.due(110)).isTrue();
    plan.begun(110);
    plan.hurry();
    plan.ended(410, true);
    assertThat(plan.due(1_609)).as("a fifth of the time at most").isFalse();
    assertThat(plan.due(1_610)).isTrue();
  }

  @Example
  void theLeaderOfAGroupIsMarked() {
    JsonObject group =
        new JsonObject(
            """
            {"group":"g","mode":"singleton","singleton":{"leader":"a","term":7},
             "members":[{"member":"a","shards":[]},{"member":"b","shards":[]}],"shards":[]}\
            """);
    GroupView view = RecordJson.of(GroupView.class).read(group);
    JsonObject state = new JsonObject(new LiveGroups().take(List.of(view), 0));
    JsonObject members = state.getJsonObject("g").getJsonObject("members");
    assertThat(members.getJsonObject("a").getLong("leadsTerm")).isEqualTo(7);
    assertThat(members.getJsonObject("b").containsKey("leadsTerm")).isFalse();
  }
}
