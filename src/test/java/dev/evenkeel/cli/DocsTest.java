package dev.evenkeel.cli;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

/** The pages for users lead where they say, and leave no setting out. */
class DocsTest {
  private static final Path PAGES = Path.of("src/site/markdown");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]*)(#[^)]+)?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(Path.of("README.md")));
    try (Stream<Path> files = Files.walk(PAGES)) {
      files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        if (link.group(1).startsWith("http")) {
          continue;
        }
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        assertThat(target.normalize()).as("linked from %s", page).exists();
        if (link.group(2) != null) {
          assertThat(anchors(target)).as("%s in %s", link.group(), page).contains(link.group(2));
        }
      }
    }
  }

  private static List<String> anchors(Path page) throws IOException {
    return HEADING
        .matcher(Files.readString(page))
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(text -> "#" + text.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
        .toList();
  }

  @Test
  void everySettingIsExplained() throws IOException {
    String settings = Files.readString(PAGES.resolve("operate/configuration.md"));
    String example = Files.readString(Path.of("conf/evenkeel.yaml"));
    for (String key : NodeOptions.SETTINGS.byKey().keySet()) {
      assertThat(settings).contains("| `" + key + "` |");
      assertThat(example).contains("# " + key + ": ");
    }
  }

  @Test
  void everyOptionOfACommandIsExplained() throws IOException {
    StringBuilder text = new StringBuilder();
    for (Path page : pages()) {
      if (page.toString().contains("command-line")) {
        text.append(Files.readString(page));
      }
    }
    Map<String, CommandLine> commands = Main.commandLine().getSubcommands();
    List<CommandLine> explained = new ArrayList<>(commands.get("topic").getSubcommands().values());
    explained.addAll(
        List.of(commands.get("produce"), commands.get("consume"), commands.get("run")));
    for (CommandLine command : explained) {
      command.getCommandSpec().options().stream()
          .filter(option -> !option.hidden())
          .map(option -> option.longestName())
          .filter(name -> !name.equals("--version"))
          .forEach(
              name -> assertThat(text).as("option of %s", command.getCommandName()).contains(name));
    }
  }

  /** Whoever raises a library also looks what the page of advisories says about it. */
  @Test
  void thePageOfAdvisoriesIsAboutTheVersionsOfTheBuild() throws IOException {
    String page = Files.readString(PAGES.resolve("operate/advisories.md"));
    String pom = Files.readString(Path.of("pom.xml"));
    for (String library :
        List.of(
            words(
                """
                vertx ratis rocksdb lz4 zstd picocli logback netty jackson snakeyaml
                micrometer opentelemetry hdrhistogram
                """))) {
      var version = Pattern.compile("<" + library + "\\.version>([^<]+?)(\\.Final)?<").matcher(pom);
      assertThat(version.find()).as(library).isTrue();
      assertThat(page).as(library).contains(version.group(1));
    }
  }

  @Test
  void everyAlarmIsExplainedAndAboutDocumentedMetrics() throws IOException {
    String alarms = Files.readString(PAGES.resolve("operate/alarms.md"));
    String metrics = Files.readString(PAGES.resolve("operate/metrics.md"));
    Map<String, List<Map<String, List<Map<String, Object>>>>> file =
        new Yaml().load(Files.readString(Path.of("conf/prometheus-rules.yaml")));
    List<Map<String, Object>> rules = file.get("groups").get(0).get("rules");
    assertThat(rules).hasSizeGreaterThan(5);
    for (Map<String, Object> rule : rules) {
      assertThat(alarms).contains("(`" + rule.get("alert") + "`)");
      List<String> names =
          Pattern.compile("evenkeel_\\w+")
              .matcher((String) rule.get("expr"))
              .results()
              .map(match -> match.group().replaceAll("_(bucket|max)$", ""))
              .toList();
      assertThat(names).as("in %s", rule.get("alert")).isNotEmpty();
      names.forEach(name -> assertThat(metrics).contains("| `" + name + "` |"));
    }
  }
}
