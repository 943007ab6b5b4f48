package dev.evenkeel.client.internal.session;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client shows to nodes, and what it checks them against.
 *
 * @param tls null: connections are not encrypted
 * @param tokenFile null: it has no token
 */
public record Credentials(TlsIdentity tls, Path tokenFile) {
  public static final Credentials NONE = new Credentials(null, null);

  private static final Logger LOG = LoggerFactory.getLogger(Credentials.class);

  /**
   * Reads the files of the options, except the token. Blocks.
   *
   * @throws RefusedException INVALID if one cannot be used
   */
  public static Credentials of(ClientOptions options) {
    String token = options.getTokenFile();
    return new Credentials(
        tls(options.getCa(), options.getCertificate(), options.getKey()),
        token == null ? null : Path.of(token));
  }

  /**
   * @param ca null: no TLS
   * @param certificate null: none
   * @throws RefusedException INVALID if a file is missing or cannot be used
   */
  public static TlsIdentity tls(String ca, String certificate, String key) {
    if ((certificate == null) != (key == null)) {
      throw Refusal.INVALID.error(
          "a certificate needs its key: give %s and %s",
          ClientOptions.setter("certificate"), ClientOptions.setter("key"));
    }
    if (ca == null && certificate != null) {
      throw Refusal.INVALID.error(
          "a certificate is shown with TLS only: give %s, too", ClientOptions.setter("ca"));
    }
    if (ca == null) {
      return null;
    }
    try {
      return TlsIdentity.open(
          certificate == null
              ? TlsFiles.trusting(Path.of(ca))
              : new TlsFiles(Path.of(certificate), Path.of(key), Path.of(ca)));
    } catch (TlsException e) {
      throw Refusal.INVALID.error("ca: " + e.getMessage());
    }
  }

  /**
   * Whether others could read the token on its way to a host: there is one, without TLS, and the
   * host is not this machine. May block.
   */
  public boolean wouldShow(String host) {
    return hasToken() && tls == null && !HostPort.isLoopback(host);
  }

  public boolean hasToken() {
    return tokenFile != null;
  }

  /** Whether there are files that may be replaced while the client runs. */
  public boolean any() {
    return tls != null || tokenFile != null;
  }

  /**
   * Takes up the authorities and the certificate as their files have them now, unless they cannot
   * be used. Blocks.
   *
   * @return the token as its file has it now; null: there is none
   * @throws RefusedException INVALID if the token cannot be read
   */
  public String renewed() {
    if (tls != null) {
      String before = tls.problem();
      if (tls.look()) {
        LOG.info("new connections use the certificates in {} as they are now", tls.files());
      } else if (tls.problem() != null && !tls.problem().equals(before)) {
        LOG.warn("the former certificates stay in force: {}", tls.problem());
      }
    }
    return token();
  }

  /**
   * The token as its file has it now; null: there is none. Blocks.
   *
   * @throws RefusedException INVALID if it cannot be read
   */
  public String token() {
    if (tokenFile == null) {
      return null;
    }
    try {
      String token = Files.readString(tokenFile).strip();
      if (!token.isEmpty() && token.length() <= Limits.TOKEN_CHARS_MAX && !token.contains("\n")) {
        return token;
      }
    } catch (IOException e) {
      throw Refusal.INVALID.error("cannot read the token file %s (%s)", tokenFile, e);
    }
    throw Refusal.INVALID.error(
        "the token file %s must hold one token, as 'user add' prints it", tokenFile);
  }
}
