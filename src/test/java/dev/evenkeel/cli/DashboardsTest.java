package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Dashboards;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.awt.Rectangle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The dashboards are sound, and ask for documented metrics. */
class DashboardsTest {
  private static final int COLUMNS = 24;
  private static final Pattern VARIABLE = Pattern.compile("\\$(?:\\{)?([a-z]\\w*)");
  private static final Pattern OF_VARIABLE =
      Pattern.compile("label_values\\((\\w+)[{,].*\\b(\\w+)\\)");

  @Test
  void everyDashboardCanBeImported() throws IOException {
    Set<String> ids = new HashSet<>();
    for (Path file : Dashboards.files()) {
      String name = file.getFileName().toString();
      JsonObject dashboard = Dashboards.read(file);
      assertThat(dashboard.getInteger("schemaVersion")).as(name).isGreaterThanOrEqualTo(36);
      assertThat(dashboard.getString("title")).as(name).startsWith("Evenkeel: ");
      assertThat("evenkeel-" + name).isEqualTo(dashboard.getString("uid") + ".json");
      assertThat(ids.add(dashboard.getString("uid"))).as(name).isTrue();
      assertThat(dashboard.containsKey("id")).as("an id of one server, in %s", name).isFalse();
      Set<String> variables =
          Dashboards.objects(dashboard.getJsonObject("templating"), "list").stream()
              .map(each -> each.getString("name"))
              .collect(Collectors.toSet());
      assertThat(variables).as(name).contains("datasource", "cluster");
      Set<String> used =
          VARIABLE
              .matcher(dashboard.encode().replaceAll("\\$__\\w+", ""))
              .results()
              .map(each -> each.group(1))
              .collect(Collectors.toSet());
      assertThat(used).as("variables of %s", name).isEqualTo(variables);
    }
    assertThat(ids).hasSizeGreaterThan(3);
  }

  @Test
  void panelsHaveUnitsAndDoNotOverlap() throws IOException {
    for (Path file : Dashboards.files()) {
      Set<Integer> ids = new HashSet<>();
      List<Rectangle> places = new ArrayList<>();
      for (JsonObject panel : Dashboards.panels(Dashboards.read(file))) {
        String where = file.getFileName() + ": " + panel.getString("title");
        assertThat(ids.add(panel.getInteger("id"))).as("the id in %s", where).isTrue();
        JsonObject at = panel.getJsonObject("gridPos");
        Rectangle place =
            new Rectangle(
                at.getInteger("x"), at.getInteger("y"), at.getInteger("w"), at.getInteger("h"));
        assertThat(place.x + place.width).as(where).isLessThanOrEqualTo(COLUMNS);
        assertThat(places).as("above %s", where).noneMatch(place::intersects);
        places.add(place);
        if (!panel.getString("type").equals("row")) {
          assertThat(panel.getString("description")).as(where).isNotBlank();
          assertThat(panel.getJsonObject("fieldConfig").getJsonObject("defaults").getString("unit"))
              .as("the unit in %s", where)
              .isNotBlank();
          JsonArray targets = panel.getJsonArray("targets");
          assertThat(targets).as(where).isNotEmpty();
          assertThat(
                  Dashboards.objects(panel, "targets").stream()
                      .map(each -> each.getString("refId"))
                      .distinct())
              .as(where)
              .hasSize(targets.size());
        }
      }
    }
  }

  @Test
  void everyQueryIsAboutDocumentedMetrics() throws IOException {
    String metrics = Files.readString(Path.of("src/site/markdown/operate/metrics.md"));
    for (Dashboards.Query query : Dashboards.queries()) {
      assertThat(query.metrics()).as(query.where()).isNotEmpty();
      for (String name : query.metrics()) {
        assertThat(metrics)
            .as("%s in %s", name, query.where())
            .contains("`" + name.replaceAll("_(bucket|sum|count|max)$", "") + "`");
      }
      // What is left out of "by" is not there to be shown.
      assertThat(query.by()).as(query.where()).containsAll(query.inLegend());
    }
    for (Path file : Dashboards.files()) {
      for (JsonObject variable :
          Dashboards.objects(Dashboards.read(file).getJsonObject("templating"), "list")) {
        String definition = variable.getString("definition");
        if (definition != null) {
          assertThat(OF_VARIABLE.matcher(definition).results())
              .as(definition)
              .singleElement()
              .satisfies(found -> assertThat(metrics).contains("`" + found.group(1) + "`"));
        }
      }
    }
  }

  @Test
  void countersAndHistogramsAreReadAsRates() throws IOException {
    for (Dashboards.Query query : Dashboards.queries()) {
      for (String name : query.metrics()) {
        boolean grows = name.matches(".*_(total|bucket|sum|count)");
        boolean asIs = query.where().contains(": Damage");
        if (grows && !asIs) {
          assertThat(query.expression())
              .as(query.where())
              .containsPattern("(rate|increase)\\(" + name + "\\{");
        }
      }
    }
  }
}
