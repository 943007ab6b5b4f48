package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

class FiguresTest {
  @Test
  void theMedianIsTheMiddleOneOrBetweenTheTwoInTheMiddle() {
    assertThat(Stats.median(List.of(3, 1, 2))).isEqualTo(2);
    assertThat(Stats.median(List.of(4, 1, 2, 3))).isEqualTo(2.5);
    assertThat(Stats.median(List.of(7))).isEqualTo(7);
    assertThatThrownBy(() -> Stats.median(List.of())).isInstanceOf(IllegalArgumentException.class);
  }

  @Property
  void halfAreAtMostAndHalfAtLeastTheMedian(@ForAll @NotEmpty List<Integer> values) {
    double median = Stats.median(values);
    assertThat(values.stream().filter(value -> value <= median).count() * 2)
        .isGreaterThanOrEqualTo(values.size());
    assertThat(values.stream().filter(value -> value >= median).count() * 2)
        .isGreaterThanOrEqualTo(values.size());
    assertThat(median).isBetween(1.0 * Collections.min(values), 1.0 * Collections.max(values));
  }

  @Test
  void percentilesAreInMillisecondsToThreeDigits() {
    Percentiles percentiles = new Percentiles();
    assertThat(percentiles.millis(50)).isNull();
    for (int i = 1; i <= 1_000; i++) {
      percentiles.add(i * 1_000_000L);
    }
    assertThat(percentiles.millis(50)).isBetween(499.5, 501.0);
    assertThat(percentiles.millis(99)).isBetween(989.0, 991.5);
    assertThat(percentiles.millis(100)).isBetween(999.0, 1_001.0);
    assertThat(percentiles.json().getLong("count")).isEqualTo(1_000);
  }

  @Test
  void aLatencyBeyondTheScaleCountsAsItsEnd() {
    Percentiles percentiles = new Percentiles();
    percentiles.add(Long.MAX_VALUE);
    percentiles.add(-5);
    assertThat(percentiles.count()).isEqualTo(2);
    assertThat(percentiles.millis(100)).isBetween(599_000.0, 601_000.0);
  }

  @Test
  void aGapIsFromOneAnswerToTheNextAndALastingOneCounts() {
    FailoverBench.AckGaps gaps = new FailoverBench.AckGaps(3, 0);
    gaps.acked(0, 100);
    gaps.begin(1_000);
    gaps.acked(0, 1_010);
    gaps.acked(0, 1_500);
    gaps.acked(0, 1_510);
    gaps.acked(1, 1_200);
    assertThat(gaps.worstNanos(List.of(0), 1_520)).isEqualTo(490);
    assertThat(gaps.worstNanos(List.of(1), 1_300)).isEqualTo(200);
    assertThat(gaps.worstNanos(List.of(0, 2), 1_600)).isEqualTo(600);
    assertThat(gaps.worstNanos(List.of(), 1_600)).isZero();
    assertThat(gaps.waitingNanos(1_600)).isEqualTo(600);
  }

  @Property
  void sharesAddUpToTheWhole(
      @ForAll @LongRange(min = 1, max = 1_000_000) long messages,
      @ForAll @LongRange(min = 1, max = 50) long parts) {
    long sum = 0;
    for (int i = 0; i < parts; i++) {
      sum += Amount.messages(messages).share(i, (int) parts).messages();
    }
    assertThat(sum).isEqualTo(messages);
  }

  @Test
  void anAmountEndsByCountOrByTime() {
    assertThat(Amount.messages(2).goesOn(1, Long.MAX_VALUE)).isTrue();
    assertThat(Amount.messages(2).goesOn(2, 0)).isFalse();
    assertThat(Amount.millis(2).goesOn(Long.MAX_VALUE, 1_999_999)).isTrue();
    assertThat(Amount.millis(2).goesOn(0, 2_000_000)).isFalse();
    assertThat(Amount.millis(0).goesOn(0, 0)).isFalse();
  }

  @Test
  void messagesHaveTheSizeAndAllTheKeysThatWereAskedFor() {
    Payloads payloads = new Payloads(100, 7, 1);
    long different =
        java.util.stream.LongStream.range(0, 1_000)
            .mapToObj(i -> new String(payloads.key(i), java.nio.charset.StandardCharsets.US_ASCII))
            .distinct()
            .count();
    assertThat(different).isEqualTo(7);
    assertThat(payloads.payload(123_456_789_012L)).hasSize(100);
    assertThat(new Payloads(0, 0, 1).key(5)).isNull();
  }
}
