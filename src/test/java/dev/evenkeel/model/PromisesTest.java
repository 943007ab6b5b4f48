package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the pages promise is known as a {@link Promise}, word by word, and says who checks it. A
 * page that changes so makes somebody look at its check. Writes {@code target/model/promises.csv}:
 * page, words, and who checks them.
 */
class PromisesTest {
  private static final Path PAGES = Path.of("src/site/markdown");
  private static final Path MODEL = Path.of("src/test/java/dev/evenkeel/model");

  /** A heading above promises. What is below it, also under lower headings, is promised. */
  private static final Pattern PROMISES =
      Pattern.compile("(?i)(#+) .*(guarantee|what is promised).*");

  /** Where a paragraph, an entry of a list or a row of a table begins. */
  private static final Pattern BEGINNING = Pattern.compile("\\s*(- |\\d+\\. |\\|).*");

  @Test
  void eachStandsInItsPage() throws IOException {
    List<String> gone = new ArrayList<>();
    for (Promise each : Promise.values()) {
      if (!plain(Files.readString(PAGES.resolve(each.page))).contains(each.words)) {
        gone.add(each + ": " + each.page + ": " + each.words);
      }
    }
    assertThat(gone).as("no longer in their pages").isEmpty();
  }

  @Test
  void nothingUnderGuaranteesIsLeftOut() throws IOException {
    try (Stream<Path> pages = Files.walk(PAGES)) {
      List<Path> all = pages.filter(page -> page.toString().endsWith(".md")).sorted().toList();
      List<String> headings = new ArrayList<>();
      List<String> leftOut = new ArrayList<>();
      for (Path page : all) {
        String name = PAGES.relativize(page).toString();
        if (name.startsWith("adr/")) {
          continue;
        }
        for (String part : promised(Files.readAllLines(page), headings)) {
          boolean known =
              Arrays.stream(Promise.values())
                  .anyMatch(each -> each.page.equals(name) && part.contains(each.words));
          if (!known) {
            leftOut.add(name + ": " + part);
          }
        }
      }
      assertThat(headings).hasSizeGreaterThan(5);
      assertThat(leftOut).as("promised, but no Promise").isEmpty();
    }
  }

  @Test
  void somebodyChecksThem() throws IOException, ReflectiveOperationException {
    String model = model();
    List<String> unchecked = new ArrayList<>();
    for (Promise each : Promise.values()) {
      if (each.by.equals(Promise.MODEL)) {
        Promise named = each.same == null ? each : each.same;
        if (!Pattern.compile("Promise\\." + named + "\\b").matcher(model).find()) {
          unchecked.add(each + ": the model does not name it");
        }
      } else if (!each.by.equals(Promise.NOBODY)
          && testsOf(Class.forName("dev.evenkeel." + each.by)) == 0) {
        unchecked.add(each + ": nothing is tested in " + each.by);
      }
    }
    List<String> lines = new ArrayList<>();
    for (Promise each : Promise.values()) {
      lines.add(String.join(",", each.page, '"' + each.words.replace("\"", "\"\"") + '"', each.by));
    }
    Path file = Path.of("target", "model", "promises.csv");
    Files.createDirectories(file.getParent());
    Files.write(file, lines);
    assertThat(unchecked).isEmpty();
  }

  /** The sources of the model, without the promises themselves. */
  private static String model() throws IOException {
    StringBuilder sources = new StringBuilder();
    try (Stream<Path> files = Files.list(MODEL)) {
      for (Path file : files.filter(each -> !each.endsWith("Promise.java")).toList()) {
        sources.append(Files.readString(file));
      }
    }
    return sources.toString();
  }

  private static long testsOf(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods()).filter(PromisesTest::isTest).count();
  }

  private static boolean isTest(Method method) {
    return Arrays.stream(method.getAnnotations())
        .anyMatch(each -> each.annotationType().getSimpleName().matches("\\w*(Test|Property)"));
  }

  /**
   * Each paragraph, entry of a list and row of a table below headings that promise. Leaves out code
   * and the heads of tables.
   */
  private static List<String> promised(List<String> lines, List<String> headings) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    int level = 0;
    boolean code = false;
    for (int i = 0; i <= lines.size(); i++) {
      String line = i < lines.size() ? lines.get(i) : "";
      boolean heading = !code && line.matches("#+ .*");
      boolean fence = line.startsWith("```");
      if (heading || fence || line.isBlank() || BEGINNING.matcher(line).matches()) {
        if (level > 0 && !part.toString().isBlank()) {
          parts.add(plain(part.toString()));
        }
        part.setLength(0);
      }
      code ^= fence;
      if (heading && line.indexOf(' ') <= level) {
        level = 0;
      }
      if (heading && level == 0 && PROMISES.matcher(line).matches()) {
        level = line.indexOf(' ');
        headings.add(line);
      }
      boolean head = line.startsWith("|") && i + 1 < lines.size() && rule(lines.get(i + 1));
      if (!heading && !fence && !code && !head && !rule(line)) {
        part.append(line).append(' ');
      }
    }
    return parts;
  }

  private static boolean rule(String line) {
    return line.matches("\\|(-+\\|)+");
  }

  /** The words of a page: without links, emphasis and the breaks of lines. */
  private static String plain(String markdown) {
    return markdown
        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
        .replaceAll("\\*", "")
        .replaceAll("\\s+", " ");
  }
}
