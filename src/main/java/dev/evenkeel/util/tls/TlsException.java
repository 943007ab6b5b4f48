package dev.evenkeel.util.tls;

/** Keys or certificates cannot be used; the message names the file and says why. */
public final class TlsException extends Exception {
  private static final long serialVersionUID = 1L;

  TlsException(String message) {
    super(message);
  }

  TlsException(String message, Throwable cause) {
    super(message, cause);
  }
}
