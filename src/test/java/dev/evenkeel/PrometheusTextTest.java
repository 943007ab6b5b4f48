package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checker itself finds what it is there for. */
class PrometheusTextTest {
  @Test
  void readsWhatIsRight() {
    PrometheusText read =
        PrometheusText.parse(
            "# HELP a_total x\n# TYPE a_total counter\na_total{k=\"v\\\"\",l=\"2\"} 3.0\n"
                + "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1.0\"} 1\nh_bucket{le=\"+Inf\"} 2\n"
                + "h_count 2\nh_sum 5\n");
    assertThat(read.value("a_total", "k", "v\\\"", "l", "2")).isEqualTo(3);
    assertThat(read.value("h_count")).isEqualTo(2);
    assertThat(read.types).containsEntry("h", "histogram");
    assertThat(
            PrometheusText.parseOpenMetrics("# TYPE a counter\n# HELP a x\na_total 1.0\n# EOF\n")
                .value("a_total"))
        .isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a 1 | no type",
        "# TYPE a gauge;a 1 | no help",
        "# HELP a x;# TYPE a counter;a 1 | _total",
        "# HELP a x;# TYPE a gauge;a 1;a 2 | twice",
        "# HELP a x;# TYPE a gauge;a{k=1} 1 | labels",
        "# HELP a x;# TYPE a gauge;a{k=\"1\",k=\"2\"} 1 | label twice",
        "# HELP a x;# TYPE a gauge;a 1;# HELP b x;# TYPE b gauge;b 1;a{k=\"1\"} 1 | two places",
        "# HELP h x;# TYPE h histogram;h_bucket{le=\"1\"} 2;h_bucket{le=\"+Inf\"} 1;h_count 1 | shrink",
        "# HELP h x;# TYPE h histogram;h_bucket{le=\"+Inf\"} 1;h_count 2 | not the count",
        "nonsense | not a line"
      })
  void refusesWhatIsWrong(String lines, String why) {
    Fails.with(
        AssertionError.class, () -> PrometheusText.parse(lines.replace(';', '\n') + "\n"), why);
  }
}
