package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Checks that something throws; {@link Refused} is for what is refused. */
public final class Fails {
  private Fails() {}

  /** The call throws something whose message contains each of the texts. */
  public static AbstractThrowableAssert<?, ?> saying(ThrowingCallable call, CharSequence... texts) {
    return assertThatThrownBy(call).hasMessageContainingAll(texts);
  }

  /** The call throws an exception of the type, whose message contains each of the texts. */
  public static AbstractThrowableAssert<?, ?> with(
      Class<? extends Throwable> type, ThrowingCallable call, CharSequence... texts) {
    AbstractThrowableAssert<?, ?> failure = assertThatThrownBy(call).isInstanceOf(type);
    return texts.length == 0 ? failure : failure.hasMessageContainingAll(texts);
  }
}
