package dev.evenkeel.cli;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.protocol.RefusedException;
import java.util.Set;
import picocli.CommandLine.Option;

/** Whom a command trusts, and what it shows to say which user it belongs to. */
public final class CredentialOptions {
  private static final String CA = "EVENKEEL_CA";
  private static final String TOKEN_FILE = "EVENKEEL_TOKEN_FILE";
  private static final String CERTIFICATE = "EVENKEEL_CERT";
  private static final String KEY = "EVENKEEL_CERT_KEY";

  /** The environment variables that stand for the options. */
  static final Set<String> VARIABLES = Set.of(CA, TOKEN_FILE, CERTIFICATE, KEY);

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "Speak TLS, and trust nodes whose certificates are signed by an authority in this PEM"
              + " file (default: the environment variable EVENKEEL_CA; without both, no TLS).")
  private String ca;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "The token of a user, as 'user add' prints it (default: the environment variable"
              + " EVENKEEL_TOKEN_FILE; without both, none).")
  private String tokenFile;

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      description =
          "A certificate that names a user, instead of a token (default: the environment variable"
              + " EVENKEEL_CERT).")
  private String certificate;

  @Option(
      names = "--cert-key",
      paramLabel = "FILE",
      description =
          "The key of the certificate (default: the environment variable EVENKEEL_CERT_KEY).")
  private String key;

  private static String or(String given, String variable) {
    String unset = System.getenv(variable);
    return given != null ? given : unset == null || unset.isEmpty() ? null : unset;
  }

  /** Whether one of the options is on the command line. */
  boolean areGiven() {
    return ca != null || tokenFile != null || certificate != null || key != null;
  }

  /** The file with the authorities, or null: no TLS. */
  public String ca() {
    return or(ca, CA);
  }

  /** The file with the token, or null. */
  public String tokenFile() {
    return or(tokenFile, TOKEN_FILE);
  }

  /** Sets them as options of a client. */
  public ClientOptions on(ClientOptions options) {
    return options
        .setCa(ca())
        .setTokenFile(tokenFile())
        .setCertificate(or(certificate, CERTIFICATE))
        .setKey(or(key, KEY));
  }

  /**
   * Reads the files.
   *
   * @throws CommandFailure if one cannot be used
   */
  public Credentials read() {
    try {
      return Credentials.of(on(new ClientOptions()));
    } catch (RefusedException e) {
      throw CommandFailure.failed(e.words(), e);
    }
  }
}
