package dev.evenkeel.gateway.page;

import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.vertx.core.json.JsonObject;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** axe-core finds nothing serious, whatever is shown, dark and light, wide and narrow. */
class AccessiblePageTest extends PageBase {
  @ParameterizedTest
  @CsvSource({"DARK,1280", "LIGHT,360"})
  void everyKindOfThingThatIsShown(ColorScheme scheme, int width) {
    JsonObject state = Facts.lone("orders", 12, "billing", "amber", "birch", "cedar");
    JsonObject group = state.getJsonObject("groups").getJsonObject("billing");
    JsonObject shards = group.getJsonObject("shards");
    shards.getJsonObject("orders/3").put("state", "DRAINING").put("nextOwner", "cedar");
    shards.getJsonObject("orders/5").remove("lag");
    shards.getJsonObject("orders/6").put("lag", 4_000_000);
    shards.put("orders/11", Facts.shard("orders", 11, null, 3).put("nextOwner", "birch"));
    group.getJsonObject("members").getJsonObject("birch").put("lastHeartbeatMs", 4000);
    group.getJsonObject("members").getJsonObject("cedar").remove("lastHeartbeatMs");
    state.getJsonObject("groups").put("waiting", Facts.group("orders", 2));
    state.getJsonObject("cluster").remove("dispatcher");
    state
        .getJsonObject("cluster")
        .getJsonObject("nodes")
        .put("n2", new JsonObject().put("alive", false))
        .put("n3", new JsonObject());
    state
        .getJsonObject("moves")
        .put("1", Facts.move("billing", "orders", 3, null, "birch", "member joined"));
    visit(scheme, ReducedMotion.REDUCE, width, 800, state, "#group=billing");
    assertNothingSerious();
    visit.shard("orders/3").click();
    visit.reads(visit.details(), "shard orders/3");
    assertNothingSerious();
    live.cut();
    visit.seesStale();
    assertNothingSerious();
  }

  @ParameterizedTest
  @CsvSource({"DARK,1280", "LIGHT,360"})
  void aGroupInModeLevel(ColorScheme scheme, int width) {
    JsonObject state = Facts.empty();
    JsonObject group = Facts.level("orders", 12, 10, "amber", "birch", "cedar");
    group.getJsonObject("level").put("holder", "amber").put("heldMs", 1_234);
    state.getJsonObject("groups").put("billing", group);
    visit(scheme, ReducedMotion.REDUCE, width, 800, state, "#group=billing");
    visit.reads(visit.level("billing"), "amber holds the round for 1.2 s");
    assertNothingSerious();
    live.change(Facts.patch(Facts.level("orders", 12, 100, many()), "groups", "billing"));
    visit.reads(visit.level("billing"), "m59");
    assertNothingSerious();
  }

  private static String[] many() {
    return IntStream.range(0, 60).mapToObj(i -> "m" + i).toArray(String[]::new);
  }

  @ParameterizedTest
  @CsvSource({"DARK", "LIGHT"})
  void manyAndNothing(ColorScheme scheme) {
    visit(scheme, Facts.large(40, 500));
    visit.sees(visit.lane("c040"));
    assertNothingSerious();
    live.resend(Facts.empty());
    visit.sees(visit.page().getByText("There is no group “large” now"));
    visit.page().navigate(live.url() + "#/");
    visit.sees(visit.page().getByText("No group of consumers yet"));
    assertNothingSerious();
  }
}
