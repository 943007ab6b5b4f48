package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Messages of the library name its settings, and those of commands their options. */
class AdviceTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/evenkeel");
  private static final Map<Class<?>, Settings> SETTINGS =
      Map.of(
          ClientOptions.class, ClientOptions.settings(),
          ConsumerOptions.class, ConsumerOptions.settings(),
          ProducerOptions.class, ProducerOptions.settings());

  /** Packages behind the Java API. Their messages name options of commands through Told alone. */
  private static final List<String> LIBRARY =
      List.of("broker", "bus", "cluster", "dispatcher", "gateway", "log", "storage");

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  @Test
  void theLibraryAdvisesNoOptionsOfCommands() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : sources()) {
      if (LIBRARY.contains(SOURCES.relativize(file).getName(0).toString())) {
        Pattern option = Pattern.compile("\"[^\"]*--[a-z]");
        Files.readAllLines(file).stream().filter(option.asPredicate()).forEach(found::add);
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void everySettingHasASetter() {
    SETTINGS.forEach(
        (options, settings) ->
            settings
                .all()
                .forEach(
                    setting -> {
                      String name = setting.setter(options).ofPrograms().split("\\.")[1];
                      boolean ofStart = name.startsWith("setStart");
                      assertThat(Stream.of(options.getMethods()).map(each -> each.getName()))
                          .contains(ofStart ? "setStart" : name);
                    }));
  }

  @Test
  void whatIsAdvisedInsteadIsAnOptionOfACommand() throws IOException {
    Pattern advice = Pattern.compile("(\\w+)Options\\s*\\.setter\\(\"(\\w+)\"\\)");
    TreeSet<String> options = new TreeSet<>();
    for (Path file : sources()) {
      for (MatchResult each : advice.matcher(Files.readString(file)).results().toList()) {
        SETTINGS.forEach(
            (type, settings) -> {
              if (type.getSimpleName().equals(each.group(1) + "Options")) {
                options.add(settings.of(each.group(2)).option().split(" ")[0]);
              }
            });
      }
    }
    assertThat(options)
        .contains("--cluster", "--spool-resend", "--spool-restart", "--on-damaged-offsets");
    CommandLine main = Main.commandLine();
    TreeSet<String> known = new TreeSet<>();
    for (String command : List.of("produce", "consume")) {
      known.addAll(main.getSubcommands().get(command).getCommandSpec().optionsMap().keySet());
    }
    assertThat(known).containsAll(options);
  }
}
