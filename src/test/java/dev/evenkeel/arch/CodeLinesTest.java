package dev.evenkeel.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The size of each package in code lines, which are neither blank nor comments. A package that
 * grows, or becomes much smaller, needs another number in {@code code-lines.txt}, which a review
 * sees. {@code target/code-lines.txt} has the numbers of today. With {@code
 * -Devenkeel.golden.write=true} they become the budgets.
 */
class CodeLinesTest {
  private static final Path SOURCES = Path.of("src/main/java");
  private static final Path BUDGETS = Path.of("src/test/resources/code-lines.txt");
  private static final Path TABLE = Path.of("target/code-lines.txt");

  @Test
  void noPackageIsLargerOrMuchSmallerThanItsBudget() throws IOException {
    Map<String, Integer> lines = count();
    Files.createDirectories(TABLE.getParent());
    Files.writeString(TABLE, table(lines));
    if (Boolean.getBoolean("evenkeel.golden.write")) {
      Files.writeString(BUDGETS, table(lines));
    }
    assertThat(wrong(budgets(), lines)).as("lines to change in %s", BUDGETS).isEmpty();
  }

  @Test
  void aBudgetIsTheMostAndFivePercentOrFiftyLinesBelowItAreFree() {
    Map<String, Integer> budgets = Map.of("large", 2_000, "small", 100);
    assertThat(wrong(budgets, Map.of("large", 1_900, "small", 50))).isEmpty();
    assertThat(wrong(budgets, Map.of("large", 2_001, "small", 49, "new", 5)))
        .containsExactly(
            "write 'large 2001': the budget is 2000",
            "write 'new 5': the package has no budget",
            "write 'small 49': the budget is 100");
    assertThat(wrong(budgets, Map.of("large", 1_899)))
        .containsExactly(
            "write 'large 1899': the budget is 2000", "remove 'small': there is no such package");
  }

  @Test
  void blankLinesAndCommentsDoNotCount() {
    String source =
        """
        package a;

        /** Says what it is. */
        // Why.
        class A {
          /*
           * More, and
           */
          int b; // A field.
        }
        """;
    assertThat(codeLines(source.lines().toList())).isEqualTo(4);
  }

  private static List<String> wrong(Map<String, Integer> budgets, Map<String, Integer> lines) {
    TreeSet<String> names = new TreeSet<>(budgets.keySet());
    names.addAll(lines.keySet());
    List<String> wrong = new ArrayList<>();
    for (String name : names) {
      Integer budget = budgets.get(name);
      Integer now = lines.get(name);
      if (now == null) {
        wrong.add("remove '%s': there is no such package".formatted(name));
      } else if (budget == null) {
        wrong.add("write '%s %d': the package has no budget".formatted(name, now));
      } else if (now > budget || budget - now > Math.max(50, budget / 20)) {
        wrong.add("write '%s %d': the budget is %d".formatted(name, now, budget));
      }
    }
    return wrong;
  }

  private static Map<String, Integer> budgets() throws IOException {
    Map<String, Integer> budgets = new TreeMap<>();
    for (String row : Files.readAllLines(BUDGETS)) {
      String[] words = row.split(" ");
      budgets.put(words[0], Integer.valueOf(words[1]));
    }
    return budgets;
  }

  private static Map<String, Integer> count() throws IOException {
    Map<String, Integer> lines = new TreeMap<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String name = SOURCES.relativize(file).getParent().toString().replace('/', '.');
        lines.merge(name, codeLines(Files.readAllLines(file)), Integer::sum);
      }
    }
    return lines;
  }

  private static int codeLines(List<String> source) {
    int count = 0;
    boolean inComment = false;
    for (String each : source) {
      String line = each.strip();
      inComment |= line.startsWith("/*");
      if (!inComment && !line.isEmpty() && !line.startsWith("//")) {
        count++;
      }
      inComment &= !line.endsWith("*/");
    }
    return count;
  }

  private static String table(Map<String, Integer> lines) {
    StringBuilder table = new StringBuilder();
    lines.forEach((name, count) -> table.append(name).append(' ').append(count).append('\n'));
    return table.toString();
  }
}
