package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What a user writes is what the command gets, in any locale. */
class ArgumentsTest {
  private static byte[] line(String... words) {
    return (String.join("\0", words) + "\0").getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void theBytesOfTheProcessCount() {
    byte[] line = line("java", "-jar", "e.jar", "consume", "größe", "key=größe", "", "a?b", "🙂");
    for (String none : new String[] {"\uFFFD", "?", "\u00C3"}) {
      String word = "gr" + none.repeat(4) + "e";
      assertThat(
              Arguments.of(
                  new String[] {"consume", word, "key=" + word, "", "a?b", none.repeat(4)}, line))
          .containsExactly("consume", "größe", "key=größe", "", "a?b", "🙂");
    }
  }

  /** Code pages of Windows and other countries read all that can be typed under them. */
  @Test
  void onlyTheLocaleOfNoLanguageLosesCharacters() {
    for (String reads : new String[] {"UTF-8", "Cp1252", "windows-1251", "IBM437", "KOI8-R"}) {
      assertThat(Arguments.readsAll(reads)).as(reads).isTrue();
    }
    assertThat(Arguments.readsAll("ANSI_X3.4-1968")).isFalse();
  }

  /** The file would be read in the character set of the platform. */
  @Test
  void anArgumentThatBeginsWithAnAtIsNoFile(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("f"), "--no-such-flag");
    String[] args = {"consume", "@" + file, "--group", "g"};
    CommandLine.ParseResult parsed = Main.commandLine(args).parseArgs(args);
    assertThat(parsed.subcommand().matchedPositionals())
        .anySatisfy(topic -> assertThat(topic.stringValues()).containsExactly(args[1]));
  }

  @Test
  void whatCannotBeKnownIsRefused() {
    String[] args = {"produce", "k=\uFFFD\uFFFD"};
    Fails.with(CommandFailure.class, () -> Arguments.of(args, new byte[0]), "set LC_ALL=C.UTF-8");
    Fails.with(CommandFailure.class, () -> Arguments.of(args, line("java", "produce", "k=xä")));
    byte[] latin = "java\0produce\0k=\u00e4\u00e4\0".getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> Arguments.of(args, latin)).hasMessageContaining("is not UTF-8");
  }

  @Test
  void variablesOfMessagesAreNoSettings() {
    Arguments.checkVariables(Map.of("EVENKEEL_KEY", "\uFFFD", "PATH", "\uFFFD"));
    Arguments.checkVariables(Map.of("EVENKEEL_CLUSTER", "n1:5701"));
  }
}
