package dev.evenkeel;

import dev.evenkeel.cli.DevCertificates;
import dev.evenkeel.cli.OddCertificates;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Certificates of two clusters, made once a build: making them takes some seconds. */
public final class TestCertificates {
  private static final Path KEPT = Path.of("target", "certificates").toAbsolutePath();

  /** What {@code evenkeel certs dev} writes for the nodes n1 to n3. */
  public static final Path OURS = make("ours");

  /** The same, by other authorities. */
  public static final Path FOREIGN = make("foreign");

  private TestCertificates() {}

  /** Of nodes on machines of their own: what they show to applications. */
  public static final class OfMachines {
    /** So many networks, each with so many machines. */
    private static final int NETWORKS = 20;

    private static final int MACHINES = 10;

    /** The directory. */
    public static final Path DIRECTORY =
        make(
            "machines",
            made -> {
              List<String> addresses = new ArrayList<>();
              Loops.times(
                  NETWORKS * MACHINES,
                  i -> addresses.add("10.231." + i / MACHINES + "." + (1 + i % MACHINES)));
              OddCertificates.write(made, addresses);
            });

    private OfMachines() {}
  }

  private interface Writing {
    void write(Path directory) throws IOException;
  }

  private static Path make(String name) {
    return make(
        name,
        made ->
            DevCertificates.write(
                made, Map.of("n1", "localhost", "n2", "localhost", "n3", "localhost")));
  }

  private static Path make(String name, Writing writing) {
    Path kept = KEPT.resolve(name);
    if (Files.isDirectory(kept)) {
      return kept;
    }
    try {
      Path made = Files.createTempDirectory(Files.createDirectories(KEPT), name);
      writing.write(made);
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
