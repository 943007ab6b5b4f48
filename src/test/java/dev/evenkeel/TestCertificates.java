package dev.evenkeel;

import dev.evenkeel.cli.DevCertificates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Certificates of two clusters, made once a JVM: making them takes a second. */
public final class TestCertificates {
  /** What {@code evenkeel certs dev} writes for the nodes n1 to n3. */
  public static final Path OURS = make();

  /** The same, by other authorities. */
  public static final Path FOREIGN = make();

  private TestCertificates() {}

  private static Path make() {
    try {
      Path directory = Files.createTempDirectory("evenkeel-test-certs");
      DevCertificates.write(
          directory, Map.of("n1", "localhost", "n2", "localhost", "n3", "localhost"));
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
