package dev.evenkeel;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The dashboards of Grafana in {@code conf/grafana}, and what they ask Prometheus. */
public final class Dashboards {
  private static final Path DIRECTORY = Path.of("conf/grafana");
  private static final Pattern SELECTOR = Pattern.compile("([a-z][a-z0-9_]*)\\{([^}]*)}");
  private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)\\s*\"");
  private static final Pattern BY = Pattern.compile("\\bby \\(([^)]*)\\)");
  private static final Pattern IN_LEGEND = Pattern.compile("\\{\\{(\\w+)}}");

  /** Labels that Prometheus adds to what a node serves. */
  private static final Set<String> OF_TARGETS = Set.of("job", "instance");

  private Dashboards() {}

  /**
   * A question to Prometheus.
   *
   * @param where file and panel
   * @param legend the template of its legend; empty: none
   */
  public record Query(String where, String expression, String legend) {
    /** The names of the samples that it reads. */
    public Set<String> metrics() {
      return matches(SELECTOR, expression);
    }

    /** The labels that its samples must have. */
    public Set<String> labels() {
      Set<String> labels = new TreeSet<>(by());
      Matcher selector = SELECTOR.matcher(expression);
      while (selector.find()) {
        labels.addAll(matches(MATCHER, selector.group(2)));
      }
      labels.removeAll(OF_TARGETS);
      return labels;
    }

    /** The labels that its results have. */
    public Set<String> by() {
      return BY.matcher(expression)
          .results()
          .flatMap(each -> Stream.of(each.group(1).split(", *")))
          .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The labels that the legend shows. */
    public Set<String> inLegend() {
      return matches(IN_LEGEND, legend);
    }
  }

  private static Set<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(each -> each.group(1)).collect(Collectors.toSet());
  }

  /** The files. */
  public static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
  }

  /** A dashboard. */
  public static JsonObject read(Path file) throws IOException {
    return new JsonObject(Files.readString(file));
  }

  /** The panels of a dashboard, in their order. */
  public static List<JsonObject> panels(JsonObject dashboard) {
    return objects(dashboard, "panels");
  }

  /** The JSON objects in an array. */
  public static List<JsonObject> objects(JsonObject of, String array) {
    return of.getJsonArray(array).stream().map(JsonObject.class::cast).toList();
  }

  /** All queries of panels and variables. */
  public static List<Query> queries() throws IOException {
    List<Query> queries = new ArrayList<>();
    for (Path file : files()) {
      JsonObject dashboard = read(file);
      for (JsonObject panel : panels(dashboard)) {
        if (panel.containsKey("targets")) {
          for (JsonObject target : objects(panel, "targets")) {
            queries.add(
                new Query(
                    file.getFileName() + ": " + panel.getString("title"),
                    target.getString("expr"),
                    target.getString("legendFormat")));
          }
        }
      }
    }
    return queries;
  }
}
