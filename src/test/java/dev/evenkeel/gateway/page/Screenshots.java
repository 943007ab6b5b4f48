package dev.evenkeel.gateway.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * Takes the pictures of the page. {@code Screenshots pages DIRECTORY} takes every page, and {@code
 * Screenshots review DIRECTORY} many boards, to look at; {@code Screenshots readme FILE} the one of
 * the README: three consumers, twelve shards, some of them travelling to the third.
 */
final class Screenshots {
  private static final int HISTORY_MILLIS = 130_000;

  private Screenshots() {}

  public static void main(String[] args) {
    try (Browsers browsers = Browsers.start()) {
      if (args[0].equals("readme")) {
        readme(browsers.browser(), Path.of(args[1]));
      } else if (args[0].equals("pages")) {
        pages(browsers.browser(), Path.of(args[1]));
      } else {
        review(browsers.browser(), Path.of(args[1]));
      }
    }
  }

  private static final List<String> PAGES =
      List.of(
          "overview #/",
          "topic #/topics/orders",
          "group #/groups/billing",
          "paused #/groups/reports",
          "moves #/groups/billing/moves",
          "plan #/groups/billing/plan",
          "all-moves #/moves",
          "cluster #/cluster",
          "groups #/groups");

  /** Every page of one cluster, whole, dark and light, wide and narrow. */
  private static void pages(Browser browser, Path directory) {
    for (ColorScheme scheme : new ColorScheme[] {ColorScheme.DARK, ColorScheme.LIGHT}) {
      for (int[] size : new int[][] {{1600, 1000}, {360, 740}}) {
        try (FakeLive live = Harbour.server();
            BrowserContext context = context(browser, scheme, size[0], size[1])) {
          Page page = context.newPage();
          page.onConsoleMessage(message -> System.err.println(message.text()));
          page.onPageError(System.err::println);
          for (String each : PAGES) {
            String name = each.substring(0, each.indexOf(' '));
            page.navigate(live.url() + each.substring(each.indexOf('#')));
            page.waitForTimeout(2500);
            String file = name + "-" + scheme + "-" + size[0] + ".png";
            page.screenshot(
                new Page.ScreenshotOptions().setFullPage(true).setPath(directory.resolve(file)));
          }
        }
      }
    }
  }

  private static void review(Browser browser, Path directory) {
    for (ColorScheme scheme : new ColorScheme[] {ColorScheme.DARK, ColorScheme.LIGHT}) {
      for (int[] size : new int[][] {{1280, 800}, {390, 844}}) {
        shoot(browser, small(), scheme, size, directory, "small", false);
        shoot(browser, level(5, 10), scheme, size, directory, "level", false);
        shoot(browser, level(200, 1_000), scheme, size, directory, "level-large", false);
        shoot(browser, Facts.large(200, 2000), scheme, size, directory, "large", false);
      }
    }
    int[] wide = {1280, 800};
    shoot(browser, Facts.large(20, 240), ColorScheme.DARK, wide, directory, "middle", false);
    shoot(browser, small(), ColorScheme.DARK, wide, directory, "stale", true);
    shoot(browser, Facts.empty(), ColorScheme.LIGHT, wide, directory, "empty", false);
    shoot(
        browser,
        Facts.large(200, 2000),
        ColorScheme.LIGHT,
        new int[] {3840, 2160},
        directory,
        "large",
        false);
    shoot(browser, small(), ColorScheme.LIGHT, new int[] {360, 740}, directory, "small", false);
  }

  /** A group in mode level, whose members differ by up to eight of ten. */
  private static JsonObject level(int members, int range) {
    String[] names = new String[members];
    for (int i = 0; i < members; i++) {
      names[i] =
          members > 5 ? "c" + (i + 1) : List.of("amber", "birch", "cedar", "dune", "elm").get(i);
    }
    JsonObject group = Facts.level("orders", 12, range, names);
    Random random = new Random(3);
    for (String name : names) {
      JsonObject bar = Facts.bar(4_120 + random.nextInt(range), random.nextInt(1 + range / 4));
      group.getJsonObject("level").getJsonObject("bars").put(name, bar);
    }
    group.getJsonObject("level").put("holder", names[1]).put("heldMs", 1_234);
    group.getJsonObject("level").getJsonObject("bars").put(names[1], Facts.bar(4_119, 2));
    JsonObject state = Facts.empty();
    state.getJsonObject("groups").put("billing", group);
    return state;
  }

