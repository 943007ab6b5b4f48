package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.gateway.http.WebOptions;
import dev.evenkeel.gateway.session.SessionOptions;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The defaults and bounds in the tables of the pages are those of the settings. */
class SettingsPagesTest {
  private static final Path PAGES = Path.of("src/site/markdown");

  /** A heading of verticles.md, or the first cell of a table → its settings. */
  private static final Map<String, Settings> KINDS =
      Map.of(
          "BrokerVerticle", BrokerOptions.SETTINGS,
          "DispatcherVerticle", DispatcherOptions.SETTINGS,
          "WebVerticle", WebOptions.SETTINGS,
          "SessionVerticle", SessionOptions.SETTINGS,
          "ConsumerVerticle", ConsumerOptions.settings(),
          "ProducerVerticle", ProducerOptions.settings(),
          "`ConsumerOptions`", ConsumerOptions.settings(),
          "`ProducerOptions`", ProducerOptions.settings(),
          "`ClientOptions`", ClientOptions.settings());

  private static final Pattern NAME = Pattern.compile("`([\\w-]+)`");
  private static final Pattern BOUNDS =
      Pattern.compile("(?<![\\w,])(\\d[\\d,]*\\w*) to (\\d[\\d,]*+\\w*+)(?!,? by)");
  private static final Pattern MOST = Pattern.compile("(?:at most|up to) (\\d[\\d,]*+\\w*+)");
  private static final Pattern LEAST = Pattern.compile("at least (\\d[\\d,]*+\\w*+)(?! [+×])");

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
    String json = String.valueOf(setting.usual()).replaceAll("^\\[|\\]$", "");
    boolean same =
        Stream.of(unset, json)
            .anyMatch(text -> text.replace("-", "_").equalsIgnoreCase(written.replace("-", "_")));
    boolean words = !written.matches("-?\\d+\\w*|true|false|\\w+");
    assertThat(same || words)
        .as("%s: %s is %s, and by default %s", page, setting, written, unset)
        .isTrue();
    if (same) {
      defaults++;
    }
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
    assertThat(List.of(plain))
        .as("%s: bound of %s", page, setting)
        .containsAnyOf(Long.toString(bound), setting.text(bound));
    bounds++;
  }

  @Test
  void defaultsAndBoundsAreThoseOfTheSettings() throws IOException {
    List<Path> pages = new ArrayList<>();
    try (Stream<Path> files = Files.walk(PAGES)) {
      files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    for (Path page : pages) {
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
    assertThat(defaults).isGreaterThan(120);
    assertThat(bounds).isGreaterThan(30);
  }
}
