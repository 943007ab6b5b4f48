package dev.evenkeel.chaos;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Waits for what may not come. */
final class Conditions {
  private Conditions() {}

  /** Whether it came to be in that time. What cannot be asked is not so yet. */
  static boolean within(double seconds, Callable<Boolean> condition) {
    try {
      Awaitility.await()
          .atMost(Duration.ofMillis(Math.max(1, (long) (seconds * 1_000))))
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(100))
          .pollInSameThread()
          .ignoreExceptions()
          .until(condition);
      return true;
    } catch (ConditionTimeoutException e) {
      return false;
    }
  }
}
