package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 200 consumers with 2,000 shards, many groups, and 10,000 shards. */
@Tag("full")
class LargePageTest extends PageBase {
  private static final String SHARDS = "events/";

  private void visitLarge(ReducedMotion motion) {
    visit(ColorScheme.DARK, motion, 1280, 800, Facts.large(200, 2000), "#/groups/large");
    assertThat(visit.page().getByRole(AriaRole.GRIDCELL)).hasCount(2000);
    assertThat(visit.page().getByRole(AriaRole.ROW).filter(cells())).hasCount(200);
  }

  private Locator.FilterOptions cells() {
    return new Locator.FilterOptions().setHas(visit.page().getByRole(AriaRole.GRIDCELL));
  }

  /** Counts which cells are touched in any way. */
  private void watchCells() {
    visit
        .page()
        .evaluate(
            """
() => {
  window.touched = new Set();
  const cellOf = (node) =>
    (node.nodeType === 1 ? node : node.parentElement)?.closest('[role=gridcell]');
  new MutationObserver((records) => {
    for (const record of records) {
      for (const node of [record.target, ...record.addedNodes, ...record.removedNodes]) {
        const cell = cellOf(node);
        if (cell) window.touched.add(cell.getAttribute('aria-label'));
      }
    }
  }).observe(document.querySelector('[role=grid]'),
    { subtree: true, childList: true, attributes: true, characterData: true });
}
""");
  }

  private Object touched() {
    return visit.page().evaluate("() => [...window.touched]");
  }

  @Test
  void aChangeOfOneShardTouchesOneCell() {
    visitLarge(ReducedMotion.NO_PREFERENCE);
    watchCells();
    live.change(Facts.patch(7, "groups", "large", "shards", SHARDS + 1234, "lag"));
    String now = "events/1234, owned by c035, lag 7 messages, epoch 3";
    assertThat(visit.page().getByLabel(now)).hasCount(1);
    assertThat(touched()).isEqualTo(List.of(now));
    // Facts that a cell does not show draw nothing.
    live.change(Facts.patch(99_999, "groups", "large", "shards", SHARDS + 7, "end"));
    live.change(Facts.patch("n9", "server", "node"));
    visit.reads(visit.banner(), "n9");
    assertThat(touched()).isEqualTo(List.of(now));
  }

  @Test
  void itStaysResponsiveUnderTenChangesASecond() {
    visitLarge(ReducedMotion.NO_PREFERENCE);
    Random random = new Random(11);
    for (int change = 0; change < 40; change++) {
      JsonObject shards = new JsonObject();
      for (int i = 0; i < 200; i++) {
        shards.put(SHARDS + random.nextInt(2000), new JsonObject().put("lag", random.nextInt(500)));
      }
      shards.put(
          SHARDS + change,
          new JsonObject().put("owner", String.format("c%03d", 1 + random.nextInt(200))));
      live.change(Facts.patch(shards, "groups", "large", "shards"));
      if (change == 20) {
        visit.shard("events/1000").click();
      }
      visit.page().waitForTimeout(100);
    }
    visit.reads(visit.details(), "shard events/1000");
    live.change(Facts.patch(123_456, "groups", "large", "shards", SHARDS + 1000, "lag"));
    visit.reads(visit.details(), "123,456 messages");
    // What flew has landed, and nothing is left above the page.
    assertThat(visit.page().locator("#sky > *")).hasCount(0);
  }

  @Test
  void aCellInViewTravelsByTransformOnly() {
    visitLarge(ReducedMotion.NO_PREFERENCE);
    watchSky();
    live.change(Facts.patch("c003", "groups", "large", "shards", SHARDS + 0, "owner"));
    visit.page().waitForFunction("() => window.flown > 0");
    assertThat(visit.page().evaluate("() => window.flights"))
        .isEqualTo(List.of(List.of("transform", "transform")));
    visit.seesOwner("events/0", "c003");
    assertThat(visit.page().locator("#sky > *")).hasCount(0);
  }

