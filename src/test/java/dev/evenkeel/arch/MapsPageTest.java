package dev.evenkeel.arch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.maps.DedupKeyEntry;
import dev.evenkeel.bus.maps.OwnershipEntry;
import dev.evenkeel.bus.maps.RegistryEntry;
import dev.evenkeel.cluster.SharedMaps;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about the shared maps lists their names and fields as the code has them. */
class MapsPageTest {
  private static final Pattern SECTION = Pattern.compile("(?ms)^## `([^`]+)`\\n(.*?)(?=^## |\\z)");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| (.+) \\|$");

  private static final Map<String, Class<? extends Record>> ENTRIES =
      Map.of(
          SharedMaps.OWNERSHIP,
          OwnershipEntry.class,
          SharedMaps.REGISTRY,
          RegistryEntry.class,
          SharedMaps.DEDUP_KEYS,
          DedupKeyEntry.class);

  private final String page;

  MapsPageTest() throws IOException {
    page = Files.readString(Path.of("src/site/markdown/operate/maps.md"));
  }

  @Test
  void listsEveryFieldOfEveryMapWithItsType() {
    Map<String, String> sections = new LinkedHashMap<>();
    Matcher section = SECTION.matcher(page);
    while (section.find()) {
      sections.put(section.group(1), section.group(2));
    }
    assertThat(sections).containsOnlyKeys(ENTRIES.keySet());
    sections.forEach(
        (map, text) -> {
          List<String> listed = new ArrayList<>();
          Matcher row = ROW.matcher(text);
          while (row.find()) {
            listed.add(row.group(1) + ": " + row.group(2));
            assertThat(row.group(3)).as("%s of %s", row.group(1), map).endsWith(".");
          }
          assertThat(listed).as(map).isEqualTo(fields(ENTRIES.get(map)));
        });
  }

  private static List<String> fields(Class<? extends Record> entry) {
    return Stream.of(entry.getRecordComponents())
        .map(each -> each.getName() + ": " + type(each))
        .toList();
  }

  private static String type(RecordComponent component) {
    String type = component.getGenericType().getTypeName().replaceAll("(\\w+\\.)+", "");
    return switch (type) {
      case "int", "long", "Integer", "Long" -> "number";
      case "String" -> "text";
      case "List<String>" -> "array of texts";
      case "List<Long>" -> "array of numbers";
      default -> component.getType().isEnum() ? "text" : "the page has no word for a " + type;
    };
  }

  @Test
  void namesTheVersions() {
    assertThat(List.of(OwnershipEntry.VERSION, RegistryEntry.VERSION, DedupKeyEntry.VERSION))
        .allSatisfy(version -> assertThat(page).contains("The version: " + version + "."))
        .containsOnly(1);
  }

  @Test
  void showsAnEntryAsItIsWritten() {
    Matcher shown = Pattern.compile("(?m)^\\{\"v\":.*\\}$").matcher(page);
    assertThat(shown.find()).isTrue();
    JsonObject json = new JsonObject(shown.group());
    assertThat(json.fieldNames())
        .containsExactly(
            Stream.of(OwnershipEntry.class.getRecordComponents())
                .map(RecordComponent::getName)
                .toArray(String[]::new));
    assertThat(OwnershipEntry.of("billing/orders/3", json)).isNotNull();
  }

  @Test
  void showsJavaThatIsInTheExample() throws IOException {
    String example = Files.readString(Path.of("src/test/java/examples/MapsExample.java"));
    Matcher java = Pattern.compile("(?s)```java\\n(.*?)```").matcher(page);
    assertThat(java.find()).isTrue();
    assertThat(plain(example)).contains(plain(java.group(1)));
    assertThat(ENTRIES.keySet())
        .filteredOn(map -> !map.equals(SharedMaps.DEDUP_KEYS))
        .allSatisfy(map -> assertThat(example).contains('"' + map + '"'));
  }

  /** Without what depends on where a line is wrapped. */
  private static String plain(String code) {
    return code.replaceAll("\\s+", "");
  }
}
