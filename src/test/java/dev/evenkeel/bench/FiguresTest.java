package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

class FiguresTest {
  @Test
  void the_median_is_the_middle_one_or_between_the_two_in_the_middle() {
    assertThat(Stats.median(List.of(3, 1, 2))).isEqualTo(2);
    assertThat(Stats.median(List.of(4, 1, 2, 3))).isEqualTo(2.5);
    assertThat(Stats.median(List.of(7))).isEqualTo(7);
    assertThatThrownBy(() -> Stats.median(List.of())).isInstanceOf(IllegalArgumentException.class);
  }

  @Property
  void half_are_at_most_and_half_at_least_the_median(@ForAll @NotEmpty List<Integer> values) {
    double median = Stats.median(values);
    assertThat(values.stream().filter(value -> value <= median).count() * 2)
        .isGreaterThanOrEqualTo(values.size());
    assertThat(values.stream().filter(value -> value >= median).count() * 2)
        .isGreaterThanOrEqualTo(values.size());
    assertThat(median).isBetween(Stats.min(values), Stats.max(values));
  }

  @Test
  void percentiles_are_in_milliseconds_to_three_digits() {
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
  void a_latency_beyond_the_scale_counts_as_its_end() {
    Percentiles percentiles = new Percentiles();
    percentiles.add(Long.MAX_VALUE);
    percentiles.add(-5);
    assertThat(percentiles.count()).isEqualTo(2);
    assertThat(percentiles.millis(100)).isBetween(599_000.0, 601_000.0);
  }

  @Test
  void a_gap_is_from_one_answer_to_the_next_and_a_lasting_one_counts() {
    AckGaps gaps = new AckGaps(3, 0);
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
  void shares_add_up_to_the_whole(
      @ForAll @LongRange(min = 1, max = 1_000_000) long messages,
      @ForAll @LongRange(min = 1, max = 50) long parts) {
    long sum = 0;
    for (int i = 0; i < parts; i++) {
      sum += Amount.messages(messages).share(i, (int) parts).messages();
    }
    assertThat(sum).isEqualTo(messages);
  }

  @Test
  void an_amount_ends_by_count_or_by_time() {
    assertThat(Amount.messages(2).goesOn(1, Long.MAX_VALUE)).isTrue();
    assertThat(Amount.messages(2).goesOn(2, 0)).isFalse();
    assertThat(Amount.millis(2).goesOn(Long.MAX_VALUE, 1_999_999)).isTrue();
    assertThat(Amount.millis(2).goesOn(0, 2_000_000)).isFalse();
    assertThat(Amount.millis(0).goesOn(0, 0)).isFalse();
  }

  @Test
  void messages_have_the_size_and_all_the_keys_that_were_asked_for() {
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
