package dev.evenkeel.gateway.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Page;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Measures the page at 200 consumers with 2,000 shards under ten changes a second, each of which
 * changes the lag of 200 shards and moves two. Prints milliseconds; run it on an idle machine:
 * {@code FrameTimes [SECONDS]}.
 */
final class FrameTimes {
  private static final int CHANGES_A_SECOND = 10;

  private FrameTimes() {}

  public static void main(String[] args) {
    int lengthSeconds = args.length > 0 ? Integer.parseInt(args[0]) : 20;
    try (Browsers browsers = Browsers.start();
        FakeLive live = new FakeLive(Facts.large(200, 2000));
        BrowserContext context =
            browsers
                .browser()
                .newContext(new Browser.NewContextOptions().setViewportSize(1280, 800))) {
      Page page = context.newPage();
      page.navigate(live.url() + "#/groups/large");
      page.waitForSelector("[data-cell='events/1999']");
      page.waitForTimeout(2000);
      page.evaluate(
          """
() => {
  window.frames_ = [];
  window.long_ = [];
  let last = performance.now();
  const frame = (now) => {
    window.frames_.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((all) => all.getEntries().forEach((e) => window.long_.push(e.duration)))
    .observe({ type: 'longtask' });
}
""");
      CDPSession devTools = context.newCDPSession(page);
      devTools.send("Performance.enable");
      Map<String, Double> before = metrics(devTools);
      Random random = new Random(5);
      for (int i = 0; i < lengthSeconds * CHANGES_A_SECOND; i++) {
        live.change(change(random));
        page.waitForTimeout(1000.0 / CHANGES_A_SECOND);
      }
      Map<String, Double> after = metrics(devTools);
      for (String name :
          List.of("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration")) {
        double spentSeconds = after.get(name) - before.get(name);
        System.out.printf(
            "%s %.1f ms a change%n",
            name, 1000 * spentSeconds / (lengthSeconds * CHANGES_A_SECOND));
      }
      System.out.println(
          page.evaluate(
              """
() => {
  const sorted = window.frames_.slice(1).sort((a, b) => a - b);
  const at = (q) => sorted[Math.floor((sorted.length - 1) * q)].toFixed(1);
  const long = window.long_.sort((a, b) => a - b);
  return `frames ${sorted.length}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, `
    + `max ${at(1)} ms; tasks over 50 ms: ${long.length}, longest ${(long.at(-1) ?? 0).toFixed(0)} ms`;
}
"""));
    }
  }

  static Map<String, Double> metrics(CDPSession devTools) {
    Map<String, Double> metrics = new HashMap<>();
    devTools
        .send("Performance.getMetrics")
        .getAsJsonArray("metrics")
        .forEach(
            each ->
                metrics.put(
                    each.getAsJsonObject().get("name").getAsString(),
                    each.getAsJsonObject().get("value").getAsDouble()));
    return metrics;
  }

  private static JsonObject change(Random random) {
    JsonObject shards = new JsonObject();
    for (int i = 0; i < 200; i++) {
      int lag = random.nextInt(500);
      shards.put(
          "events/" + random.nextInt(2000),
          new JsonObject().put("lag", lag).put("lagSeconds", lag / 50.0).put("end", 10_000 + lag));
    }
    for (int i = 0; i < 2; i++) {
      String owner = String.format("c%03d", 1 + random.nextInt(200));
      shards.put("events/" + random.nextInt(2000), new JsonObject().put("owner", owner));
    }
    return Facts.patch(shards, "groups", "large", "shards");
  }
}
