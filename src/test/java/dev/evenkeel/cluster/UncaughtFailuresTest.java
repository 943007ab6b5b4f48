package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Promise;
import org.junit.jupiter.api.Test;

class UncaughtFailuresTest {
  @Test
  void aPromiseOfTheProgramThatIsCompletedTwiceIsNoBrokenConnection() {
    Promise<Void> promise = Promise.promise();
    promise.complete();
    assertThat(thrown(() -> promise.complete(null, new Exception("second"))))
        .isInstanceOf(IllegalStateException.class)
        .matches(failure -> !UncaughtFailures.isOfBrokenConnection(failure));
    assertThat(UncaughtFailures.isOfBrokenConnection(new NullPointerException())).isFalse();
    assertThat(UncaughtFailures.isOfBrokenConnection(new IllegalStateException())).isFalse();
  }

  private static Throwable thrown(Runnable task) {
    try {
      task.run();
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }
}
