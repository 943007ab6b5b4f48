package dev.evenkeel.client.internal.session;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.tls.TlsException;
import dev.evenkeel.protocol.tls.TlsFiles;
import dev.evenkeel.protocol.tls.TlsIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a client shows to nodes, and what it checks them against.
 *
 * @param tls null: connections are not encrypted
 * @param tokenFile null: it has no token
 */
public record Credentials(TlsIdentity tls, Path tokenFile) {
  public static final Credentials NONE = new Credentials(null, null);

  /** No token has more characters. */
  private static final int TOKEN_BYTES_MAX = 1_024;

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
      throw Refusal.INVALID.error("a certificate needs its key: give 'certificate' and 'key'");
    }
    if (ca == null && certificate != null) {
      throw Refusal.INVALID.error("a certificate is shown with TLS only: give 'ca', too");
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
      if (!token.isEmpty() && token.length() <= TOKEN_BYTES_MAX && !token.contains("\n")) {
        return token;
      }
    } catch (IOException e) {
      throw Refusal.INVALID.error("cannot read the token file %s (%s)", tokenFile, e);
    }
    throw Refusal.INVALID.error(
        "the token file %s must hold one token, as 'user add' prints it", tokenFile);
  }
}
