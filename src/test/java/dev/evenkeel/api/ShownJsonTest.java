package dev.evenkeel.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.Json;
import org.junit.jupiter.api.Test;

class ShownJsonTest {
  private static void fits(String shown, String answer) {
    assertThat(ShownJson.differences(shown, Json.decodeValue(answer))).isEmpty();
  }

  private static void differs(String shown, String answer, String... differences) {
    assertThat(ShownJson.differences(shown, Json.decodeValue(answer)))
        .containsExactlyInAnyOrder(differences);
  }

  @Test
  void valuesMayDifferButNotFieldsAndTypes() {
    fits("{\"a\":1,\"b\":\"...\"}", "{\"a\":0.5,\"b\":\"x\"}");
    differs("{\"a\":1}", "{\"a\":\"1\"}", ".a is a string, not a number: 1");
    differs("{\"a\":null}", "{\"a\":false}", ".a is a boolean, not null: false");
    differs("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", ".b is missing", ".c is not shown");
    differs("{\"a\":{\"b\":1}}", "{\"a\":{}}", ".a.b is missing");
    differs("[]", "{}", " is an object, not an array: {}");
  }

  @Test
  void threeDotsAreMoreFieldsOrItems() {
    fits("{\"a\":1,...}", "{\"a\":1,\"c\":2}");
    fits("{...}", "{\"a\":1}");
    fits("{...}", "{}");
    differs("{\"a\":1,...}", "{\"c\":2}", ".a is missing");
    fits("[...]", "[1]");
    fits("[...]", "[]");
    fits("[]", "[]");
    differs("[]", "[1]", " has 1 items, not 0");
    differs("[1,...]", "[]", " has 0 items, not 1");
  }

  @Test
  void eachItemFitsOneThatIsShown() {
    fits("[{\"a\":1},{\"b\":1}]", "[{\"b\":2},{\"a\":1},{\"b\":1}]");
    differs("[{\"a\":1,...},...]", "[{\"a\":1},{\"b\":1}]", "[1].a is missing");
  }
}
