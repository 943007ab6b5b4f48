package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.evenkeel.Words.words;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.vertx.core.json.JsonObject;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a person sees of what happens in a cluster; in the full form dark and light. */
class LivePageTest extends PageBase {
  private static final String TOPIC = "orders";
  private static final String GROUP = "billing";

  private void visitTwo(ColorScheme scheme) {
    visit(scheme, Facts.lone(TOPIC, 6, GROUP, "amber", "birch"));
  }

  private static JsonObject member(String name, JsonObject facts) {
    return Facts.patch(facts, "groups", GROUP, "members", name);
  }

  private static JsonObject shard(int shard, String field, Object value) {
    return Facts.patch(value, "groups", GROUP, "shards", TOPIC + "/" + shard, field);
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aConsumerJoinsAndShardsTravelToIt(ColorScheme scheme) {
    visitTwo(scheme);
    visit.seesOwner("orders/0", "amber");
    visit.seesOwner("orders/1", "birch");
    live.change(member("cedar", Facts.member(0)));
    visit.sees(visit.lane("cedar"));
    visit.hears("cedar joined");
    live.change(Traffic.drain(GROUP, TOPIC, "cedar", 4));
    visit.sees(visit.page().getByLabel("orders/4, draining from amber to cedar, lag 14 messages"));
    visit.seesOwner("orders/4", "amber");
    live.change(Traffic.grant(GROUP, TOPIC, "amber", "cedar", 1, 4));
    visit.seesOwner("orders/4", "cedar");
    visit.hears("orders/4 moved from amber to cedar");
    visit.reads(visit.table("Recent moves"), "orders/4");
    visit.reads(visit.table("Recent moves"), "member joined");
    JsonObject capped = Facts.move(GROUP, TOPIC, 3, "amber", "cedar", "handover timed out");
    live.change(
        new JsonObject()
            .put(
                "moves",
                new JsonObject().put("7", capped.put("pauseMs", 50_123).put("redelivered", 41))));
    visit.reads(visit.table("Recent moves"), "handover timed out cap hit");
    visit.reads(visit.table("Recent moves"), "41");
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aConsumerLeaves(ColorScheme scheme) {
    visitTwo(scheme);
    live.change(Traffic.drain(GROUP, TOPIC, "amber", 1, 3, 5));
    live.change(Traffic.grant(GROUP, TOPIC, "birch", "amber", 1, 1, 3, 5));
    live.change(member("birch", null));
    visit.seesNoMore(visit.lane("birch"));
    visit.seesOwner("orders/5", "amber");
    visit.hears("birch left");
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aConsumerCrashes(ColorScheme scheme) {
    visitTwo(scheme);
    live.change(Facts.patch(4200, "groups", GROUP, "members", "birch", "lastHeartbeatMs"));
    visit.reads(visit.lane("birch"), "silent for 4.2 s");
    live.change(shard(1, "owner", null));
    live.change(shard(1, "state", "FREE"));
    live.change(shard(1, "nextOwner", "amber"));
    live.change(member("birch", null));
    // What it owned still lies in its lane, which is no member's any more.
    visit.reads(visit.lane("birch"), "not a member");
    visit.sees(visit.noOwner().filter(holding("orders/1")));
    visit.reads(visit.noOwner(), "1 shard waiting");
    visit.sees(visit.page().getByLabel("orders/1, no owner, next owner amber"));
    live.change(Traffic.grant(GROUP, TOPIC, null, "amber", 7, 1, 3, 5));
    visit.seesOwner("orders/1", "amber");
    visit.seesNoMore(visit.lane("birch"));
    visit.reads(visit.noOwner(), "every shard has one");
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void theNumberOfShardsChanges(ColorScheme scheme) {
    visitTwo(scheme);
    live.change(shard(0, "sealed", true));
    live.change(Facts.patch(child(6, null), "groups", GROUP, "shards", TOPIC + "/6"));
    visit.reads(visit.shard("orders/0"), "sealed");
    visit.reads(visit.shard("orders/6"), "after 0, 3");
    visit.sees(
        visit
            .page()
            .getByLabel("orders/0, owned by amber, sealed: its keys go on in other shards"));
    visit.sees(visit.page().getByLabel("orders/6, no owner, waits for shards 0, 3"));
    // The former one is consumed.
    live.change(Facts.patch(null, "groups", GROUP, "shards", TOPIC + "/0"));
    live.change(Facts.patch(child(6, "amber"), "groups", GROUP, "shards", TOPIC + "/6"));
    live.change(shard(6, "waitsFor", null));
    visit.seesOwner("orders/6", "amber");
    visit.seesNoMore(visit.shard("orders/0"));
    visit.seesNoMore(visit.shard("orders/6").getByText("after"));
  }

  private static JsonObject child(int shard, String owner) {
    return Facts.shard(TOPIC, shard, owner, 5).put("waitsFor", "0, 3");
  }

  private Locator.FilterOptions holding(String shard) {
    return new Locator.FilterOptions().setHas(visit.shard(shard));
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aConsumerThatFinishesNothingIsMarked(ColorScheme scheme) {
    visitTwo(scheme);
    live.change(member("birch", Facts.member(3).put("stuck", 2).put("stuckMs", 34_200)));
    visit.reads(visit.lane("birch"), "stuck on 2 shards for 34");
    visit.seesNoMore(visit.lane("amber").getByText("stuck"));
    visit.shard("orders/1").click();
    visit.page().keyboard().press("Home");
    visit.reads(visit.details(), "stuck on2 shards for");
    live.change(member("birch", Facts.member(3).put("stuck", 0).put("stuckMs", 0)));
    visit.seesNoMore(visit.lane("birch").getByText("stuck"));
    visit.reads(visit.details(), "stuck onnothing");
    // The sign is for what is known.
    live.change(member("birch", Facts.member(3).putNull("stuck").putNull("stuckMs")));
    visit.reads(visit.details(), "stuck on—unknown");
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void dedupShowsWhatItSavesAndWhatItWouldSave(ColorScheme scheme) {
    JsonObject state = Facts.empty();
    JsonObject group = Facts.group(TOPIC, 4, "amber");
    group.put(
        "dedup",
        new JsonObject()
            .put("mode", "payload")
            .put("savedPercent", 54.0)
            .put("declined", 2_158)
            .put("processing", 12)
            .put("waiting", 7)
            .put("hot", new JsonObject().put("p1", 358).put("p0", 748).put("", 3)));
    state.getJsonObject("groups").put(GROUP, group);
    visit(scheme, state);
    Locator dedup = visit.region("Dedup of " + GROUP);
    visit.reads(dedup, "work saved54 % by payload");
    visit.reads(dedup, "declined2,158");
    // Nobody has told of lost runs: that is not 0.
    visit.reads(dedup, "lost—unknown");
    Locator keys = dedup.getByRole(AriaRole.LISTITEM);
    visit.reads(keys.nth(0), "p0 748");
    visit.reads(keys.nth(1), "p1 358");
    visit.reads(keys.nth(2), "(empty) 3");
    live.change(
        Facts.patch(
            JsonObject.of("mode", "off", "repetition", "high", "wouldSavePercent", 41.3),
            words("groups %s dedup", GROUP)));
    visit.reads(visit.region("Repetition in " + GROUP), "dedup would save 41.3 % of the work");
    visit.seesNoMore(dedup);
    live.change(Facts.patch(null, "groups", GROUP, "dedup"));
    visit.seesNoMore(visit.region("Repetition in " + GROUP));
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void failuresAreShownWhileThereAreAny(ColorScheme scheme) {
    JsonObject state = Facts.empty();
    JsonObject group = Facts.group(TOPIC, 4, "amber", "birch");
    JsonObject failures =
        JsonObject.of("retriesWaiting", 1_234, "parked", 56, "deadLetters", 7, "breakersOpen", 0);
    state.getJsonObject("groups").put(GROUP, group.put("failures", failures));
    visit(scheme, state);
    Locator shown = visit.region("Failures of " + GROUP);
    visit.reads(shown, "to be tried again1,234");
    visit.reads(shown, "parked behind them56");
    visit.reads(shown, "dead letters7");
    // Nobody has told of shards: that is not 0.
    visit.reads(shown, "shards that wait—unknown");
    live.change(Facts.patch(2, "groups", GROUP, "failures", "breakersOpen"));
    visit.reads(shown, "most messages fail: 2 consumers pause and try one at a time");
    live.change(member("birch", Facts.member(3).put("breaker", "open")));
    visit.reads(visit.lane("birch"), "pauses: most messages fail");
    live.change(Facts.patch(null, "groups", GROUP, "failures"));
    visit.seesNoMore(shown);
  }

  private static GetByRoleOptions exactly(String name) {
    return new GetByRoleOptions().setName(name).setExact(true);
  }

  private static JsonObject stored(String field, Object value) {
    return Facts.patch(value, "cluster", "logs", "d0", "storage", "n1", field);
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aDataGroupShowsWhatItStoresAndWhatIsLost(ColorScheme scheme) {
    visitTwo(scheme);
    visit.page().getByRole(AriaRole.LINK, exactly("Overview")).click();
    Locator group = visit.table("Log groups").getByRole(AriaRole.ROW).filter(named("d0"));
    visit.reads(group, "—unknown");
    live.change(stored("liveBytes", 48 << 20));
    live.change(stored("deadBytes", 12 << 20));
    live.change(stored("lostMessages", 0));
    visit.reads(group, "48 MiB live, 12 MiB dead");
    visit.seesNoMore(group.getByText("lost"));
    live.change(stored("lostMessages", 2));
    visit.reads(group, "2 messages lost");
    // Another node leads, and has not told what it stores. What is lost stays lost.
    live.change(Facts.patch("n2", "cluster", "logs", "d0", "leader"));
    visit.reads(group, "—unknown 2 messages lost");
  }

  private static JsonObject level(String field, Object value) {
    return Facts.patch(value, "groups", GROUP, "level", field);
  }

  /** How long a part of a member's bar is, of the range. */
  private double drawn(String member, String part) {
    Locator bar = visit.level(GROUP).getByRole(AriaRole.LISTITEM).filter(named(member));
    String transform =
        (String) bar.locator("." + part).evaluate("(element) => element.style.transform", null);
    return Double.parseDouble(transform.replaceAll("[^0-9.]", ""));
  }

  private Locator.FilterOptions named(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aGroupInModeLevelShowsHowLevelItsMembersAre(ColorScheme scheme) {
    JsonObject state = Facts.empty();
    state.getJsonObject("groups").put(GROUP, Facts.level(TOPIC, 4, 10, "amber", "birch", "cedar"));
    visit(scheme, state);
    Locator level = visit.level(GROUP);
    visit.reads(level, "gap2 of range 10");
    visit.reads(level, "round412");
    visit.reads(level, "nobody holds the round");
    visit.reads(level, "1,002 messages finished, 2 more than the least, 2 in hand");
    Assertions.assertThat(drawn("amber", "done")).isZero();
    Assertions.assertThat(drawn("cedar", "done")).isEqualTo(0.2);
    Assertions.assertThat(drawn("cedar", "hand")).isEqualTo(0.4);
    // Its shards are the dispatcher's, which is no stranger.
    visit.seesOwner("orders/3", "dispatcher@n1");
    visit.reads(visit.lane("dispatcher@n1"), "deals to the members");
    live.change(
        Facts.patch(
            new JsonObject()
                .put("holder", "birch")
                .put("heldMs", 1_234)
                .put("gap", 10)
                .put("setAside", 3)
                .put("bars", new JsonObject().put("amber", Facts.bar(1_011, 40))),
            words("groups %s level", GROUP)));
    visit.reads(level, "birch holds the round for 1.2 s");
    visit.reads(level, "set aside3");
    visit.reads(
        level.getByRole(AriaRole.LISTITEM).filter(named("birch")), "holds the round for 1.2 s");
    // A bar is never longer than the range.
    Assertions.assertThat(drawn("amber", "hand")).isEqualTo(1);
    Assertions.assertThat(drawn("amber", "done")).isEqualTo(1);
    live.change(level("holder", null));
    visit.reads(level, "nobody holds the round");
    // Nobody is not unknown.
    live.change(level("gap", null));
    visit.reads(level, "gap—unknown of range 10");
    visit.seesNoMore(level.getByText("nobody holds the round"));
    live.change(Facts.patch(null, "groups", GROUP, "level"));
    visit.seesNoMore(visit.level(GROUP));
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aLostConnectionIsStaleUntilItIsBack(ColorScheme scheme) {
    visitTwo(scheme);
    live.cut();
    visit.seesStale();
    visit.hears("Stale: no connection to the node");
    assertThat(visit.page()).hasTitle("stale · group billing · Evenkeel");
    // What was known is still there to read.
    visit.seesOwner("orders/0", "amber");
    live.mend();
    visit.seesLive();
    visit.hears("Connected again");
    assertThat(visit.page()).hasTitle("group billing · Evenkeel");
    live.change(member("cedar", Facts.member(0)));
    visit.sees(visit.lane("cedar"));
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void aSilentConnectionIsStaleAndThenReplaced(ColorScheme scheme) {
    visitTwo(scheme);
    int before = live.connections();
    live.silence();
    visit.seesStale();
    visit.sees(visit.page().getByText("nothing has arrived for"));
    Awaitility.await().until(() -> pumped(live.connections() > before));
    visit.sees(visit.lane("amber"));
  }

  /** Playwright hands out events only while it is called. */
  private boolean pumped(boolean result) {
    visit.page().title();
    return result;
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void anotherNodeAnswersAfterARestart(ColorScheme scheme) {
    visitTwo(scheme);
    live.change(member("cedar", Facts.member(0)));
    live.change(Traffic.grant(GROUP, TOPIC, "amber", "cedar", 900, 4));
    visit.seesOwner("orders/4", "cedar");
    JsonObject next = Facts.lone(TOPIC, 6, GROUP, "amber", "birch", "dune");
    next.getJsonObject("server").put("node", "n2");
    live.restart(next);
    visit.sees(visit.lane("dune"));
    visit.seesNoMore(visit.lane("cedar"));
    visit.seesOwner("orders/2", "dune");
    visit.reads(visit.banner(), "n2");
    visit.seesLive();
    // The numbers of moves have begun anew, and are news all the same.
    live.change(Traffic.grant(GROUP, TOPIC, "dune", "amber", 1, 2));
    visit.hears("orders/2 moved from dune to amber");
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void unknownIsNotZero(ColorScheme scheme) {
    JsonObject state = Facts.lone(TOPIC, 2, GROUP, "amber");
    JsonObject group = state.getJsonObject("groups").getJsonObject(GROUP);
    group.remove("rate");
    group.put("lag", 0);
    group.getJsonObject("shards").getJsonObject("orders/0").remove("lag");
    group.getJsonObject("shards").getJsonObject("orders/0").remove("epoch");
    group.getJsonObject("shards").getJsonObject("orders/1").put("lag", 0).put("lagSeconds", 0);
    state.getJsonObject("cluster").remove("dispatcher");
    visit(scheme, state);
    visit.sees(visit.page().getByLabel("orders/0, owned by amber, lag unknown, epoch unknown"));
    visit.sees(visit.page().getByLabel("orders/1, owned by amber, lag 0 messages, epoch 3"));
    visit.reads(visit.banner(), "dispatcher—unknown");
    visit.sees(visit.page().getByText("No dispatcher answers: groups are shown as they were"));
    live.change(
        JsonObject.of(
            "cluster",
            JsonObject.of(
                "owners", JsonObject.of("source", "map", "asOf", "2026-11-30T12:00:00Z"))));
    visit.sees(
        visit
            .page()
            .getByText("No dispatcher answers: owners are shown as the shared map says, read at"));
    live.change(JsonObject.of("cluster", JsonObject.of("owners", null)));
    visit.sees(visit.page().getByText("No dispatcher answers: groups are shown as they were"));
    visit.shard("orders/0").click();
    visit.reads(visit.details(), "lag—unknown");
    visit.shard("orders/1").click();
    visit.reads(visit.details(), "lag0 messages");
    // It becomes known, and unknown again.
    live.change(shard(0, "lag", 7));
    visit.sees(visit.page().getByLabel("orders/0, owned by amber, lag 7 messages"));
    live.change(shard(0, "lag", null));
    visit.sees(visit.page().getByLabel("orders/0, owned by amber, lag unknown"));
  }

  @ParameterizedTest
  @MethodSource("schemes")
  void everythingIsReachedByKeyboard(ColorScheme scheme) {
    visitTwo(scheme);
    visit.sees(visit.lane("amber"));
    visit.page().keyboard().press("Tab");
    visit.page().keyboard().press("Tab");
    visit.page().keyboard().press("Enter");
    // The second skip link leads to the first consumer.
    visit.reads(visit.details(), "consumer amber");
    visit.page().keyboard().press("ArrowRight");
    visit.reads(visit.details(), "shard orders/0");
    visit.page().keyboard().press("End");
    visit.reads(visit.details(), "shard orders/4");
    visit.page().keyboard().press("ArrowDown");
    visit.reads(visit.details(), "shard orders/5");
    // The focus goes with the shard to its next owner.
    live.change(Traffic.grant(GROUP, TOPIC, "birch", "amber", 1, 5));
    visit.seesOwner("orders/5", "amber");
    assertThat(visit.shard("orders/5")).isFocused();
    visit.reads(visit.details(), "owneramber");
    visit.page().keyboard().press("Control+Home");
    visit.reads(visit.details(), "No owner");
    // One stop of the Tab key for the whole board.
    visit.page().keyboard().press("Tab");
    assertThat(
            visit
                .page()
                .getByRole(AriaRole.BUTTON, new GetByRoleOptions().setName("Close details")))
        .isFocused();
    visit.page().keyboard().press("Enter");
    visit.reads(visit.details(), "Choose a shard or a consumer");
  }
}
