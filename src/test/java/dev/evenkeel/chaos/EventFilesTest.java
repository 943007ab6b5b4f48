package dev.evenkeel.chaos;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventFilesTest {
  private static final int EVENTS = 20_000;
  private static final long SEED = 7;

  @TempDir Path directory;

  @Test
  void filesThatAreNearlyInOrderAreReadInOrder() throws IOException {
    Random random = new Random(SEED);
    List<List<String>> lines = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    times(EVENTS, i -> lines.get(random.nextInt(2)).add(new Event.Sent(i, "k", i).line()));
    for (List<String> file : lines) {
      for (int from = 0; from < file.size(); from += EventFiles.DISPLACED_LINES_MAX) {
        int to = Math.min(file.size(), from + EventFiles.DISPLACED_LINES_MAX);
        Collections.shuffle(file.subList(from, to), random);
      }
    }
    List<Path> files = new ArrayList<>();
    for (List<String> each : lines) {
      files.add(Files.write(directory.resolve("events-" + files.size()), each));
    }
    // Its writer was killed.
    Files.writeString(files.get(0), Files.readString(files.get(0)) + "12");
    List<Long> times = new ArrayList<>();
    EventFiles.read(files, event -> times.add(event.nanos()));
    assertThat(times).hasSize(EVENTS).isSorted();
  }
}
