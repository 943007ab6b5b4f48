package dev.evenkeel.gateway;

import dev.evenkeel.bus.UnexpectedErrors;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonObject;

/** The form of failures on the {@code evenkeel.api} addresses. */
public final class ApiErrors {
  private ApiErrors() {}

  /**
   * Fails a message with the code 1 + the number of the refusal, and the text {@code REFUSAL: what
   * was wrong}.
   */
  static void fail(Message<?> message, Throwable failure) {
    RefusedException refused = refused(failure);
    message.fail(1 + refused.refusal().ordinal(), refused.refusal() + ": " + refused.words());
  }

  /** The refusal in the text of a failed message; null if it has another form. */
  public static RefusedException received(String text) {
    int colon = text == null ? -1 : text.indexOf(": ");
    if (colon > 0) {
      try {
        return Refusal.valueOf(text.substring(0, colon)).error(text.substring(colon + 2));
      } catch (IllegalArgumentException e) {
        // Some other text with a colon.
        return null;
      }
    }
    return null;
  }

  static JsonObject json(Throwable failure) {
    RefusedException refused = refused(failure);
    return new JsonObject().put("error", refused.refusal().name()).put("message", refused.words());
  }

  static String words(Throwable failure) {
    return refused(failure).words();
  }

  private static RefusedException refused(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : new RefusedException(Refusal.INTERNAL, UnexpectedErrors.report(failure));
  }
}
