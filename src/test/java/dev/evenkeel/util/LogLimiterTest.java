package dev.evenkeel.util;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogLimiterTest {
  private final LogLimiter limiter = new LogLimiter();

  @Test
  void eachSourceHasALineAMinute() {
    assertThat(limiter.mayLog("a", 5)).isTrue();
    assertThat(limiter.mayLog("b", 6)).isTrue();
    assertThat(limiter.mayLog("a", 5 + LogLimiter.EVERY_MILLIS - 1)).isFalse();
    assertThat(limiter.mayLog("a", 5 + LogLimiter.EVERY_MILLIS)).isTrue();
    assertThat(limiter.mayLog("a", 6 + LogLimiter.EVERY_MILLIS)).isFalse();
  }

  @Test
  void ofTooManySourcesItForgetsTheOneLoggedLongestAgo() {
    times(LogLimiter.SOURCES_MAX, i -> limiter.mayLog("s" + i, i));
    assertThat(limiter.mayLog("s0", LogLimiter.EVERY_MILLIS)).isTrue();
    assertThat(limiter.mayLog("another", LogLimiter.EVERY_MILLIS)).isTrue();
    // s1 was the oldest; s0 and s2 are still known.
    assertThat(limiter.mayLog("s0", LogLimiter.EVERY_MILLIS + 1)).isFalse();
    assertThat(limiter.mayLog("s2", LogLimiter.EVERY_MILLIS + 1)).isFalse();
    assertThat(limiter.mayLog("s1", LogLimiter.EVERY_MILLIS + 1)).isTrue();
  }
}
