package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.evenkeel.Loops.each;

import com.microsoft.playwright.Keyboard;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page.GetByLabelOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How an action goes, from its button to its end: with the keyboard, and with refusals. */
class ActionsTest extends PageBase {
  private static final String LETTERS = "/api/groups/billing/dead-letters";

  private void visitPage(ColorScheme scheme, int width, String hash) {
    visit(scheme, ReducedMotion.REDUCE, width, 900, ApiFacts.serve(), hash);
  }

  private void press(String... keys) {
    Keyboard keyboard = visit.page().keyboard();
    each(keys, key -> keyboard.press(key));
  }

  private static JsonObject refusal(String message) {
    return new JsonObject().put("error", "GROUP_ACTIVE").put("message", message);
  }

  private List<String> changes() {
    return live.asked().stream()
        .filter(asked -> !asked.what().startsWith("GET"))
        .filter(asked -> !asked.body().contains("dryRun"))
        .map(asked -> asked.what() + " " + asked.body())
        .toList();
  }

  @ParameterizedTest
  @Tag("full")
  @CsvSource({"DARK,360", "LIGHT,1600"})
  void theSameInTheOtherWindows(ColorScheme scheme, int width) {
    whoDropsDataTypesItsName(scheme, width);
  }

  @ParameterizedTest
  @CsvSource({"DARK,1600", "LIGHT,360"})
  void whoDropsDataTypesItsName(ColorScheme scheme, int width) {
    visitPage(scheme, width, "#/groups/billing/failures");
    String drop = "POST " + LETTERS + "/drop";
    live.answer(drop, 200, new JsonObject().put("group", "billing").put("count", 3));
    visit.page().getByLabel("Choose orders/1/17").check();
    visit.reads(visit.region("Dead letters"), "1 chosen");
    Locator waiting = visit.table("Waiting for another attempt");
    visit.reads(waiting, "orders/0/7for its next attempt24.2 s");
    visit.reads(waiting, "and the whole shard with it");
    visit.reads(waiting, "behind another message of its key0laternot yetnot yet");
    visit.page().getByLabel("Choose orders/1/17").uncheck();
    Axe.assertNothingSerious(visit.page());
    visit.button("Drop all").focus();
    press("Enter");
    visit.reads(visit.dialog(), "Deletes 3 dead letters of billing for good.");
    Axe.assertNothingSerious(visit.page());
    // The focus is where the name is to be typed.
    visit.page().keyboard().type("billin");
    press("Enter");
    visit.sees(visit.button("Drop for good"));
    assertThat(visit.button("Drop for good")).hasAttribute("aria-disabled", "true");
    Assertions.assertThat(changes()).isEmpty();
    visit.page().keyboard().type("g");
    press("Enter");
    visit.reads(visit.dialog(), "Dropped 3 dead letters.");
    Assertions.assertThat(changes()).containsExactly(drop + " {\"all\":true}");
    press("Enter");
    assertThat(visit.dialog()).hasCount(0);
    assertThat(visit.button("Drop all")).isFocused();
  }

  @Test
  void someDeadLettersAreReplayedAndTheListFollowsTheLiveState() {
    visitPage(ColorScheme.DARK, 1280, "#/groups/billing/failures");
    String replay = "POST " + LETTERS + "/replay";
    live.answer(replay, 200, new JsonObject().put("group", "billing").put("count", 2));
    visit.page().getByLabel("Choose orders/0/4").check();
    visit.page().getByLabel("Choose orders/1/21").check();
    visit.button("Replay 2").click();
    visit.reads(visit.dialog(), "Gives 2 dead letters to billing again");
    visit.reads(visit.dialog(), "orders/1/21");
    visit.button("Replay").click();
    visit.reads(visit.dialog(), "Replayed 2 dead letters.");
    Assertions.assertThat(changes())
        .containsExactly(replay + " {\"deadLetters\":[\"orders/0/4\",\"orders/1/21\"]}");
    visit.button("Close").click();
    live.answer("GET " + LETTERS + "?limit=50", 200, new JsonArray().add(ApiFacts.letter(1, 17)));
    live.answer("GET " + LETTERS, 200, new JsonArray());
    live.change(Facts.patch(1, "groups", "billing", "failures", "deadLetters"));
    visit.seesNoMore(visit.page().getByLabel("Choose orders/0/4"));
    visit.sees(visit.page().getByLabel("Choose orders/1/17"));
    // What was chosen and is gone does not count.
    visit.sees(visit.button("Replay all"));
  }

