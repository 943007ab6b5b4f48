package dev.evenkeel.gateway.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** Finds and starts the Chromium of this machine. Nothing is ever downloaded. */
public final class Browsers implements AutoCloseable {
  private static final String VARIABLE = "EVENKEEL_CHROMIUM";

  private static final List<String> PLACES =
      List.of(
          "/usr/bin/chromium",
          "/usr/bin/chromium-browser",
          "/usr/bin/google-chrome",
          "/usr/bin/google-chrome-stable",
          "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");

  private static final List<String> ARGS =
      List.of(
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          // That of a container may be small.
          "--disable-dev-shm-usage",
          "--disable-background-networking",
          "--disable-quic",
          "--disable-component-update",
          "--disable-sync",
          "--no-first-run");

  private static Browsers shared;

  private final Playwright playwright;
  private final Browser browser;

  private Browsers(Path executable) {
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(executable)
                    .setArgs(ARGS)
                    .setTimeout(120_000));
  }

  private static Optional<Path> executable() {
    String given = System.getenv(VARIABLE);
    if (given != null && !given.isBlank()) {
      if (!Files.isExecutable(Path.of(given))) {
        throw new IllegalStateException(VARIABLE + " names no program: " + given);
      }
      return Optional.of(Path.of(given));
    }
    return PLACES.stream().map(Path::of).filter(Files::isExecutable).findFirst();
  }

  /**
   * The one of all tests of this JVM, which run one after another on one thread; it ends with the
   * JVM. Skips the calling test as {@link #start} does.
   */
  static synchronized Browsers shared() {
    if (shared == null || !shared.browser.isConnected()) {
      Browsers started = start();
      Runtime.getRuntime().addShutdownHook(new Thread(started::close, "browser-end"));
      shared = started;
    }
    return shared;
  }

  /** Skips the calling test, and says what to install, if there is no browser. */
  public static Browsers start() {
    Optional<Path> executable = executable();
    Assumptions.assumeTrue(
        executable.isPresent(),
        "no browser: install Chromium (apt-get install chromium), or name one in " + VARIABLE);
    return new Browsers(executable.get());
  }

  public Browser browser() {
    return browser;
  }

  @Override
  public void close() {
    // Ends the browser with it.
    playwright.close();
  }
}
