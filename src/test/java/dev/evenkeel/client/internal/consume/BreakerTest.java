package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BreakerTest {
  private final Breaker breaker = new Breaker(true);
  private long now = 1_000_000;

  /** First attempts of which all fail. */
  private void fail(int messages) {
    for (int i = 0; i < messages; i++) {
      breaker.failed(true, 0, now);
    }
  }

  private void open() {
    fail(Breaker.LOOKED_AT);
    assertThat(breaker.open()).isTrue();
  }

  @Test
  void itOpensWhenMostFirstAttemptsFailAndTellsOnce() {
    for (int i = 0; i < Breaker.LOOKED_AT - Breaker.FAILED_MIN; i++) {
      breaker.succeeded(true);
    }
    for (int i = 1; i < Breaker.FAILED_MIN; i++) {
      assertThat(breaker.failed(true, 0, now)).isFalse();
    }
    assertThat(breaker.open()).isFalse();
    assertThat(breaker.failed(true, 0, now)).isTrue();
    assertThat(breaker.open()).isTrue();
    assertThat(breaker.failed(true, 0, now)).isFalse();
  }

  @Test
  void oneMoreSuccessAmongThemKeepsItClosed() {
    for (int i = 0; i < 1_000; i++) {
      if (i % 4 == 0) {
        breaker.succeeded(true);
      } else {
        breaker.failed(true, 0, now);
      }
    }
    assertThat(breaker.open()).isFalse();
  }

  @Test
  void retriesOfPoisonSayNothing() {
    for (int i = 0; i < 1_000; i++) {
      breaker.failed(false, 0, now);
    }
    assertThat(breaker.open()).isFalse();
    fail(Breaker.LOOKED_AT - 1);
    assertThat(breaker.open()).as("too few were looked at").isFalse();
  }

  @Test
  void whileItIsOpenOneAtATimeIsTriedAfterPausesThatGrow() {
    open();
    long pause = 1_000;
    for (int i = 0; i < 8; i++) {
      assertThat(breaker.waitMillis(now)).isEqualTo(pause);
      assertThat(breaker.mayStart(0, now + pause - 1)).isFalse();
      assertThat(breaker.mayStart(1, now + pause)).isFalse();
      assertThat(breaker.mayStart(0, now + pause)).isTrue();
      now += pause;
      breaker.failed(true, 0, now);
      pause = Math.min(10_000, 2 * pause);
    }
  }

  @Test
  void whatEndsTogetherMakesOnePause() {
    open();
    for (int running = 5; running >= 0; running--) {
      breaker.failed(true, running, now);
    }
    assertThat(breaker.waitMillis(now)).isEqualTo(2_000);
  }

  @Test
  void anySuccessClosesItAndItBeginsAnew() {
    open();
    assertThat(breaker.succeeded(false)).isTrue();
    assertThat(breaker.open()).isFalse();
    assertThat(breaker.mayStart(100, now)).isTrue();
    assertThat(breaker.succeeded(true)).isFalse();
    fail(Breaker.FAILED_MIN);
    assertThat(breaker.open()).as("what was before counts no more").isFalse();
  }

  @Test
  void failuresCountAgainAfterItsLongestTime() {
    open();
    now += Breaker.OPEN_MILLIS_MAX - 1;
    fail(1);
    assertThat(breaker.open()).isTrue();
    now++;
    fail(1);
    assertThat(breaker.open()).isFalse();
  }

  @Test
  void oneThatIsOffNeverOpens() {
    Breaker off = new Breaker(false);
    for (int i = 0; i < 100; i++) {
      assertThat(off.failed(true, 0, now)).isFalse();
    }
    assertThat(off.open()).isFalse();
  }

  @Test
  void fewMessagesThatAllFailOpenItAfterAMinute() {
    fail(3);
    now += 59_999;
    assertThat(breaker.failed(false, 0, now)).isFalse();
    now++;
    assertThat(breaker.failed(false, 0, now)).isTrue();
  }

  @Test
  void anySuccessAmongFewTellsThatOthersArePoison() {
    fail(2);
    breaker.succeeded(false);
    now += 60_000;
    fail(2);
    now += 60_000;
    assertThat(breaker.failed(false, 0, now)).isFalse();
    fail(1);
    assertThat(breaker.open()).as("the third in a row").isTrue();
  }

  @Test
  void aLoneMessageNeverOpensItWhateverItsAttempts() {
    fail(1);
    for (int attempt = 2; attempt <= 101; attempt++) {
      now += 600_000;
      assertThat(breaker.failed(attempt == 1, 0, now)).isFalse();
    }
    fail(1);
    assertThat(breaker.open()).as("nor do two").isFalse();
  }

  @Test
  void poisonThatIsLeftWhenAllElseIsDoneDoesNotOpenIt() {
    for (int i = 0; i < 1_000; i++) {
      if (i % 100 == 50) {
        breaker.failed(true, 0, now);
      } else {
        breaker.succeeded(true);
      }
    }
    for (int i = 0; i < 50; i++) {
      now += 60_000;
      assertThat(breaker.failed(false, 0, now)).isFalse();
    }
  }

  @Test
  void fewThatAreNothingButPoisonAreHeldUpOnce() {
    fail(3);
    now += 60_000;
    assertThat(breaker.failed(false, 0, now)).isTrue();
    now += Breaker.OPEN_MILLIS_MAX;
    assertThat(breaker.failed(false, 0, now)).isFalse();
    assertThat(breaker.open()).as("their failures count").isFalse();
    for (int i = 0; i < 100; i++) {
      now += 600_000;
      assertThat(breaker.failed(false, 0, now)).isFalse();
    }
  }
}
