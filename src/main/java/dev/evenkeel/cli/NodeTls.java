package dev.evenkeel.cli;

import dev.evenkeel.util.tls.CertificateNames;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads the certificates of a node. */
final class NodeTls {
  private NodeTls() {}

  /**
   * The identity that a node shows to other nodes.
   *
   * @throws CommandFailure if the files cannot be used, or are another node's
   */
  static TlsIdentity ofPeers(NodeConfig config) {
    if (config.peerTls() == null) {
      return null;
    }
    String node = config.node();
    Set<String> peers =
        config.peers().stream().map(NodeConfig.Peer::id).collect(Collectors.toUnmodifiableSet());
    // A node that joins does not know the others yet.
    boolean anybody =
        config.get(NodeOptions.ALLOW_BUS_MEMBERS)
            || !config.join().isEmpty() && config.peers().size() == 1;
    Set<String> others = anybody ? null : peers;
    TlsIdentity identity = open("--peer-tls", TlsFiles.in(config.peerTls()), others);
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
   * The identity that a member of the event bus shows to nodes.
   *
   * @param directory null: connections are not encrypted
   * @throws CommandFailure if the files cannot be used
   */
  static TlsIdentity ofBusMember(Path directory) {
    return directory == null ? null : open("--peer-tls", TlsFiles.in(directory), null);
  }

  /**
   * Says before anything starts whether the files for applications can be used.
   *
   * @param directory null: none
   * @throws CommandFailure if they cannot
   */
  static void checkPorts(Path directory) {
    if (directory != null) {
      open("--tls", TlsFiles.in(directory), null);
    }
  }

  private static TlsIdentity open(String option, TlsFiles files, Set<String> others) {
    try {
      return TlsIdentity.open(files, others);
    } catch (TlsException e) {
      throw CommandFailure.failed(option + ": " + e.getMessage(), e);
    }
  }
}
