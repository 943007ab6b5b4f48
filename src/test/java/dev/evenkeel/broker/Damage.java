package dev.evenkeel.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Damages files, as a failing disk may. */
final class Damage {
  private Damage() {}

  /** Changes the last of these bytes wherever a segment below the directory has them. */
  static void endOf(byte[] bytes, Path directory) throws IOException {
    String sought = new String(bytes, StandardCharsets.ISO_8859_1);
    int damaged = 0;
    List<Path> segments;
    try (Stream<Path> files = Files.walk(directory)) {
      segments = files.filter(file -> file.toString().endsWith(".seg")).toList();
    }
    for (Path segment : segments) {
      String text = Files.readString(segment, StandardCharsets.ISO_8859_1);
      int at = text.indexOf(sought);
      if (at >= 0) {
        byte[] all = text.getBytes(StandardCharsets.ISO_8859_1);
        all[at + bytes.length - 1] ^= 1;
        Files.write(segment, all);
        damaged++;
      }
    }
    assertThat(damaged).as("segments with these bytes").isPositive();
  }
}
