package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Keyboard;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The pages of a cluster: their addresses, what they show, and how one goes from one to another.
 */
class PagesTest extends PageBase {
  private static final List<String> ALL =
      List.of(
          words(
              """
              #/ #/topics #/topics/orders #/topics/no-such #/groups #/groups/billing
              #/groups/reports #/groups/billing/moves #/groups/billing/plan #/moves #/cluster
              #/no/such/page
              """));

  private void visit(String hash) {
    visit(ColorScheme.DARK, ReducedMotion.REDUCE, 1600, 1000, Harbour.server(), hash);
  }

  private Locator heading(String text) {
    return visit
        .page()
        .getByRole(
            AriaRole.HEADING, new GetByRoleOptions().setLevel(1).setName(text).setExact(true));
  }

  private Locator link(String text) {
    return visit
        .page()
        .getByRole(AriaRole.LINK, new GetByRoleOptions().setName(text).setExact(true));
  }

  private Locator row(String table, String text) {
    return visit
        .table(table)
        .getByRole(AriaRole.ROW)
        .filter(new Locator.FilterOptions().setHasText(text));
  }

  @ParameterizedTest
  @Tag("full")
  @CsvSource({"DARK,360", "LIGHT,1600"})
  void theSameInTheOtherWindows(ColorScheme scheme, int width) {
    everyPageFitsItsWindowAndIsAccessible(scheme, width);
  }

  @ParameterizedTest
  @CsvSource({"DARK,1600", "LIGHT,360"})
  void everyPageFitsItsWindowAndIsAccessible(ColorScheme scheme, int width) {
    visit(scheme, ReducedMotion.REDUCE, width, 800, Harbour.server(), "");
    for (String hash : ALL) {
      visit.page().navigate(live.url() + hash);
      visit.page().waitForFunction("(hash) => location.hash === hash", hash);
      visit.sees(visit.page().getByRole(AriaRole.HEADING, new GetByRoleOptions().setLevel(1)));
      Object wider =
          visit
              .page()
              .evaluate(
                  "() => document.documentElement.scrollWidth - document.documentElement.clientWidth");
      assertThat(wider).as("pixels that do not fit: " + hash).isEqualTo(0);
      assertNothingSerious();
    }
  }

  @Test
  void aPersonGoesFromPageToPageByKeyboard() {
    visit("");
    Keyboard keyboard = visit.page().keyboard();
    visit.sees(heading("Overview"));
    assertThat(visit.page()).hasTitle("Overview · Evenkeel");
    keyboard.press("Tab");
    keyboard.press("Enter");
    assertThat(heading("Overview")).isFocused();
    // The first link after the heading is that to act on the first alarm.
    keyboard.press("Tab");
    assertThat(link("see the nodes").first()).isFocused();
    keyboard.press("Enter");
    assertThat(heading("Cluster")).isFocused();
    assertThat(visit.page()).hasURL(live.url() + "#/cluster");
    assertThat(visit.page()).hasTitle("Cluster · Evenkeel");
    visit.page().goBack();
    assertThat(heading("Overview")).isFocused();
    link("billing").focus();
    keyboard.press("Enter");
    assertThat(heading("group billing")).isFocused();
    link("Moves").last().focus();
    keyboard.press("Enter");
    assertThat(heading("group billing")).isFocused();
    assertThat(visit.page()).hasTitle("Moves · group billing · Evenkeel");
    visit.page().goBack();
    visit.page().goBack();
    visit.page().goForward();
    visit.sees(visit.lane("amber"));
    assertThat(visit.page()).hasTitle("group billing · Evenkeel");
    visit.page().navigate(live.url() + "#/no/such");
    link("Go to the overview").click();
    assertThat(heading("Overview")).isFocused();
  }

