package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.evenkeel.Unchecked;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A small file system in memory, which a test can fill. It is gone after {@link #close()}. */
final class SmallDisk implements AutoCloseable {
  private static final int PIECE_BYTES = 1 << 20;

  private final Path directory;

  private SmallDisk(Path directory) {
    this.directory = directory;
  }

  /** Mounts one at a directory; skips the test where that is not possible. */
  static SmallDisk at(Path directory, int mebibytes) {
    String made;
    try {
      Files.createDirectories(directory);
      made = run("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "evenkeel", directory);
    } catch (IOException e) {
      made = e.toString();
    }
    assumeTrue(made.isEmpty(), "a small file system needs Linux and root: " + made);
    return new SmallDisk(directory);
  }

  /** Fills it until no more than so much is free. */
  void fill(int freeMebibytes) {
    long more = free() - ((long) freeMebibytes << 20);
    try (OutputStream out = Files.newOutputStream(filler())) {
      for (; more > 0; more -= PIECE_BYTES) {
        out.write(new byte[(int) Math.min(more, PIECE_BYTES)]);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes away what filled it. */
  void empty() {
    Unchecked.run(() -> Files.deleteIfExists(filler()));
  }

  private Path filler() {
    return directory.resolve("filler");
  }

  private long free() {
    return Unchecked.get(
        () -> {
          Files.deleteIfExists(filler());
          return Files.getFileStore(directory).getUsableSpace();
        });
  }

  private static String run(Object... command) throws IOException {
    String[] words = new String[command.length];
    times(words.length, i -> words[i] = command[i].toString());
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    int status = process.onExit().join().exitValue();
    return status == 0 ? "" : output + " (status " + status + ")";
  }

  @Override
  public void close() {
    Unchecked.run(
        () -> {
          // Also while a process that is being killed has files open there.
          assertThat(run("umount", "-l", directory)).isEmpty();
        });
  }
}
