package dev.evenkeel.cli;

import dev.evenkeel.Golden;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What {@code group describe} prints of made-up groups of every mode. */
class GroupGoldenTest {
  @Test
  void whatIsPrintedOfAGroupIsAlwaysTheSame() throws IOException {
    var facts = new JsonObject(Files.readString(Path.of("src/test/resources/golden/facts.json")));
    StringBuilder shown = new StringBuilder();
    for (Map.Entry<String, Object> each : facts.getJsonObject("groups")) {
      shown.append(GroupTexts.of((JsonObject) each.getValue())).append('\n');
    }
    Golden.check("describe.txt", shown.toString());
  }
}
