package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.client.internal.member.AddressOptions;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.gateway.http.WebOptions;
import dev.evenkeel.gateway.session.SessionOptions;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The defaults and bounds in the tables of the pages are those of the settings. */
class SettingsPagesTest {
  private static final Path PAGES = Path.of("src/site/markdown");

  /** A heading of verticles.md, or the first cell of a table → its settings. */
  private static final Map<String, Settings> KINDS =
      Map.ofEntries(
          Map.entry("BrokerVerticle", BrokerOptions.SETTINGS),
          Map.entry("DispatcherVerticle", DispatcherOptions.SETTINGS),
          Map.entry("WebVerticle", WebOptions.SETTINGS),
          Map.entry("SessionVerticle", SessionOptions.SETTINGS),
          Map.entry("ConsumerVerticle", ConsumerOptions.settings()),
          Map.entry("ProducerVerticle", ProducerOptions.settings()),
          Map.entry("`ConsumerOptions`", ConsumerOptions.settings()),
          Map.entry("`ProducerOptions`", ProducerOptions.settings()),
          Map.entry("`ClientOptions`", ClientOptions.settings()),
          Map.entry("`CoordinatorOptions`", CoordinatorOptions.settings()),
          Map.entry("option of an address", AddressOptions.settings()),
          Map.entry("`DedupOptions`", DedupOptions.settings()));

  private static final Pattern NAME = Pattern.compile("`([\\w-]+)`");
  private static final Pattern BOUNDS =
      Pattern.compile("(?<![\\w,])(\\d[\\d,]*\\w*) to (\\d[\\d,]*+\\w*+)(?!,? by)");
  private static final Pattern MOST = Pattern.compile("(?:at most|up to) (\\d[\\d,]*+\\w*+)");
  private static final Pattern LEAST = Pattern.compile("at least (\\d[\\d,]*+\\w*+)(?! [+×])");

  private final Set<Setting<?>> seen = new HashSet<>();
  private int defaults;
  private int bounds;

  private void check(String page, Settings settings, String line) {
    String[] cells = line.split("\\|");
    List<Setting<?>> named = new ArrayList<>();
    Matcher name = NAME.matcher(cells[1]);
    while (name.find()) {
      Setting<?> setting = settings.byKey().get(name.group(1));
      if (setting != null) {
        named.add(setting);
      }
    }
    seen.addAll(named);
    if (named.isEmpty()) {
      return;
    }
    String[] written =
        named.size() == 1 ? new String[] {cells[2]} : cells[2].split(",(?= )", named.size());
    for (int i = 0; i < written.length; i++) {
      checkDefault(page, named.get(i), written[i].trim().replace("`", ""));
    }
    if (named.size() == 1) {
      checkBounds(
          page, named.get(0), String.join("|", Arrays.asList(cells).subList(3, cells.length)));
    }
  }

  private void checkDefault(String page, Setting<?> setting, String written) {
    String unset = setting.usualText();
    if (unset == null || unset.isEmpty()) {
      assertThat(written)
          .as("%s: %s has no default", page, setting)
          .doesNotMatch("\\d+\\w*|true|false");
      return;
    }
    assertThat(same(setting, written) || isSentence(written))
        .as("%s: %s is %s, and by default %s", page, setting, written, unset)
        .isTrue();
    if (same(setting, written)) {
      defaults++;
    }
  }

  private static boolean same(Setting<?> setting, String written) {
    String plain = plain(written.split(";")[0]);
    String unset = setting.usualText();
    return unset != null
        && (Stream.of(unset, String.valueOf(setting.usual()))
                .anyMatch(text -> plain(text).equalsIgnoreCase(plain))
            || setting.usual().equals(meant(setting, plain)));
  }

  /** The value that people mean; null: it is none. */
  private static Object meant(Setting<?> setting, String text) {
    try {
      return setting.parse(text);
    } catch (RefusedException e) {
      return null;
    }
  }

  /** Without units, spaces and hyphens in the way in which pages write them for people. */
  private static String plain(String written) {
    return written
        .trim()
        .replaceAll("^\\[|\\]$|^\"\"$", "")
        .replaceAll("(?<=\\d),(?=\\d{3}(\\D|$))", "")
        .replaceAll(" ?(s|m)(in|econds?|inutes?)$", "$1")
        .replaceAll("[-_ ]", "");
  }

  /** Words about what else counts, such as "the same as host". */
  private static boolean isSentence(String written) {
    return written.matches("\\D\\S* .*");
  }