  @Test
  void aTopicOrGroupIsFoundByAPartOfItsName() {
    visit("#/cluster");
    Page page = visit.page();
    page.keyboard().press("/");
    assertThat(page.getByRole(AriaRole.COMBOBOX)).isFocused();
    page.keyboard().type("AUD");
    Locator found = page.getByRole(AriaRole.OPTION);
    assertThat(found).hasCount(2);
    visit.reads(found.nth(0), "group audit lag 75");
    visit.reads(found.nth(1), "topic audit-trail");
    page.keyboard().press("ArrowDown");
    assertThat(found.nth(1)).hasAttribute("aria-selected", "true");
    page.keyboard().press("Enter");
    assertThat(heading("topic audit-trail")).isFocused();
    page.keyboard().press("/");
    page.keyboard().type("nothing-like-it/");
    visit.sees(page.getByText("no topic or group has “nothing-like-it/” in its name"));
    page.keyboard().press("Escape");
    assertThat(page.getByRole(AriaRole.COMBOBOX)).hasValue("");
  }

  @Test
  void theOverviewSaysWhatNeedsAttention() {
    visit("");
    Locator attention = visit.region("Needs attention");
    Locator items = attention.getByRole(AriaRole.LISTITEM);
    assertThat(items)
        .hasText(
            new String[] {
              "■alarm: Node n3 is down. see the nodes",
              "■alarm: Log group d2 has no leader: it takes no messages. see the log groups",
              "■alarm: Group audit has no members, and 75 messages wait. see group audit",
              "▲warning: The disk of node n2 is nearly full: 300 MiB are free, the limit is 256 MiB."
                  + " see the nodes",
              "▲warning: The nodes run different versions: 0.1.0 (n2), 0.2.0 (n1). see the nodes",
              "▲warning: 7 dead letters of group billing wait for somebody to look. see the failures",
              "‖note: Group reports is paused. see group reports"
            });
    visit.reads(row("Groups", "reports"), "paused");
    visit.reads(row("Topics", "payments"), "14");
    visit.reads(row("Nodes", "n2"), "0.1.0");
    visit.reads(row("Nodes", "n1"), "meta, d0");
    visit.reads(row("Log groups", "d0"), "48 MiB live, 12 MiB dead");
    // The group with the largest lag first.
    visit.table("Groups").getByRole(AriaRole.BUTTON).filter(text("lag")).first().click();
    assertThat(visit.table("Groups").getByRole(AriaRole.ROWHEADER))
        .hasText(new String[] {"billing", "reports", "audit"});
    live.change(Facts.patch(2_000, "groups", "audit", "lag"));
    assertThat(visit.table("Groups").getByRole(AriaRole.ROWHEADER).first()).hasText("audit");
    live.resend(Facts.lone("orders", 2, "billing", "amber"));
    visit.sees(visit.page().getByText("Nothing needs attention"));
    live.resend(Facts.empty());
    visit.sees(command("java -jar evenkeel.jar topic create NAME --shards 6"));
    visit.sees(command("java -jar evenkeel.jar consume TOPIC --group NAME"));
  }

  private Locator command(String text) {
    return visit.page().getByText(text, new Page.GetByTextOptions().setExact(true));
  }

