package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

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

  @Test
  void whatCannotBeKnownIsRefused() {
    String[] args = {"produce", "k=\uFFFD\uFFFD"};
    assertThatThrownBy(() -> Arguments.of(args, new byte[0]))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("set LC_ALL=C.UTF-8");
    assertThatThrownBy(() -> Arguments.of(args, line("java", "produce", "k=xä")))
        .isInstanceOf(CommandFailure.class);
    byte[] latin = "java\0produce\0k=\u00e4\u00e4\0".getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> Arguments.of(args, latin)).hasMessageContaining("is not UTF-8");
  }

  @Test
  void variablesOfMessagesAreNoSettings() {
    Arguments.checkVariables(Map.of("EVENKEEL_KEY", "\uFFFD", "PATH", "\uFFFD"));
    Arguments.checkVariables(Map.of("EVENKEEL_CLUSTER", "n1:5701"));
  }
}
