package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.util.AtomicFileOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log engine writes its votes so. */
@Tag("chaos")
class FullDiskVoteIT {
  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  void aFileThatAFullDiskDoesNotTakeLeavesTheFormerOne() throws IOException {
    try (Network network = Network.open()) {
      Path disk = network.host("a").disk(directory.resolve("disk"), 1);
      Path file = disk.resolve("raft-meta");
      write(file, "term=1");
      Fails.with(IOException.class, () -> Files.write(disk.resolve("others"), new byte[2 << 20]));
      assertThatThrownBy(() -> write(file, "term=2")).isInstanceOf(IOException.class);
      assertThat(file).hasContent("term=1");
      Files.delete(disk.resolve("others"));
      write(file, "term=3");
      assertThat(file).hasContent("term=3");
    }
  }

  private static void write(Path file, String text) throws IOException {
    try (Writer out =
        new OutputStreamWriter(
            new AtomicFileOutputStream(file.toFile()), StandardCharsets.US_ASCII)) {
      out.write(text);
      // As the writer of properties does: after this has failed, closing writes nothing more.
      out.flush();
    }
  }
}
