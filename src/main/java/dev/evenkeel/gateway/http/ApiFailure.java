package dev.evenkeel.gateway.http;

import dev.evenkeel.api.HttpStatus;
import dev.evenkeel.bus.UnexpectedErrors;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonObject;

/**
 * An error as HTTP callers see it. It has no stack trace, because it is an answer and not a bug.
 */
final class ApiFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String error;

  /**
   * @param status HTTP status
   * @param error one word in capitals, for programs
   * @param message one line, for people
   */
  ApiFailure(int status, String error, String message) {
    super(message, null, false, false);
    this.status = status;
    this.error = error;
  }

  /** A failure with the usual error word of the status. */
  ApiFailure(int status, String message) {
    this(status, nameOf(status), message);
  }

  int status() {
    return status;
  }

  String error() {
    return error;
  }

  JsonObject json() {
    return new JsonObject().put("error", error).put("message", getMessage());
  }

  static ApiFailure invalid(String message) {
    return new ApiFailure(400, Refusal.INVALID.name(), message);
  }

  /** The failure for one that came over the event bus as {@code REFUSAL: text}. */
  static ApiFailure of(Throwable failure) {
    if (failure instanceof ApiFailure known) {
      return known;
    }
    if (failure instanceof RefusedException refused) {
      return new ApiFailure(
          HttpStatus.of(refused.refusal()), refused.refusal().name(), refused.words());
    }
    if (!(failure instanceof ReplyException reply)) {
      return new ApiFailure(500, UnexpectedErrors.report(failure));
    }
    if (reply.failureType() == ReplyFailure.NO_HANDLERS) {
      return new ApiFailure(
          503,
          Refusal.UNAVAILABLE.name(),
          "the node is not ready: it is starting or stopping; try again once /health/ready answers"
              + " 200");
    }
    if (reply.failureType() == ReplyFailure.TIMEOUT) {
      return new ApiFailure(
          503,
          Refusal.INDETERMINATE.name(),
          "no answer within 30 s: the request may have had an effect, so check before you repeat"
              + " it");
    }
    RefusedException refused = RefusedException.parse(reply.getMessage());
    return refused == null
        ? new ApiFailure(500, UnexpectedErrors.report(reply))
        : new ApiFailure(
            HttpStatus.of(refused.refusal()), refused.refusal().name(), refused.words());
  }

  /** The error word for an HTTP status without a refusal. */
  private static String nameOf(int status) {
    return switch (status) {
      case 400 -> Refusal.INVALID.name();
      case 401 -> Refusal.UNAUTHENTICATED.name();
      case 403 -> Refusal.FORBIDDEN.name();
      case 404 -> "NOT_FOUND";
      case 405 -> "METHOD_NOT_ALLOWED";
      case 413 -> Refusal.TOO_LARGE.name();
      case 415 -> "UNSUPPORTED_MEDIA_TYPE";
      default -> status >= 500 ? "INTERNAL" : "BAD_REQUEST";
    };
  }
}
