package dev.evenkeel;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ThrowingRunnable;

/**
 * Waits for a condition, which it looks at each 50 ms: 60 s at the most, unless the test says how
 * many seconds. What the condition throws ends the wait, except that a failed assertion in {@link
 * #untilAsserted} is tried again.
 */
public final class Wait {
  private static final int SECONDS = 60;

  private Wait() {}

  public static void until(Callable<Boolean> condition) {
    factory("a condition", SECONDS).until(condition);
  }

  public static void until(int seconds, Callable<Boolean> condition) {
    factory("a condition", seconds).until(condition);
  }

  public static void until(String what, Callable<Boolean> condition) {
    factory(what, SECONDS).until(condition);
  }

  public static void until(String what, int seconds, Callable<Boolean> condition) {
    factory(what, seconds).until(condition);
  }

  public static void untilAsserted(ThrowingRunnable assertions) {
    factory("assertions", SECONDS).untilAsserted(assertions);
  }

  public static void untilAsserted(int seconds, ThrowingRunnable assertions) {
    factory("assertions", seconds).untilAsserted(assertions);
  }

  public static void untilAsserted(String what, ThrowingRunnable assertions) {
    factory(what, SECONDS).untilAsserted(assertions);
  }

  public static void untilAsserted(String what, int seconds, ThrowingRunnable assertions) {
    factory(what, seconds).untilAsserted(assertions);
  }

  private static ConditionFactory factory(String what, int seconds) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(seconds))
        .pollInterval(Duration.ofMillis(50));
  }
}
