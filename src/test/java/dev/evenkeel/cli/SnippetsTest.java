package dev.evenkeel.cli;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What some pages show is what compiles, and what the commands take. */
class SnippetsTest {
  private static final Path PAGES = Path.of("src/site/markdown");
  private static final Pattern BLOCK = Pattern.compile("(?s)```(\\w*)\\n(.*?)```");

  private static List<Path> pages() throws IOException {
    List<Path> pages =
        new ArrayList<>(
            List.of(
                PAGES.resolve("applications/in-one-jvm.md"),
                PAGES.resolve("applications/tutorial.md"),
                PAGES.resolve("command-line/run.md")));
    try (Stream<Path> files = Files.list(PAGES.resolve("coming-from"))) {
      files.forEach(pages::add);
    }
    return pages;
  }

  private static List<String> blocks(Path page, String language) throws IOException {
    List<String> blocks = new ArrayList<>();
    Matcher block = BLOCK.matcher(Files.readString(page));
    while (block.find()) {
      if (block.group(1).equals(language)) {
        blocks.add(block.group(2));
      }
    }
    return blocks;
  }

  /** Without what depends on where a line is wrapped. */
  private static String plain(String code) {
    return code.replaceAll("\\s+", "");
  }

  @Test
  void everyPieceOfJavaIsInAnExample() throws IOException {
    StringBuilder examples = new StringBuilder();
    try (Stream<Path> files = Files.list(Path.of("src/test/java/examples"))) {
      each(files.toList(), file -> examples.append(plain(Files.readString(file))));
    }
    for (Path page : pages()) {
      for (String block : blocks(page, "java")) {
        assertThat(examples.toString()).as("in %s", page).contains(plain(block));
      }
    }
  }

  @Test
  void everyCommandIsOneThatTheCommandLineTakes() throws IOException {
    int commands = 0;
    for (Path page : pages()) {
      for (String block : blocks(page, "")) {
        for (String line : block.replace("\\\n", " ").split("\n")) {
          if (line.startsWith("evenkeel ")) {
            var parsed = Main.commandLine().parseArgs(words(line.substring("evenkeel ".length())));
            assertThat(parsed.hasSubcommand()).as(line).isTrue();
            commands++;
          }
        }
      }
    }
    assertThat(commands).isGreaterThan(10);
  }

  /** Splits as a shell does, as far as the pages need it. */
  private static String[] words(String line) {
    List<String> words = new ArrayList<>();
    Matcher word =
        Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)").matcher(line.replaceAll(" [|<>].*", ""));
    while (word.find()) {
      words.add(
          word.group(1) != null
              ? word.group(1)
              : word.group(2) != null ? word.group(2) : word.group(3));
    }
    return words.toArray(String[]::new);
  }
}
