package dev.evenkeel.gateway.http;

/** Carries an {@link ApiFailure} through a future. No stack trace: it is an answer, not a bug. */
final class WebException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient ApiFailure failure;

  WebException(ApiFailure failure) {
    super(failure.message(), null, false, false);
    this.failure = failure;
  }

  ApiFailure failure() {
    return failure;
  }
}