  private static JsonObject small() {
    JsonObject state = Facts.lone("orders", 12, "billing", "amber", "birch", "cedar");
    state.getJsonObject("topics").put("payments", Facts.topic(6));
    JsonObject groups = state.getJsonObject("groups");
    groups.put("audit", Facts.group("payments", 6));
    JsonObject shards = groups.getJsonObject("billing").getJsonObject("shards");
    shards
        .getJsonObject("orders/3")
        .put("state", "DRAINING")
        .put("nextOwner", "cedar")
        .put("drainDeadline", System.currentTimeMillis() + 40_000);
    shards.getJsonObject("orders/5").remove("lag");
    shards.getJsonObject("orders/5").remove("lagSeconds");
    shards.getJsonObject("orders/7").put("lag", 0).put("lagSeconds", 0);
    shards.getJsonObject("orders/8").put("lag", 48_211).put("lagSeconds", 192.4);
    state
        .getJsonObject("moves")
        .put("1", Facts.move("billing", "orders", 3, "amber", "birch", "member joined"))
        .put("2", Facts.move("billing", "orders", 4, "birch", "amber", "member left"))
        .put("3", Facts.move("billing", "orders", 8, null, "cedar", "member timed out"));
    return state;
  }

  private static void shoot(
      Browser browser,
      JsonObject state,
      ColorScheme scheme,
      int[] size,
      Path directory,
      String name,
      boolean stale) {
    try (FakeLive live = new FakeLive(state);
        BrowserContext context = context(browser, scheme, size[0], size[1])) {
      Page page = context.newPage();
      page.onConsoleMessage(message -> System.err.println(name + ": " + message.text()));
      page.onPageError(error -> System.err.println(name + ": " + error));
      page.navigate(live.url() + PageBase.board(state));
      page.waitForTimeout(2200);
      if (!name.equals("empty") && !stale) {
        page.locator("[data-cell]").nth(3).click();
      }
      if (stale) {
        live.cut();
        page.waitForTimeout(4000);
      }
      page.waitForTimeout(300);
      String file =
          name + "-" + scheme.name().toLowerCase(java.util.Locale.ROOT) + "-" + size[0] + ".png";
      page.screenshot(new Page.ScreenshotOptions().setPath(directory.resolve(file)));
      if (size[0] < 700 || name.equals("small")) {
        page.screenshot(
            new Page.ScreenshotOptions()
                .setFullPage(true)
                .setClip(0, 0, size[0], 2200)
                .setPath(directory.resolve("full-" + file)));
      }
    }
  }

  private static BrowserContext context(
      Browser browser, ColorScheme scheme, int width, int height) {
    return browser.newContext(
        new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(width, height));
  }

  private static void readme(Browser browser, Path file) {
    Random random = new Random(7);
    JsonObject state = Facts.lone("orders", 12, "billing", "amber", "birch");
    try (FakeLive live = new FakeLive(state);
        BrowserContext context = context(browser, ColorScheme.DARK, 1400, 880)) {
      Page page = context.newPage();
      page.navigate(live.url() + PageBase.board(state));
      for (int at = 0; at < HISTORY_MILLIS; at += 500) {
        live.change(Traffic.tick(state, "billing", "orders", 12, at / 1000.0, random));
        page.waitForTimeout(500);
      }
      live.change(Facts.patch(Facts.member(0), "groups", "billing", "members", "cedar"));
      live.change(Traffic.drain("billing", "orders", "cedar", 2, 5, 8, 11));
      page.waitForTimeout(1600);
      live.change(Traffic.grant("billing", "orders", "birch", "cedar", 1, 5, 11));
      page.waitForTimeout(2600);
      live.change(Traffic.grant("billing", "orders", "amber", "cedar", 3, 2));
      page.waitForTimeout(260);
      page.screenshot(new Page.ScreenshotOptions().setPath(file));
    }
  }
}