  private void checkBounds(String page, Setting<?> setting, String meaning) {
    Matcher both = BOUNDS.matcher(meaning);
    if (both.find()) {
      checkBound(page, setting, both.group(1), setting.min());
      checkBound(page, setting, both.group(2), setting.max());
      return;
    }
    Matcher most = MOST.matcher(meaning);
    if (most.find()) {
      checkBound(
          page, setting, most.group(1), setting.isList() ? setting.itemsMax() : setting.max());
    }
    Matcher least = LEAST.matcher(meaning);
    if (least.find()) {
      checkBound(page, setting, least.group(1), setting.min());
    }
  }

  private void checkBound(String page, Setting<?> setting, String written, long bound) {
    String plain = written.replace(",", "");
    boolean same =
        Stream.of(Long.toString(bound), setting.text(bound)).anyMatch(plain::equals)
            || meant(setting, plain) instanceof Number number && number.longValue() == bound;
    assertThat(same).as("%s: bound %s of %s is %s", page, plain, setting, bound).isTrue();
    bounds++;
  }

  @Test
  void defaultsAndBoundsAreThoseOfTheSettings() throws IOException {
    for (Path page : pages()) {
      boolean ofNodes = page.endsWith("operate/configuration.md");
      Settings ofSection = ofNodes ? NodeOptions.SETTINGS : null;
      Settings settings = null;
      for (String line : Files.readAllLines(page)) {
        if (line.startsWith("## ") && page.endsWith("verticles.md")) {
          ofSection = KINDS.get(line.substring(3));
        }
        String first = line.startsWith("| ") ? line.substring(2).split(" \\|")[0] : "";
        if (!line.startsWith("|")) {
          settings = null;
        } else if (line.contains("| default |")) {
          settings = first.equals("key") ? ofSection : KINDS.get(first);
        } else if (settings != null) {
          check(page.toString(), settings, line);
        }
      }
    }
    kinds().forEach(kind -> assertThat(seen).containsAll(kind.all()));
    assertThat(defaults).isGreaterThan(120);
    assertThat(bounds).isGreaterThan(30);
  }

  private static Stream<Settings> kinds() {
    return Stream.concat(KINDS.values().stream(), Stream.of(NodeOptions.SETTINGS));
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(Path.of("README.md")));
    try (Stream<Path> files = Files.walk(PAGES)) {
      files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }

  @Test
  void theExampleOfTheFileShowsDefaultsAndBounds() throws IOException {
    Set<String> shown = new HashSet<>();
    StringBuilder comment = new StringBuilder();
    for (String line : Files.readAllLines(Path.of("conf/evenkeel.yaml"))) {
      Matcher value = Pattern.compile("# ([a-z-]+): (\\S.*)").matcher(line);
      Setting<?> setting =
          value.matches() ? NodeOptions.SETTINGS.byKey().get(value.group(1)) : null;
      if (setting != null) {
        shown.add(setting.key());
        assertThat(same(setting, value.group(2)))
            .as("%s, and by default %s", line, setting.usualText())
            .isTrue();
        checkBounds("conf/evenkeel.yaml", setting, comment.toString());
      }
      comment.append(line.startsWith("# ") ? line.substring(1) : "");
      if (line.isEmpty()) {
        comment.setLength(0);
      }
    }
    assertThat(shown).isEqualTo(NodeOptions.SETTINGS.byKey().keySet());
    assertThat(bounds).isGreaterThan(20);
  }

