package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page.GetByLabelOptions;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a person reads of the messages of a topic. */
class MessagesPageTest extends PageBase {
  private static final String PAGE = "#/topics/orders/messages";

  private void visitMessages(ColorScheme scheme, int width, String hash) {
    visit(scheme, ReducedMotion.REDUCE, width, 900, ApiFacts.serve(), hash);
  }

  private Locator list() {
    return visit.page().getByRole(AriaRole.LIST, new GetByRoleOptions().setName("Messages"));
  }

  private Locator message(String place) {
    return list()
        .getByRole(AriaRole.LISTITEM)
        .filter(new Locator.FilterOptions().setHasText(place));
  }

  private Locator payload(String place) {
    return message(place).getByLabel("Payload", new Locator.GetByLabelOptions().setExact(true));
  }

  @ParameterizedTest
  @Tag("full")
  @CsvSource({"DARK,360", "LIGHT,1600"})
  void theSameInTheOtherWindows(ColorScheme scheme, int width) {
    payloadsAreShownAsJsonTextOrBytes(scheme, width);
  }

  @ParameterizedTest
  @CsvSource({"DARK,1600", "LIGHT,360"})
  void payloadsAreShownAsJsonTextOrBytes(ColorScheme scheme, int width) {
    visitMessages(scheme, width, PAGE);
    message("1/100").locator("summary").click();
    // Numbers keep all digits.
    visit.reads(payload("1/100"), "  \"order\": 12345678901234567890,\n  \"items\": [\n    {");
    visit.reads(message("1/100"), "sourceshop");
    visit.reads(message("1/100"), "100 of 100 to 104");
    visit.reads(message("1/100"), "d1, entry 300");
    visit.reads(
        message("1/100"), "evenkeel topic messages orders --shard 1 --offset 100 --limit 1");
    message("1/100").getByLabel("Text").check();
    visit.reads(payload("1/100"), "{\"order\":12345678901234567890,\"items\"");
    message("1/100").getByLabel("Hex").check();
    visit.reads(payload("1/100"), "000000  7b 22 6f 72 64 65 72 22");
    message("1/102").locator("summary").click();
    visit.reads(payload("1/102"), "000000  ff ");
    message("1/103").locator("summary").click();
    visit.reads(message("1/103"), "These are the first 64 KiB of 195 KiB");
    visit.reads(
        message("1/103"),
        "evenkeel topic messages orders --shard 1 --offset 103 --limit 1 --format text");
    org.assertj.core.api.Assertions.assertThat(payload("1/103").textContent()).hasSize(64 << 10);
    message("1/104").locator("summary").click();
    visit.reads(message("1/104"), "the batch is damaged");
    Axe.assertNothingSerious(visit.page());
    assertNothingIsWiderThanThePage();
  }

  @Test
  void theAddressSaysWhichMessages() {
    visitMessages(ColorScheme.DARK, 1280, PAGE);
    live.answer(
        "GET /api/topics/orders/messages?shard=1&offset=102&limit=20",
        200,
        new JsonArray().add(ApiFacts.message(102, "k", "by offset")));
    live.answer(
        "GET /api/topics/orders/messages?shard=1&at=2026-11-18T11%3A08%3A20Z&limit=20",
        200, new JsonArray().add(ApiFacts.message(103, "k", "by time")));
    live.answer(
        "GET /api/topics/orders/messages?shard=1&offset=102&limit=20&key=a+b",
        200,
        new JsonArray().add(ApiFacts.message(104, "a b", "by key")));
    choose("Shard", "1");
    choose("At most", "20");
    choose("From", "offset");
    visit.button("Show").click();
    visit.reads(visit.page().getByRole(AriaRole.ALERT), "Offset is “”: write a whole number.");
    visit.page().getByLabel("Offset", new GetByLabelOptions().setExact(true)).fill("102");
    visit.button("Show").click();
    visit.sees(message("by offset"));
    choose("From", "at");
    visit.page().getByLabel("Time, UTC").fill("2026-11-18T11:08:20Z");
    visit.page().keyboard().press("Enter");
    visit.sees(message("by time"));
    visit.reads(visit.region("Messages"), "--shard 1 --at 2026-11-18T11:08:20Z --limit 20");
    visit.page().goBack();
    visit.sees(message("by offset"));
    visit.page().getByLabel("Key").fill("a b");
    visit.page().keyboard().press("Enter");
    visit.sees(message("by key"));
    visit.reads(visit.region("Messages"), "--shard 1 --offset 102 --key 'a b' --limit 20");
    visit.page().reload();
    visit.sees(message("by key"));
  }

  @Test
  void newMessagesComeByThemselves() {
    visitMessages(ColorScheme.DARK, 1280, PAGE + "?shard=1&follow=true");
    visit.sees(visit.page().getByText("Waiting for new messages …"));
    live.answer(
        "GET /api/topics/orders/messages?shard=1&offset=105&limit=50",
        200,
        new JsonArray().add(ApiFacts.message(105, null, "just now")));
    live.answer(
        "GET /api/topics/orders/messages?shard=1&offset=106&limit=50", 200, new JsonArray());
    live.change(Facts.patch(120_001, "topics", "orders", "end"));
    visit.sees(visit.page().getByText("just now"));
    visit.button("Stop following").click();
    visit.sees(visit.button("Follow"));
  }

  @Test
  void whoMayNotReadThemIsToldWhatIsMissing() {
    FakeLive server = ApiFacts.serve();
    JsonObject viewer =
        new JsonObject().put("user", "viewer").put("may", List.of("view:*", "admin:other"));
    server.answer("GET /api/session", 200, viewer);
    visit(ColorScheme.DARK, ReducedMotion.REDUCE, 1280, 800, server, PAGE);
    visit.sees(visit.page().getByText("it needs the permission consume:orders"));
    for (String action : List.of("Send a message", "Change settings", "Delete")) {
      assertThat(visit.button(action)).hasCount(0);
    }
    org.assertj.core.api.Assertions.assertThat(live.asked())
        .noneMatch(asked -> asked.what().contains("/messages"));
  }

  private void choose(String label, String value) {
    visit.page().getByLabel(label, new GetByLabelOptions().setExact(true)).selectOption(value);
  }

  private void assertNothingIsWiderThanThePage() {
    org.assertj.core.api.Assertions.assertThat(
            visit.page().evaluate("document.documentElement.scrollWidth - innerWidth"))
        .isEqualTo(0);
  }
}