  @Test
  void aRefusalIsToldInWordsAndTheFormIsKept() {
    visitPage(ColorScheme.DARK, 1280, "#/groups/billing");
    String offsets = "POST /api/groups/billing/offsets";
    live.answer(
        offsets,
        400,
        new JsonObject()
            .put("error", "OFFSET_OUT_OF_RANGE")
            .put("message", "offset 7: orders/0 has 8 to 9, the next message"));
    visit.button("Reset offsets").click();
    visit.page().getByLabel("Go to").selectOption("offset");
    visit.page().getByLabel("Offset", new GetByLabelOptions().setExact(true)).fill("7");
    press("Enter");
    visit.reads(
        visit.dialog().getByRole(AriaRole.ALERT),
        "Offset 7: orders/0 has 8 to 9, the next message.");
    assertThat(visit.page().getByLabel("Offset", new GetByLabelOptions().setExact(true)))
        .hasValue("7");
    JsonObject shard =
        JsonObject.of("topic", "orders", "shard", 0, "owner", "amber", "from", 2, "to", 9);
    live.answer(
        offsets,
        200,
        new JsonObject().put("group", "billing").put("shards", new JsonArray().add(shard)));
    press("Enter");
    visit.reads(visit.dialog(), "billing skips 7 messages and never gets them.");
    visit.reads(visit.dialog(), "the node refuses the reset as long as they do");
    live.answer(offsets, 409, refusal("member 'amber' owns orders/0: stop it, or force the reset"));
    visit.page().keyboard().type("billing");
    press("Enter");
    visit.reads(
        visit.dialog().getByRole(AriaRole.ALERT),
        "Member 'amber' owns orders/0: stop it, or force the reset.");
    visit.button("Back").click();
    assertThat(visit.page().getByLabel("Offset", new GetByLabelOptions().setExact(true)))
        .hasValue("7");
    press("Escape");
    assertThat(visit.dialog()).hasCount(0);
    assertThat(visit.button("Reset offsets")).isFocused();
  }

  @Test
  void nobodyKnowsWhatBecameOfAnActionThatTheNodeDoesNotAnswer() {
    visitPage(ColorScheme.DARK, 1280, "#/groups/billing");
    visit.button("Pause").click();
    visit.reads(visit.dialog(), "2 members of billing get no new messages of the whole group");
    visit.page().route("**/pause", route -> route.abort());
    press("Enter");
    visit.reads(
        visit.dialog().getByRole(AriaRole.ALERT),
        "The node does not answer. Nobody knows whether it happened: look before you do it again.");
    visit.page().unroute("**/pause");
    live.answer("POST /api/groups/billing/pause", 200, new JsonObject().put("paused", true));
    visit.button("Try again").click();
    visit.sees(visit.button("Pause").last());
    visit.dialog().getByText("Pause", new Locator.GetByTextOptions().setExact(true)).click();
    visit.reads(visit.dialog(), "Paused the group billing.");
    Assertions.assertThat(changes()).containsExactly("POST /api/groups/billing/pause {}");
  }

