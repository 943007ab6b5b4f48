package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Messages of the library name its options, and those of commands their flags. */
class FlagsTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/evenkeel");
  private static final Map<String, Class<?>> OPTIONS =
      Map.of(
          "ClientOptions", ClientOptions.class,
          "ConsumerOptions", ConsumerOptions.class,
          "ProducerOptions", ProducerOptions.class);

  /** What applications reach by the Java API. */
  private static final List<String> LIBRARY =
      List.of(
          "broker",
          "bus",
          "client",
          "cluster",
          "dispatcher",
          "gateway",
          "log",
          "protocol",
          "storage");

  private static List<String> lines() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> LIBRARY.contains(SOURCES.relativize(file).getName(0).toString()))
          .flatMap(FlagsTest::lines)
          .toList();
    }
  }

  private static Stream<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theLibraryAdvisesNoFlags() throws IOException {
    assertThat(lines().stream().filter(Pattern.compile("\"[^\"]*--[a-z]").asPredicate())).isEmpty();
  }

  @Test
  void whatItAdvisesInsteadIsThereAndHasAFlag() throws IOException {
    Pattern advice = Pattern.compile("\"[^\"]*\\b(\\w+Options)\\.(set\\w+)");
    TreeSet<String> flags = new TreeSet<>();
    for (String line : lines()) {
      Matcher found = advice.matcher(line);
      while (found.find()) {
        assertThat(OPTIONS.get(found.group(1)).getMethods())
            .as(line)
            .anyMatch(method -> method.getName().equals(found.group(2)));
        flags.add(Flags.named(found.group(1) + "." + found.group(2)).split(" ")[0]);
      }
    }
    assertThat(flags)
        .contains("--cluster", "--spool-resend", "--spool-restart", "--on-damaged-offsets");
    CommandLine main = Main.commandLine();
    TreeSet<String> known = new TreeSet<>();
    for (String command : List.of("produce", "consume")) {
      known.addAll(main.getSubcommands().get(command).getCommandSpec().optionsMap().keySet());
    }
    assertThat(known).containsAll(flags);
  }

  @Test
  void aCommandsMessageNamesTheFlag() {
    assertThat(Flags.named("drop what it holds with ProducerOptions.setSpoolRestart"))
        .isEqualTo("drop what it holds with --spool-restart");
    assertThat(Flags.named("name others with ClientOptions.setSeeds"))
        .isEqualTo("name others with --cluster HOST:PORT");
    assertThat(Flags.named("nothing of the kind")).isEqualTo("nothing of the kind");
  }
}