  private static Locator.FilterOptions text(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  /** What {@code attention.js} finds in a state, as it is shown. */
  private Object attention(JsonObject state, List<Integer> lags) {
    return visit
        .page()
        .evaluate(
            """
            async ([state, lags]) => {
              const { attention } = await import('/assets/js/attention.js');
              return attention(JSON.parse(state), () => lags).map((one) => one.text).join('\\n');
            }
            """,
            List.of(state.encode(), lags));
  }

  @Test
  void eachKindOfTroubleIsToldApart() {
    visit("#/cluster");
    JsonObject calm = Facts.lone("orders", 4, "billing", "amber", "birch");
    assertThat(attention(calm, List.of())).isEqualTo("");
    JsonObject group = calm.getJsonObject("groups").getJsonObject("billing");
    JsonObject shards = group.getJsonObject("shards");
    shards.getJsonObject("orders/2").put("state", "FREE");
    // It waits for a sealed one, which is as it should be.
    shards.getJsonObject("orders/3").put("state", "FREE").put("waitsFor", "2");
    group.getJsonObject("members").getJsonObject("birch").put("stuck", 2).put("breaker", "open");
    group.put("shardsPaused", 1);
    JsonObject cluster = calm.getJsonObject("cluster");
    cluster.remove("dispatcher");
    cluster.getJsonObject("nodes").put("n2", new JsonObject());
    cluster
        .getJsonObject("nodes")
        .getJsonObject("n1")
        .put("diskFreeBytes", 100 << 20)
        .put("diskFreeBytesMin", 256 << 20);
    cluster
        .getJsonObject("logs")
        .getJsonObject("d0")
        .put("followers", Facts.patch(20_000, "n2", "lagEntries"))
        .put("ineligible", Facts.patch("the disk is full", "n1", "DISK_FULL"))
        .put("storage", Facts.patch(1, "n1", "lostMessages"));
    assertThat(
            attention(
                calm,
                java.util.stream.IntStream.range(0, 60).map(i -> 1_000 + 50 * i).boxed().toList()))
        .isEqualTo(
            """
            No dispatcher answers: shards do not move.
            The disk of node n1 is full: 100 MiB are free, the limit is 256 MiB.
            1 message of log group d0 is lost.
            1 shard of group billing has no owner.
            Member birch of group billing is stuck on 2 shards.
            Node n2 does not answer.
            Node n2 is 20,000 entries behind in log group d0.
            Node n1 should not lead log group d0: the disk is full
            Most messages fail at member birch of group billing: it tries one at a time.
            The lag of group billing grows.
            1 shard of group billing is paused.""");
  }

  @Test
  void aTopicShowsItsShardsItsSettingsAndItsReaders() {
    visit("#/topics/orders");
    visit.reads(row("Shards", "1.0 MiB"), "sealed");
    Locator fourth = row("Shards", "open, after 1").first();
    visit.reads(fourth, "11,500");
    visit.reads(fourth, "4.0 MiB");
    visit.reads(fourth, "n1");
    visit.reads(visit.region("Settings"), "retention24 h");
    visit.reads(visit.region("Settings"), "max ageoff");
    visit.reads(visit.region("Layout"), "0 is sealed and goes on in → 2 4 6");
    visit.reads(row("Groups that read it", "billing"), "OK");
    visit.seesNoMore(row("Groups that read it", "audit"));
    visit.reads(row("Log groups of this topic", "d2"), "—unknown");
    // What the feed says is shown at once.
    live.change(Facts.patch(321.5, "topics", "orders", "rate"));
    visit.sees(visit.page().getByText("322").first());
    visit.page().navigate(live.url() + "#/topics/payments");
    visit.sees(visit.page().getByText("What only the node knows is not up to date"));
    visit.page().navigate(live.url() + "#/topics/absent");
    visit.sees(command("java -jar evenkeel.jar topic create absent --shards 6"));
    assertThat(live.asked()).noneMatch(asked -> asked.what().contains("absent"));
  }

  @Test
  void movesAreShownOverTimeAndInTables() {
    visit("#/groups/billing/moves");
    Locator timeline = visit.page().getByLabel("Timeline of moves");
    timeline.focus();
    visit.page().keyboard().press("Home");
    Locator chosen = visit.page().locator("#chosen-move");
    visit.reads(chosen, "1 of 21.");
    visit.reads(chosen, "orders/0 went from nobody to amber, member joined, paused 9 ms");
    visit.page().keyboard().press("ArrowRight");
    visit.reads(chosen, "orders/1 went from nobody to amber");
    visit.page().keyboard().press("End");
    visit.reads(
        chosen, "orders/5 went from birch to cedar, handover timed out, paused 24 ms, cap hit");
    visit.reads(row("Rebalances", "member crashed"), "amber, birch, cedar");
    assertThat(row("Moves", "orders/")).hasCount(21);
    visit.page().getByLabel("Filter the moves").fill("crashed");
    assertThat(row("Moves", "orders/")).hasCount(3);
    // A move that the feed tells of, and one that only the node has kept.
    live.change(
        Facts.patch(
            Facts.move("billing", "orders", 0, "amber", "birch", "rebalance")
                .put("time", java.time.Instant.now().toString())
                .put("epoch", 99),
            "moves",
            "99"));
    visit.page().getByLabel("Filter the moves").fill("rebalance");
    assertThat(row("Moves", "orders/0")).hasCount(1);
    visit.page().navigate(live.url() + "#/moves");
    visit.sees(row("Moves", "billing").first());
    visit.page().navigate(live.url() + "#/groups/reports/moves");
    visit.sees(visit.page().getByText("No shard has moved yet."));
  }

  @Test
  void aChangeIsSupposedAndOnlyAskedFor() {
    visit("#/groups/billing/plan");
    Page page = visit.page();
    visit.sees(page.getByText("2 shards are about to move now."));
    page.getByLabel("consumers that join").fill("1");
    page.getByLabel("birch").check();
    page.getByLabel("node that ends").selectOption("n2");
    page.getByLabel("assignor").selectOption("average");
    page.getByLabel("shards of orders").fill("12");
    page.keyboard().press("Enter");
    visit.sees(
        page.getByText("2 of 8 shards would move, and consumers would own 2 each; now 2–3 each."));
    assertThat(new JsonObject(live.asked().get(live.asked().size() - 1).body()))
        .isEqualTo(
            new JsonObject(
                "{\"add\":1,\"remove\":[\"birch\"],\"kill\":\"n2\",\"assignor\":\"average\","
                    + "\"shards\":{\"orders\":12}}"));
    visit.reads(row("Load of each consumer", "new-1"), "02");
    visit.reads(row("Load of each consumer", "amber"), "3227");
    visit.reads(row("Moves", "orders/0"), "ambernew-1");
    visit.reads(visit.region("Who would own what"), "orders/0 from amber");
    live.answer(
        "POST /api/groups/billing/plan",
        400,
        new JsonObject().put("error", "INVALID").put("message", "there is no node 'n2'"));
    page.getByText("Show the plan").click();
    visit.reads(page.getByRole(AriaRole.ALERT), "there is no node 'n2'");
    visit.seesNoMore(visit.table("Moves"));
  }

  /** Somebody who looks at a group must see that it will never get some messages. */
  @Test
  void whatWasSkippedIsShownOnTheBoard() {
    visit("#/groups/billing");
    visit.sees(visit.lane("amber"));
    var skipped = new JsonObject().put("skipped", 15).put("skippedFrom", 5).put("skippedTo", 19);
    live.change(
        Facts.patch(
            new JsonObject().put("shards", new JsonObject().put("orders/3", skipped)),
            "groups",
            "billing"));
    visit.sees(
        visit
            .page()
            .getByLabel(
                "orders/3, owned by amber, skipped 15 messages, offsets 5 to 19, lag 13 messages"));
    visit.reads(visit.shard("orders/3"), "▲ 15 skipped");
    visit.shard("orders/3").click();
    visit.sees(visit.page().getByText("15 messages, offsets 5 to 19"));
  }

  @Test
  void whatIsPausedIsShownOnTheBoard() {
    visit("#/groups/billing");
    visit.sees(visit.lane("amber"));
    live.change(
        Facts.patch(
            JsonObject.of("shardsPaused", 1, "shards", Facts.patch(true, "orders/3", "paused")),
            "groups",
            "billing"));
    visit.sees(visit.page().getByLabel("orders/3, owned by amber, paused, lag 13 messages"));
    visit.reads(visit.shard("orders/3"), "‖ paused");
    visit.sees(visit.page().getByText("OK, 1 shard paused"));
    live.change(Facts.patch(true, "groups", "billing", "paused"));
    visit.hears("paused");
    live.change(Facts.patch(null, "groups", "billing", "paused"));
    visit.hears("resumed");
  }
}
