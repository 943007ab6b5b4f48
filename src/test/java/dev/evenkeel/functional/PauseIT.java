package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A pause of a group stops handlers: what members have fetched already does not begin before the
 * group is resumed, and then each message is handled once.
 */
class PauseIT extends OneNode {
  private static final int MESSAGES = 300;

  @ParameterizedTest
  @ValueSource(strings = {"sharded", "level"})
  @Timeout(300)
  void whatIsFetchedDoesNotBeginAndIsHandledLater(String mode) throws IOException {
    Path begun = directory.resolve("begun-" + mode);
    Path ended = directory.resolve("ended-" + mode);
    Path fast = directory.resolve("fast-" + mode);
    Files.createFile(begun);
    Files.createFile(ended);
    node.createTopic(mode, 2);
    node.send(mode, IntStream.range(0, MESSAGES).mapToObj(i -> "message " + i).toList());
    String work =
        "read -r line; echo $line >> %s; [ -e %s ] || sleep 1; echo $line $EVENKEEL_ATTEMPT >> %s"
            .formatted(begun, fast, ended);
    try (Jar.Running consumer =
        node.consume("m-" + mode, mode, mode, "--mode", mode, "--order", "none", "--exec", work)) {
      Wait.until(() -> !lines(ended).isEmpty());
      node.post("/api/groups/" + mode + "/pause", "{}");
      Wait.until("no handler runs", () -> lines(ended).size() == lines(begun).size());
      assertThat(lines(begun)).as("of those that were fetched").hasSizeLessThan(MESSAGES * 2 / 3);
      Files.createFile(fast);
      node.post("/api/groups/" + mode + "/resume", "{}");
      node.awaitConsumed(mode, MESSAGES);
      assertThat(lines(ended)).hasSize(MESSAGES).allMatch(line -> line.endsWith(" 1"));
      assertThat(new TreeSet<>(lines(ended))).as("each once").hasSize(MESSAGES);
      assertThat(consumer.stop().status()).isZero();
    }
  }

  private static List<String> lines(Path file) {
    return Unchecked.get(() -> Files.readAllLines(file));
  }
}
