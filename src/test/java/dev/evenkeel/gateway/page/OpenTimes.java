package dev.evenkeel.gateway.page;

import com.google.gson.JsonParser;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Page;
import io.vertx.core.json.JsonObject;

/**
 * Measures how long the pages take to open in a new tab, how much CPU time of the page's thread
 * that takes, which is the same on a busy machine, and what they keep, at 10,000 shards: {@code
 * OpenTimes [ROUNDS]}.
 */
final class OpenTimes {
  private OpenTimes() {}

  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    try (Browsers browsers = Browsers.start()) {
      JsonObject many = Facts.many(100, 100);
      measure(browsers, rounds, many, "#/", "[aria-label='Groups, table'] a");
      measure(browsers, rounds, many, "#/groups", "[aria-label='Groups, table'] a");
      measure(browsers, rounds, many, "#/groups/g042", "[data-cell='t042/99']");
      measure(browsers, rounds, many, "#/moves", ".timeline");
      measure(browsers, rounds, Facts.large(200, 10_000), "#/groups/large", "[data-cell]");
      measure(browsers, rounds, Facts.large(10, 10_000), "#/groups/large", "[data-cell]");
    }
  }

  private static void measure(
      Browsers browsers, int rounds, JsonObject state, String hash, String sign) {
    double fastest = Double.MAX_VALUE;
    double slowest = 0;
    double kept = 0;
    double cpuMillis = Double.MAX_VALUE;
    double idleMillis = Double.MAX_VALUE;
    for (int i = 0; i < rounds; i++) {
      try (FakeLive live = new FakeLive(state);
          BrowserContext context =
              browsers
                  .browser()
                  .newContext(new Browser.NewContextOptions().setViewportSize(1600, 1000))) {
        Page page = context.newPage();
        CDPSession devTools = context.newCDPSession(page);
        JsonObject cpu = new JsonObject().put("timeDomain", "threadTicks");
        devTools.send("Performance.enable", JsonParser.parseString(cpu.encode()).getAsJsonObject());
        page.navigate(live.url() + hash);
        page.waitForSelector(sign);
        // Until it has been painted.
        Object millis =
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() =>"
                    + " setTimeout(() => done(performance.now()))))");
        fastest = Math.min(fastest, ((Number) millis).doubleValue());
        slowest = Math.max(slowest, ((Number) millis).doubleValue());
        double opened = cpuMillis(devTools);
        cpuMillis = Math.min(cpuMillis, opened);
        page.waitForTimeout(5_000);
        idleMillis = Math.min(idleMillis, (cpuMillis(devTools) - opened) / 5);
        kept = Math.max(kept, heapMib(devTools));
      }
    }
    System.out.printf(
        "%-16s opens in %.0f to %.0f ms, CPU %.0f ms, then %.0f ms a second, keeps %.1f MiB%n",
        hash, fastest, slowest, cpuMillis, idleMillis, kept);
  }

  private static double cpuMillis(CDPSession devTools) {
    return 1000 * FrameTimes.metrics(devTools).get("TaskDuration");
  }

  /** The JavaScript heap after a collection, in MiB. */
  static double heapMib(CDPSession devTools) {
    devTools.send("HeapProfiler.collectGarbage");
    return devTools.send("Runtime.getHeapUsage").get("usedSize").getAsDouble() / (1 << 20);
  }
}
