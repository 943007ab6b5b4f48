package dev.evenkeel.client.internal.broadcast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OffsetsFileTest {
  @TempDir Path temp;

  private static Offsets offsets(long next) {
    return new Offsets(
        "c", "g", "m", List.of(new Offsets.Topic("t", 1, new TreeMap<>(Map.of(0, next)))));
  }

  @Test
  void whatWasWrittenLastIsThere() throws IOException, Offsets.DamagedException {
    Path directory = temp.resolve("a").resolve("b");
    try (OffsetsFile file = OffsetsFile.open(directory, "g")) {
      assertThat(file.read()).isNull();
      file.write(offsets(1));
      file.write(offsets(2));
    }
    // As a crash in the middle of a write leaves it.
    Files.writeString(directory.resolve("g.offsets.tmp"), "evenkeel-off");
    try (OffsetsFile file = OffsetsFile.open(directory, "g")) {
      assertThat(file.read()).isEqualTo(offsets(2));
      file.write(offsets(3));
      assertThat(file.read()).isEqualTo(offsets(3));
    }
  }

  @Test
  void oneConsumerOfAGroupAtATime() throws IOException {
    try (OffsetsFile file = OffsetsFile.open(temp, "g");
        OffsetsFile other = OffsetsFile.open(temp, "h")) {
      assertThat(other.path()).isNotEqualTo(file.path());
      Refused.saying(() -> OffsetsFile.open(temp, "g"), "in use by another consumer (pid ");
    }
    OffsetsFile.open(temp, "g").close();
  }

  @Test
  void aDirectoryThatCannotBeIsRefused() throws IOException {
    Path file = Files.writeString(temp.resolve("file"), "");
    Refused.saying(() -> OffsetsFile.open(file, "g"), "cannot be used");
  }

  @Test
  void whatIsPutAsideIsKept() throws IOException, Offsets.DamagedException {
    try (OffsetsFile file = OffsetsFile.open(temp, "g")) {
      Files.writeString(file.path(), "rubbish");
      assertThatThrownBy(file::read).isInstanceOf(Offsets.DamagedException.class);
      assertThat(Files.readString(file.putAside())).isEqualTo("rubbish");
      assertThat(file.read()).isNull();
    }
  }
}