  @Test
  void aCellOutOfViewDoesNotTravel() {
    visitLarge(ReducedMotion.NO_PREFERENCE);
    watchSky();
    live.change(Facts.patch("c199", "groups", "large", "shards", SHARDS + 1999, "owner"));
    visit.seesOwner("events/1999", "c199");
    assertThat(visit.page().evaluate("() => window.flown")).isEqualTo(0);
  }

  @Test
  void withReducedMotionNothingTravels() {
    visitLarge(ReducedMotion.REDUCE);
    watchSky();
    live.change(Facts.patch("c003", "groups", "large", "shards", SHARDS + 0, "owner"));
    visit.seesOwner("events/0", "c003");
    assertThat(visit.page().evaluate("() => window.flown")).isEqualTo(0);
    Object moving =
        visit
            .page()
            .evaluate(
                "() => document.getAnimations().filter((a) => a.effect.getKeyframes()"
                    + ".some((frame) => 'transform' in frame)).length");
    assertThat(moving).isEqualTo(0);
  }

  @Test
  void barsOfManyMembersFollowTenChangesASecond() {
    String[] members = new String[250];
    times(members.length, i -> members[i] = String.format("c%03d", i + 1));
    JsonObject state = Facts.empty();
    state.getJsonObject("groups").put("large", Facts.level("events", 12, 1_000, members));
    visit(ColorScheme.DARK, state);
    Locator bars = visit.level("large").getByRole(AriaRole.LISTITEM);
    assertThat(bars).hasCount(200);
    visit.reads(visit.level("large"), "and 50 more");
    Random random = new Random(12);
    for (int change = 1; change <= 30; change++) {
      JsonObject all = new JsonObject();
      for (String member : members) {
        all.put(member, Facts.bar(1_000 + change * 500L + random.nextInt(1_000), 3));
      }
      live.change(Facts.patch(all, "groups", "large", "level", "bars"));
      visit.page().waitForTimeout(100);
    }
    live.change(Facts.patch("c007", "groups", "large", "level", "holder"));
    visit.reads(visit.level("large"), "c007 holds the round");
    // So many do not glide: each change is drawn once.
    assertThat(visit.level("large").evaluate("(it) => it.getAnimations({ subtree: true }).length"))
        .isEqualTo(0);
  }

  @ParameterizedTest
  @CsvSource({"100,100,#/", "100,100,#/moves", "1,10000,#/groups/g000"})
  void tenThousandShardsFitIntoTheMemoryOfATab(int groups, int shards, String hash) {
    visit(ColorScheme.DARK, ReducedMotion.REDUCE, 1280, 800, Facts.many(groups, shards), hash);
    visit.sees(visit.page().locator("main table").first());
    for (int change = 0; change < 20; change++) {
      live.change(Facts.patch(change, "groups", "g000", "shards", "t000/7", "lag"));
    }
    live.change(Facts.patch("n9", "server", "node"));
    visit.reads(visit.banner(), "n9");
    CDPSession devTools = visit.page().context().newCDPSession(visit.page());
    assertThat(OpenTimes.heapMib(devTools)).isLessThan(100);
  }

  @Test
  void manyThousandShardsAreCellsWithoutText() {
    visit(ColorScheme.LIGHT, Facts.large(20, 5_000));
    assertThat(visit.page().getByRole(AriaRole.GRIDCELL)).hasCount(5_000);
    assertThat(visit.shard("events/4321")).hasText("");
    visit.shard("events/4321").click();
    visit.reads(visit.details(), "shard events/4321");
    live.change(Facts.patch("c003", "groups", "large", "shards", SHARDS + 4321, "owner"));
    visit.reads(visit.details(), "ownerc003");
    assertNothingSerious();
  }

  /** Counts what comes and goes above the page, and keeps by what it moves: it is soon gone. */
  private void watchSky() {
    visit
        .page()
        .evaluate(
            """
            () => {
              window.flown = 0;
              window.flights = [];
              const moved = (frame) => Object.keys(frame)
                .filter((k) => !['offset', 'computedOffset', 'easing', 'composite'].includes(k))
                .join();
              new MutationObserver((all) => {
                window.flown += all.length;
                for (const copy of all.flatMap((one) => [...one.addedNodes])) {
                  window.flights.push(
                    copy.getAnimations().flatMap((a) => a.effect.getKeyframes()).map(moved));
                }
              }).observe(document.getElementById('sky'), { childList: true });
            }
            """);
  }

