package dev.evenkeel.gateway;

import dev.evenkeel.api.SendResult;
import dev.evenkeel.bus.UnexpectedErrors;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.eventbus.Message;

/** The form of failures on the {@code evenkeel.api} addresses. */
public final class ApiErrors {
  private ApiErrors() {}

  /**
   * Fails a message with the code 1 + the number of the refusal, and the text {@code REFUSAL: what
   * was wrong}.
   */
  static void fail(Message<?> message, Throwable failure) {
    RefusedException refused = refused(failure);
    message.fail(1 + refused.refusal().ordinal(), refused.refusal() + ": " + refused.text());
  }

  /** The result of a message that could not be sent. */
  static SendResult result(Throwable failure) {
    RefusedException refused = refused(failure);
    return new SendResult(null, refused.refusal().name(), refused.words());
  }

  static String words(Throwable failure) {
    return refused(failure).words();
  }

  private static RefusedException refused(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : Refusal.INTERNAL.error(UnexpectedErrors.report(failure));
  }
}
