package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StatusTextTest {
  @Test
  void everyStatusHasPlainWordsInListsAndDetails() {
    for (GroupStatus status : GroupStatus.values()) {
      JsonObject listed = new JsonObject().put("status", status.name()).put("members", 2);
      assertThat(GroupTexts.status(listed)).hasSizeLessThan(30);
      if (status != GroupStatus.OK) {
        assertThat(GroupTexts.status(listed)).isLowerCase().doesNotContain("_");
      }
      assertThat(GroupTexts.status(listed.copy().put("members", 0))).isEqualTo("no members");
      JsonObject detail = listed.copy().put("members", new JsonArray().add(new JsonObject()));
      assertThat(GroupTexts.status(detail)).isEqualTo(GroupTexts.status(listed));
    }
    assertThat(GroupTexts.status(new JsonObject().put("status", "OK").put("members", 1)))
        .isEqualTo("OK");
  }

  @Test
  void aPausedGroupSaysSo() {
    JsonObject listed =
        JsonObject.of(
            "status", "OK", "members", 1, "shards", 4, "paused", false, "shardsPaused", 1);
    assertThat(GroupTexts.status(listed)).isEqualTo("OK, 1 shard paused");
    assertThat(GroupTexts.status(listed.put("shardsPaused", 2))).isEqualTo("OK, 2 shards paused");
    assertThat(GroupTexts.status(listed.put("paused", true))).isEqualTo("paused");
    assertThat(GroupTexts.status(listed.put("members", 0))).isEqualTo("paused, no members");
    JsonObject free = new JsonObject().put("paused", false);
    JsonObject detail =
        new JsonObject()
            .put("status", "OK")
            .put("members", new JsonArray().add(new JsonObject()))
            .put("shards", new JsonArray().add(free).add(new JsonObject().put("paused", true)));
    assertThat(GroupTexts.status(detail)).isEqualTo("OK, 1 shard paused");
  }

  @Test
  void thePageHasTheSameWords() throws IOException {
    String page =
        Files.readString(Path.of("src/main/resources/dev/evenkeel/gateway/http/page/js/words.js"));
    for (GroupStatus status : GroupStatus.values()) {
      String words =
          GroupTexts.status(new JsonObject().put("status", status.name()).put("members", 2));
      assertThat(page).contains("  " + status.name() + ": '" + words + "',");
    }
    assertThat(page).contains("members === 0 ? 'no members'");
  }

  @Test
  void whatIsUnknownStaysUnknown() {
    assertThat(GroupTexts.status(new JsonObject().putNull("status").put("members", 0))).isNull();
    assertThat(GroupTexts.status(new JsonObject().put("status", "NEWER"))).isEqualTo("NEWER");
  }
}