  @Test
  void oneOfManyGroupsIsFoundAndHasAnAddress() {
    JsonObject state = Facts.empty();
    for (int i = 0; i < 300; i++) {
      state
          .getJsonObject("groups")
          .put(String.format("group-%03d", i), Facts.group("orders", 2, "m" + i));
    }
    visit(ColorScheme.LIGHT, state);
    Locator search = visit.page().getByRole(AriaRole.COMBOBOX);
    search.fill("-27");
    visit.sees(visit.page().getByRole(AriaRole.OPTION).filter(withText("group-277")));
    search.fill("-277");
    assertThat(visit.page().getByRole(AriaRole.OPTION)).hasCount(1);
    search.press("Enter");
    visit.sees(visit.lane("m277"));
    assertThat(visit.page()).hasURL(live.url() + "#/groups/group-277");
    visit.page().reload();
    visit.sees(visit.lane("m277"));
    // An address of the time when there was one page.
    visit.page().navigate(live.url() + "#group=group-012");
    visit.sees(visit.lane("m12"));
    assertThat(visit.page()).hasURL(live.url() + "#/groups/group-012");
    visit.page().navigate(live.url() + "#group=no-such");
    visit.sees(visit.page().getByText("There is no group “no-such” now"));
    visit.page().navigate(live.url() + "#/groups");
    visit.sees(visit.page().getByText("Show 100 more of 300"));
  }

  private static Locator.FilterOptions withText(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @Test
  void everythingComesFromThisHost() {
    visit(ColorScheme.DARK, Facts.lone("orders", 4, "billing", "amber"));
    visit.sees(visit.lane("amber"));
    visit.page().evaluate("() => document.fonts.ready.then(() => true)");
    assertThat(visit.requests())
        .hasSizeGreaterThan(10)
        .allMatch(url -> url.matches("(http|ws)://127\\.0\\.0\\.1:" + live.port() + "/.*"));
  }

  @Test
  void whatIsMissedOrBrokenLeadsToAFreshSnapshot() {
    visit(ColorScheme.DARK, Facts.lone("orders", 4, "billing", "amber"));
    int before = live.connections();
    live.skipAndChange(Facts.patch(Facts.member(0), "groups", "billing", "members", "birch"));
    visit.sees(visit.lane("birch"));
    awaitConnections(before + 1);
    live.sendRaw("{no json");
    awaitConnections(before + 2);
    visit.seesLive();
    // A snapshot on a connection that goes on; one that is held up for long is replaced.
    boolean wentOn = false;
    for (int i = 0; i < 5 && !wentOn; i++) {
      int connections = live.connections();
      live.resend(Facts.lone("orders", 4, "billing", "cedar" + i));
      visit.sees(visit.lane("cedar" + i));
      visit.seesNoMore(visit.lane("birch"));
      wentOn = live.connections() == connections;
    }
    assertThat(wentOn).isTrue();
  }

  private void awaitConnections(int count) {
    Wait.until(
        () -> {
          visit.page().title();
          return live.connections() >= count;
        });
  }

  @Test
  void namesThatMeanSomethingToJavaScriptOrHtmlAreNames() {
    JsonObject state = Facts.lone("__proto__", 2, "constructor", "toString", "<b>hasOwnProperty");
    visit(ColorScheme.DARK, state);
    visit.seesOwner("__proto__/0", "toString");
    visit.seesOwner("__proto__/1", "<b>hasOwnProperty");
    live.change(Facts.patch(5, "groups", "constructor", "shards", "__proto__/0", "lag"));
    visit.sees(visit.page().getByLabel("__proto__/0, owned by toString, lag 5 messages"));
    visit.page().navigate(live.url() + "#/topics");
    visit.table("Topics").getByRole(AriaRole.LINK).click();
    visit.reads(visit.page().getByRole(AriaRole.HEADING).first(), "topic __proto__");
    visit.reads(visit.table("Groups that read it"), "constructor");
  }
}
