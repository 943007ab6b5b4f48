package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerticleConfigTest {
  @TempDir Path directory;

  private JsonObject read(String name, String text) throws Exception {
    return VerticleConfig.read(Files.writeString(directory.resolve(name), text));
  }

  @Test
  void jsonAndYamlSayTheSame() throws Exception {
    JsonObject expected =
        new JsonObject()
            .put("group", "g")
            .put("topics", new JsonArray().add("orders"))
            .put("since", "2026-01-31")
            .put("more", new JsonObject().put("7", true).putNull("none"));
    assertThat(
            read(
                "a.json",
                "{\"group\":\"g\",\n\t\"topics\":[\"orders\"],\"since\":\"2026-01-31\","
                    + "\"more\":{\"7\":true,\"none\":null}}"))
        .isEqualTo(expected);
    JsonObject yaml =
        read(
            "a.yaml", "group: g\ntopics: [orders]\nsince: 2026-01-31\nmore:\n  7: true\n  none:\n");
    assertThat(yaml).isEqualTo(expected);
    assertThat(yaml.copy().encode()).isEqualTo(expected.encode());
    assertThat(VerticleConfig.read(null)).isEmpty();
    assertThat(read("empty.yaml", "")).isEmpty();
  }

  @Test
  void anErrorNamesTheLine() {
    assertThatThrownBy(() -> read("a.json", "{\"a\": 1,\n\n \"b\" 2}"))
        .hasMessageContaining("a.json line 3: not JSON: Unexpected character ('2'");
    assertThatThrownBy(() -> read("a.yaml", "a: 1\nb: [\n"))
        .hasMessageContaining("a.yaml line 3: not YAML");
    assertThatThrownBy(() -> read("a.json", "[1]")).hasMessageContaining("write an object");
    assertThatThrownBy(() -> read("a.json", "")).hasMessageContaining("not JSON");
    assertThatThrownBy(() -> read("a.yaml", "- 1"))
        .hasMessageContaining("write lines of the form 'key: value'");
  }

  @Test
  void aFileThatCannotBeReadIsRefused() throws Exception {
    assertThatThrownBy(() -> VerticleConfig.read(directory.resolve("none.json")))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("there is no such file");
    assertThatThrownBy(() -> VerticleConfig.read(directory))
        .hasMessageContaining("that is a directory");
    Path bytes = Files.write(directory.resolve("b.json"), new byte[] {(byte) 0xff, 1});
    assertThatThrownBy(() -> VerticleConfig.read(bytes)).hasMessageContaining("not UTF-8");
  }
}