  /** In sentences, a default stands behind its setting: "`key` (5 s)" or "(`key`, 5 s)". */
  @Test
  void defaultsInSentencesAreThoseOfTheSettings() throws IOException {
    Map<String, Setting<?>> byName = new HashMap<>();
    kinds().flatMap(kind -> kind.all().stream()).forEach(each -> byName.put(each.key(), each));
    ConsumerOptions.settings().all().forEach(each -> byName.put(each.option(), each));
    Map.of("member timeout", "memberTimeoutMillis", "lock time", "lockTimeMillis")
        .forEach((words, key) -> byName.put(words, ConsumerOptions.settings().of(key)));
    byName.put("delivery timeout", ProducerOptions.settings().of("deliveryTimeoutMillis"));
    Pattern behind =
        Pattern.compile(
            "(?:`(-*[a-z][\\w-]+)`(?:\\]\\(\\S+\\))?|(member timeout|lock time|delivery timeout))"
                + "(?: \\(|, | of | \\| )(\\d[\\d,]*(?: (?:ms|s|min|minutes|h|KiB|MiB|GiB))?)"
                + "(?=\\)| by default| is over| \\()");
    List<String> wrong = new ArrayList<>();
    int found = 0;
    for (Path page : pages()) {
      Matcher place = behind.matcher(Files.readString(page).replaceAll("\\s+", " "));
      while (place.find()) {
        Setting<?> setting = byName.get(place.group(1) == null ? place.group(2) : place.group(1));
        if (setting != null && setting.usualText() != null) {
          found++;
          if (!same(setting, place.group(3))) {
            wrong.add(page + ": " + place.group() + ", and by default " + setting.usualText());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(found).isGreaterThan(20);
  }

  /** Doc comments of setters say defaults in words: "by default 3,000", "by default 2 minutes". */
  @Test
  void defaultsInDocCommentsAreThoseOfTheSettings() throws IOException {
    Pattern setter =
        Pattern.compile(
            "/\\*\\*((?:(?!\\*/).)*+)\\*/\\s+public \\w+ set(\\w)(\\w+)\\(", Pattern.DOTALL);
    Pattern value =
        Pattern.compile("by default (\\d[\\d,]*(?: (?:seconds?|minutes?|[KMG]iB))?|[A-Z_]{2,})\\b");
    List<String> wrong = new ArrayList<>();
    int found = 0;
    for (String type : List.of("ConsumerOptions", "ProducerOptions", "ClientOptions")) {
      Path source = Path.of("src/main/java/dev/evenkeel/client", type + ".java");
      Matcher method = setter.matcher(Files.readString(source));
      while (method.find()) {
        String key = method.group(2).toLowerCase(Locale.ROOT) + method.group(3);
        Setting<?> setting = KINDS.get("`" + type + "`").byKey().get(key);
        Matcher said = value.matcher(method.group(1).replaceAll("\\s+\\*\\s+", " "));
        if (setting != null && said.find()) {
          found++;
          if (!same(setting, said.group(1))) {
            wrong.add(type + "." + key + ": " + said.group() + ", not " + setting.usualText());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(found).isGreaterThan(30);
  }

  /** Tables of options say the defaults that the help of some command, or the setting, says. */
  @Test
  void defaultsOfOptionsAreThoseOfTheirHelp() throws IOException {
    Map<String, Set<String>> known = new HashMap<>();
    addDefaults(Main.commandLine(), known);
    Stream.concat(kinds(), Stream.of(TopicSettings.settings()))
        .flatMap(kind -> kind.all().stream())
        .filter(setting -> setting.usualText() != null)
        .forEach(setting -> add(known, setting.option(), setting.usualText()));
    Pattern row = Pattern.compile("\\| `(--[\\w-]+).*?` \\| `?(\\w[^|`]*).*");
    List<String> wrong = new ArrayList<>();
    int found = 0;
    for (Path page : pages()) {
      boolean options = false;
      for (String line : Files.readAllLines(page)) {
        options = line.startsWith("|") && (options || line.startsWith("| option | default |"));
        Matcher option = row.matcher(line);
        if (options && option.matches() && !isSentence(option.group(2).trim())) {
          String written = normal(option.group(2).split(";")[0]);
          Set<String> said = known.getOrDefault(option.group(1), Set.of());
          found += said.isEmpty() ? 0 : 1;
          if (written.matches("\\d.*") ? !said.contains(written) : !words(written, said)) {
            wrong.add(page + ": " + option.group(1) + " " + written + ", but its help: " + said);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(found).isGreaterThan(30);
  }

  /** Whether one of the defaults is this word, or is no value if the word is none. */
  private static boolean words(String written, Set<String> said) {
    return said.isEmpty()
        || said.stream()
            .anyMatch(
                each ->
                    each.startsWith(written)
                        || each.endsWith(written)
                        || written.matches("off|none|required") && !each.matches("\\d.*"));
  }

  private static void addDefaults(CommandLine command, Map<String, Set<String>> known) {
    Pattern usual = Pattern.compile("\\(default: (.+?)(?:;.*)?\\)");
    for (OptionSpec option : command.getCommandSpec().options()) {
      Matcher help = usual.matcher(String.join(" ", option.description()));
      if (help.find()) {
        String said = help.group(1).replace("${DEFAULT-VALUE}", "" + option.defaultValue());
        add(known, option.longestName(), said);
      }
    }
    command.getSubcommands().values().forEach(each -> addDefaults(each, known));
  }

  private static void add(Map<String, Set<String>> known, String option, String value) {
    known.computeIfAbsent(option, any -> new TreeSet<>()).add(normal(value));
  }

  /** Times in milliseconds, so that 60s is 1m. */
  private static String normal(String value) {
    try {
      return Durations.parseMillis(value.trim()) + "ms";
    } catch (RefusedException e) {
      return plain(value);
    }
  }
}
