package dev.evenkeel.util.tls;

import java.nio.file.Path;

/**
 * The PEM files of one identity.
 *
 * @param certificate the certificate, and after it those of intermediate authorities; null: the
 *     identity only checks others
 * @param key its private key, not encrypted; null if there is no certificate
 * @param authorities certificates of the authorities that others are checked against
 */
public record TlsFiles(Path certificate, Path key, Path authorities) {
  /** The names that cert-manager and Strimzi use. */
  public static TlsFiles in(Path directory) {
    return new TlsFiles(
        directory.resolve("tls.crt"), directory.resolve("tls.key"), directory.resolve("ca.crt"));
  }

  /** Nothing but a check of others against these authorities. */
  public static TlsFiles trusting(Path authorities) {
    return new TlsFiles(null, null, authorities);
  }
}
