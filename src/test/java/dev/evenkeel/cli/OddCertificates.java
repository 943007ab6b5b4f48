package dev.evenkeel.cli;

import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Certificates of one authority: some of nodes, and some that no node may take. */
public final class OddCertificates {
  private OddCertificates() {}

  /** Writes one certificate for nodes at many addresses, and its authority. */
  public static void write(Path directory, List<String> addresses) throws IOException {
    Path work = Files.createTempDirectory("certificate-of-many");
    try {
      DevCertificates authority = new DevCertificates(work.resolve("store.p12"));
      authority.authority("applications");
      authority.certificate("evenkeel", "ip:" + String.join(",ip:", addresses), directory);
    } finally {
      DurableFiles.deleteTree(work);
    }
  }

  /**
   * Writes {@code n1} to {@code n4}, {@code stranger}, which names no node of these, and {@code
   * expired}, which names n2 and was valid until a week ago. Each is a directory as {@code certs
   * dev} makes it.
   */
  public static void write(Path directory) throws IOException {
    Path work = Files.createTempDirectory("odd-certificates");
    try {
      DevCertificates authority = new DevCertificates(work.resolve("store.p12"));
      authority.authority("nodes");
      String local = "ip:127.0.0.1";
      for (String name : List.of("n1", "n2", "n3", "n4", "stranger")) {
        authority.certificate(name, local, directory.resolve(name));
      }
      authority.certificate(
          "expired",
          local + ",dns:n2",
          directory.resolve("expired"),
          "-startdate",
          "-8d",
          "-validity",
          "1");
    } finally {
      DurableFiles.deleteTree(work);
    }
  }
}
