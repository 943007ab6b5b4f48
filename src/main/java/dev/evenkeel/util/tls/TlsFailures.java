package dev.evenkeel.util.tls;

import java.security.GeneralSecurityException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

/** Says why TLS did not begin, in words that show nothing of what was sent. */
public final class TlsFailures {
  /** Netty adds the bytes, which may be a password. */
  private static final String NO_RECORD = "not an SSL/TLS record";

  private TlsFailures() {}

  /** The reason, which the JDK puts into the deepest cause. */
  public static String reason(Throwable failure) {
    return isPlainText(failure) ? "plain text came" : String.valueOf(deepest(failure).getMessage());
  }

  /** Whether the other side speaks no TLS. */
  public static boolean isPlainText(Throwable failure) {
    return String.valueOf(deepest(failure).getMessage()).startsWith(NO_RECORD);
  }

  /** Whether the certificate of the other side is the reason. */
  public static boolean isAboutCertificate(Throwable failure) {
    return deepest(failure) instanceof GeneralSecurityException;
  }

  /** Whether a certificate of the other side has expired, or is not valid yet. */
  public static boolean isAboutTime(Throwable failure) {
    Throwable deepest = deepest(failure);
    return deepest instanceof CertificateExpiredException
        || deepest instanceof CertificateNotYetValidException;
  }

  /** Whether the other side has said that it does not go on; its log says why. */
  public static boolean isAlert(Throwable failure) {
    return reason(failure).contains("Received fatal alert");
  }

  private static Throwable deepest(Throwable failure) {
    Throwable deepest = failure;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    return deepest;
  }
}
