package dev.evenkeel.cli;

import dev.evenkeel.protocol.tls.CertificateNames;
import dev.evenkeel.protocol.tls.TlsException;
import dev.evenkeel.protocol.tls.TlsFiles;
import dev.evenkeel.protocol.tls.TlsIdentity;
import java.nio.file.Path;

/** Reads the certificates of a node. */
final class NodeTls {
  private NodeTls() {}

  /**
   * The identity that a node shows to other nodes.
   *
   * @param directory null: none
   * @throws CommandFailure if the files cannot be used, or are another node's
   */
  static TlsIdentity ofPeers(Path directory, String node) {
    if (directory == null) {
      return null;
    }
    TlsIdentity identity = open("--peer-tls", TlsFiles.in(directory));
    if (!CertificateNames.name(identity.certificate(), node)) {
      throw CommandFailure.failed(
          "--peer-tls: the certificate %s is for %s, not for node %s: give each node its own"
              .formatted(
                  identity.files().certificate(),
                  identity.certificate().getSubjectX500Principal().getName(),
                  node));
    }
    return identity;
  }

  /**
   * Says before anything starts whether the files for applications can be used.
   *
   * @param directory null: none
   * @throws CommandFailure if they cannot
   */
  static void checkPorts(Path directory) {
    if (directory != null) {
      open("--tls", TlsFiles.in(directory));
    }
  }

  private static TlsIdentity open(String option, TlsFiles files) {
    try {
      return TlsIdentity.open(files);
    } catch (TlsException e) {
      throw CommandFailure.failed(option + ": " + e.getMessage(), e);
    }
  }
}
