package dev.evenkeel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Fails a test class during which Vert.x found an event loop blocked for long. JUnit finds it by
 * itself. Nested and further classes share the appender, which is added once a JVM.
 */
public final class BlockedLoops implements BeforeAllCallback, AfterAllCallback {
  /**
   * Vert.x warns after two seconds, and then again and again. Other tests run beside this one: a
   * loop that only has to wait for a processor is told of, too.
   */
  private static final long BLOCKED_MILLIS_MAX = 5_000;

  private static final Pattern BLOCKED = Pattern.compile("has been blocked for (\\d+) ms");
  private static final List<String> WARNINGS = new CopyOnWriteArrayList<>();
  private static boolean listening;

  @Override
  public void beforeAll(ExtensionContext context) {
    listen();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    List<String> told = take().stream().filter(BlockedLoops::forLong).toList();
    if (!told.isEmpty()) {
      throw new AssertionError("event loops were blocked: " + told);
    }
  }

  static boolean forLong(String warning) {
    Matcher blocked = BLOCKED.matcher(warning);
    return !blocked.find() || Long.parseLong(blocked.group(1)) > BLOCKED_MILLIS_MAX;
  }

  /** The warnings since the last look; they fail nobody any more. */
  static List<String> take() {
    List<String> told = List.copyOf(WARNINGS);
    WARNINGS.clear();
    return told;
  }

  private static synchronized void listen() {
    if (listening) {
      return;
    }
    listening = true;
    Logger logger = (Logger) LoggerFactory.getLogger("io.vertx.core.impl.BlockedThreadChecker");
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            WARNINGS.add(event.getFormattedMessage());
          }
        };
    appender.setContext(logger.getLoggerContext());
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.WARN);
  }
}
