package dev.evenkeel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Prometheus' text format, read as strictly as its own checker does; what breaks a rule is an
 * {@link AssertionError} that names the line.
 */
public final class PrometheusText {
  private static final Pattern COMMENT =
      Pattern.compile("# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)\\})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("\\G([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\[\\\\\"n])*)\"(?:,|$)");

  /** Family → type, in their order. */
  public final Map<String, String> types = new LinkedHashMap<>();

  private final Set<String> helped = new HashSet<>();
  private final Map<String, Double> series = new LinkedHashMap<>();

  /** Name of a sample → names of the labels that its series have. */
  public final Map<String, Set<String>> labelNames = new LinkedHashMap<>();

  private PrometheusText() {}

  /** Reads text in the form 0.0.4. */
  public static PrometheusText parse(String text) {
    return read(text, false);
  }

  /** Reads OpenMetrics 1.0. */
  public static PrometheusText parseOpenMetrics(String text) {
    check(text.endsWith("# EOF\n"), "the end is missing");
    return read(text.substring(0, text.length() - "# EOF\n".length()), true);
  }

  private static PrometheusText read(String text, boolean open) {
    check(text.endsWith("\n"), "the last line does not end");
    PrometheusText read = new PrometheusText();
    String family = "";
    Set<String> ended = new HashSet<>();
    for (String line : text.split("\n")) {
      Matcher comment = COMMENT.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      String of;
      if (comment.matches()) {
        of = comment.group(2);
        read.comment(comment, line);
      } else if (sample.matches()) {
        of = read.sample(sample, line, open);
      } else {
        throw new AssertionError("not a line of the format: " + line);
      }
      if (!of.equals(family)) {
        check(ended.add(family), "a family in two places: " + line);
        check(!ended.contains(of), "a family in two places: " + line);
        family = of;
      }
    }
    read.checkHistograms();
    return read;
  }

  private static void check(boolean right, String wrong) {
    if (!right) {
      throw new AssertionError(wrong);
    }
  }

  private void comment(Matcher comment, String line) {
    String name = comment.group(2);
    if (comment.group(1).equals("TYPE")) {
      check(types.put(name, comment.group(3)) == null, "two types: " + line);
      check(
          Set.of("counter", "gauge", "histogram", "summary", "info").contains(comment.group(3)),
          "unknown type: " + line);
    } else if (comment.group(1).equals("HELP")) {
      check(helped.add(name), "two helps: " + line);
    }
  }

  private String sample(Matcher sample, String line, boolean open) {
    String name = sample.group(1);
    Map<String, String> labels = labels(sample.group(2), line);
    labelNames.computeIfAbsent(name, none -> new HashSet<>()).addAll(labels.keySet());
    String family = familyOf(name, open);
    check(family != null, "no type for: " + line);
    check(helped.contains(family), "no help for: " + line);
    if (types.get(family).equals("counter")) {
      check(name.endsWith("_total"), "a counter without _total: " + line);
    }
    check(!name.matches(".*[A-Z].*"), "capitals: " + line);
    double value =
        switch (sample.group(3)) {
          case "NaN" -> Double.NaN;
          case "+Inf" -> Double.POSITIVE_INFINITY;
          case "-Inf" -> Double.NEGATIVE_INFINITY;
          default -> Double.parseDouble(sample.group(3));
        };
    check(series.put(name + labels, value) == null, "a series twice: " + line);
    return family;
  }

  private static Map<String, String> labels(String text, String line) {
    Map<String, String> labels = new java.util.TreeMap<>();
    if (text == null) {
      return labels;
    }
    Matcher label = LABEL.matcher(text);
    int end = 0;
    while (end < text.length() && label.find()) {
      check(labels.put(label.group(1), label.group(2)) == null, "a label twice: " + line);
      end = label.end();
    }
    check(end == text.length(), "malformed labels: " + line);
    return labels;
  }

  private String familyOf(String name, boolean open) {
    if (types.containsKey(name)) {
      return name;
    }
    List<String> suffixes = new ArrayList<>(List.of("_bucket", "_sum", "_count"));
    if (open) {
      suffixes.addAll(List.of("_total", "_info", "_created"));
    }
    for (String suffix : suffixes) {
      if (name.endsWith(suffix)) {
        String base = name.substring(0, name.length() - suffix.length());
        if (types.containsKey(base)) {
          return base;
        }
      }
    }
    return null;
  }

  /** Buckets grow, and the last one is the count. */
  private void checkHistograms() {
    Map<String, Double> last = new HashMap<>();
    series.forEach(
        (key, value) -> {
          int at = key.indexOf("_bucket{");
          if (at >= 0) {
            String of =
                key.substring(0, at)
                    + key.substring(at + 7).replaceAll("(, )?le=[^,}]*", "").replace("{, ", "{");
            check(value >= last.getOrDefault(of, 0.0), "buckets shrink: " + key);
            last.put(of, value);
          }
        });
    last.forEach(
        (of, value) -> {
          int brace = of.indexOf('{');
          Double count = series.get(of.substring(0, brace) + "_count" + of.substring(brace));
          check(value.equals(count), "the last bucket is not the count: " + of);
        });
  }

  /** The value of a series; {@code labels} are name, value, name, value. Null: there is none. */
  public Double value(String name, String... labels) {
    Map<String, String> map = new java.util.TreeMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      map.put(labels[i], labels[i + 1]);
    }
    return series.get(name + map);
  }

  /** The sum over all series of that name. */
  public double sum(String name) {
    return series.entrySet().stream()
        .filter(each -> each.getKey().startsWith(name + "{"))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  public int size() {
    return series.size();
  }
}
