package dev.evenkeel;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests wait long for what they expect unless they say how long: a busy machine may hold up any
 * thread for seconds, and a wait costs only as long as it lasts. JUnit finds it by itself.
 */
public final class Patience implements BeforeAllCallback {
  private static final Duration LONG = Duration.ofSeconds(60);

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(LONG);
  }
}
