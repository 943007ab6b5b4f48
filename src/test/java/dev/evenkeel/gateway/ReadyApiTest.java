package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadyApiTest {
  private final ReadyApi readiness = new ReadyApi(null);

  @Test
  void aNodeIsNotReadyBeforeTheClusterCanServe() {
    assertThat(readiness.seen(false, 0)).isFalse();
    assertThat(readiness.seen(false, 60_000)).isFalse();
    assertThat(readiness.seen(true, 61_000)).isTrue();
  }

  @Test
  void aChangeOfLeadersDoesNotShow() {
    readiness.seen(true, 0);
    assertThat(readiness.seen(false, 60_000)).as("asked seldom").isTrue();
    assertThat(readiness.seen(false, 69_999)).isTrue();
    assertThat(readiness.seen(true, 70_500)).isTrue();
    assertThat(readiness.seen(false, 80_000)).as("it counts anew").isTrue();
    assertThat(readiness.seen(false, 89_999)).isTrue();
  }

  @Test
  void whatLastsDoes() {
    readiness.seen(true, 0);
    assertThat(readiness.seen(false, 1_000)).isTrue();
    assertThat(readiness.seen(false, 11_000)).isFalse();
    assertThat(readiness.seen(false, 12_000)).isFalse();
    assertThat(readiness.seen(true, 13_000)).isTrue();
    assertThat(readiness.seen(false, 14_000)).isTrue();
  }
}
