package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lines {@code user-K N some text}, where N counts each key's lines from 0. */
public final class Lines {
  public static final String KEY_REGEX = "^(\\S+) ";

  private Lines() {}

  public static Path write(Path file, int lines, int keys) {
    long[] next = new long[keys];
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int i = 0; i < lines; i++) {
        int key = (int) (Integer.toUnsignedLong(i * 0x9E3779B9) % keys);
        out.write("user-" + key + " " + next[key]++ + " GET /item/" + i + " 200\n");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }

  /** Lines of several outputs, each in its order. */
  public static List<List<String>> read(Collection<Path> files) {
    List<List<String>> all = new ArrayList<>();
    for (Path file : files) {
      Unchecked.run(() -> all.add(Files.readAllLines(file)));
    }
    return all;
  }

  /** Every line once, and each output has each key's lines in order. */
  public static void assertExactlyOnceInOrder(Path input, List<List<String>> outputs) {
    Set<String> expected = new HashSet<>(read(List.of(input)).get(0));
    Set<String> seen = new HashSet<>();
    for (List<String> output : outputs) {
      Map<String, Long> last = new HashMap<>();
      for (String line : output) {
        assertThat(seen.add(line)).as("twice: %s", line).isTrue();
        String[] words = line.split(" ", 3);
        Long before = last.put(words[0], Long.parseLong(words[1]));
        assertThat(before == null || before < Long.parseLong(words[1]))
            .as("out of order: %s after %s", line, before)
            .isTrue();
      }
    }
    assertThat(seen).hasSameSizeAs(expected);
    assertThat(seen.containsAll(expected)).isTrue();
  }

  /** Every line, and no other; some perhaps more than once. */
  public static void assertComplete(Path input, List<List<String>> outputs) {
    Set<String> seen = new HashSet<>();
    outputs.forEach(seen::addAll);
    assertThat(seen.equals(new HashSet<>(read(List.of(input)).get(0)))).isTrue();
  }
}
