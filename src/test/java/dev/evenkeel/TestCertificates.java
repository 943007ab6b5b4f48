package dev.evenkeel;

import dev.evenkeel.cli.DevCertificates;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/** Certificates of two clusters, made once a build: making them takes some seconds. */
public final class TestCertificates {
  private static final Path KEPT = Path.of("target", "certificates").toAbsolutePath();

  /** What {@code evenkeel certs dev} writes for the nodes n1 to n3. */
  public static final Path OURS = make("ours");

  /** The same, by other authorities. */
  public static final Path FOREIGN = make("foreign");

  private TestCertificates() {}

  private static Path make(String name) {
    Path kept = KEPT.resolve(name);
    if (Files.isDirectory(kept)) {
      return kept;
    }
    try {
      Path made = Files.createTempDirectory(Files.createDirectories(KEPT), name);
      DevCertificates.write(made, Map.of("n1", "localhost", "n2", "localhost", "n3", "localhost"));
      try {
        Files.move(made, kept, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        // Other tests, which run at the same time, were first.
        if (!Files.isDirectory(kept)) {
          throw e;
        }
        DurableFiles.deleteTree(made);
      }
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
