package dev.evenkeel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
   * Vert.x warns after two seconds, and then again and again, from five seconds on with the stack.
   */
  private static final long BLOCKED_MILLIS_MAX = 5_000;

  private static final int FRAMES_SHOWN = 12;

  private static final Set<String> WAITS = Set.of("park", "wait", "wait0", "sleep", "sleep0");

  /**
   * What Vert.x said.
   *
   * @param stack of the loop, innermost first; empty if Vert.x did not say it
   * @param load threads that wanted to run, for each processor
   */
  record Warning(String text, List<String> stack, double load) {
    /**
     * A loop that works gets its share of a busy machine only. One that waits for something does
     * not wait for a processor.
     */
    boolean forLong() {
      Matcher blocked = BLOCKED.matcher(text);
      boolean waits =
          !stack.isEmpty()
              && WAITS.contains(stack.get(0).replaceAll("\\(.*", "").replaceAll(".*\\.", ""));
      double max = BLOCKED_MILLIS_MAX * (waits ? 1 : Math.max(1, load));
      return !blocked.find() || Long.parseLong(blocked.group(1)) > max;
    }

    @Override
    public String toString() {
      return text + " at load " + load + String.join("\n  at ", stack);
    }
  }

  private static final Pattern BLOCKED = Pattern.compile("has been blocked for (\\d+) ms");
  private static final List<Warning> WARNINGS = new CopyOnWriteArrayList<>();
  private static boolean listening;

  @Override
  public void beforeAll(ExtensionContext context) {
    listen();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    List<Warning> told = take().stream().filter(Warning::forLong).toList();
    if (!told.isEmpty()) {
      throw new AssertionError("event loops were blocked: " + told);
    }
  }

  /** The warnings since the last look; they fail nobody any more. */
  static List<Warning> take() {
    List<Warning> told = List.copyOf(WARNINGS);
    WARNINGS.clear();
    return told;
  }

  private static List<String> stack(IThrowableProxy thrown) {
    return thrown == null
        ? List.of()
        : Arrays.stream(thrown.getStackTraceElementProxyArray())
            .limit(FRAMES_SHOWN)
            .map(frame -> frame.getStackTraceElement().toString())
            .toList();
  }

  private static double load() {
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    return system.getSystemLoadAverage() / system.getAvailableProcessors();
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
            WARNINGS.add(
                new Warning(event.getFormattedMessage(), stack(event.getThrowableProxy()), load()));
          }
        };
    appender.setContext(logger.getLoggerContext());
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.WARN);
  }
}