  @Test
  void shorterRetentionTellsWhatItDrops() {
    visitPage(ColorScheme.LIGHT, 1280, "#/topics/orders/messages");
    live.answer("PATCH /api/topics/orders", 200, ApiFacts.topic().put("ageMillisMax", 3_600_000));
    visit.button("Change settings").click();
    visit.page().getByLabel("Max age").fill("1x");
    press("Enter");
    visit.reads(
        visit.dialog().getByRole(AriaRole.ALERT),
        "Max age is “1x”: write 200ms, 5s, 2m, 1h or 7d, or off.");
    visit.page().getByLabel("Max age").fill("1h");
    press("Enter");
    // Shard 1 has no message of the last hour.
    visit.reads(visit.dialog(), "Drops 5 messages that are too old now, consumed or not");
    visit.reads(visit.dialog(), "Max ageoff1h");
    Axe.assertNothingSerious(visit.page());
    visit.page().keyboard().type("orders");
    press("Enter");
    visit.reads(visit.dialog(), "The topic orders has other settings now.");
    Assertions.assertThat(changes())
        .containsExactly("PATCH /api/topics/orders {\"ageMillisMax\":3600000}");
  }

  @Test
  void aNodeIsDrainedAndAgainTakesData() {
    FakeLive server = ApiFacts.serve();
    JsonObject n1 = new JsonObject().put("node", "n1").put("votes", 4).put("bytes", 3 << 20);
    server.answer(
        "GET /api/cluster",
        200,
        new JsonObject()
            .put("nodes", new JsonArray().add(n1).add(new JsonObject().put("node", "n2")))
            .put(
                "logs",
                new JsonArray()
                    .add(new JsonObject().put("group", "meta").put("leader", "n2"))
                    .add(new JsonObject().put("group", "d0").put("leader", "n1"))));
    JsonObject running =
        new JsonObject()
            .put("state", "RUNNING")
            .put("groups", new JsonObject().put("d0", "waiting"))
            .put("bytesLeft", 3 << 20);
    server.answer("POST /api/cluster/nodes/n1/drain", 200, running);
    server.answer("POST /api/cluster/nodes/n1/undrain", 200, running);
    visit(ColorScheme.DARK, ReducedMotion.REDUCE, 360, 800, server, "#/cluster");
    visit.button("Drain n1").click();
    visit.reads(
        visit.dialog(),
        "n1 gives its 4 copies of log groups, 3.0 MiB, to other nodes, and the lead of d0.");
    press("Enter");
    visit.reads(visit.dialog(), "n1 drains: 1 copy and 3.0 MiB are left.");
    press("Enter");
    JsonObject draining =
        new JsonObject().put("membership", "DRAINING").put("moving", 2).put("bytesLeft", 3 << 20);
    live.change(Facts.patch(draining, "cluster", "nodes", "n1"));
    visit.reads(visit.table("Nodes"), "up, draining: 2 copies and 3.0 MiB left");
    live.change(
        Facts.patch(
            new JsonObject().putNull("moving").putNull("bytesLeft"), "cluster", "nodes", "n1"));
    visit.reads(visit.table("Nodes"), "up, drained");
    visit.button("End the drain of n1").click();
    visit.reads(visit.dialog(), "n1 takes copies and leads again.");
    press("Enter");
    visit.reads(visit.dialog(), "n1 keeps data again.");
    Assertions.assertThat(changes())
        .containsExactly(
            "POST /api/cluster/nodes/n1/drain ", "POST /api/cluster/nodes/n1/undrain ");
  }

  @Test
  void onlyWhatTheAccountMayDoIsOffered() {
    FakeLive server = ApiFacts.serve();
    JsonObject operator =
        JsonObject.of("user", "clerk", "may", List.of("view:*", "admin:bill*", "produce:orders"));
    server.answer("GET /api/session", 200, operator);
    visit(ColorScheme.DARK, ReducedMotion.REDUCE, 1280, 800, server, "#/groups/billing");
    visit.sees(visit.button("Pause"));
    visit.page().navigate(live.url() + "#/topics/orders/messages");
    visit.sees(visit.button("Send a message"));
    assertThat(visit.button("Delete")).hasCount(0);
    visit.page().navigate(live.url() + "#/topics");
    visit.sees(visit.button("Create a topic"));
    visit.page().navigate(live.url() + "#/cluster");
    visit.sees(visit.table("Nodes"));
    assertThat(visit.button("Drain n1")).hasCount(0);
  }
}
