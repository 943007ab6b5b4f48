package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Checks that something is refused. */
public final class Refused {
  private Refused() {}

  /** The call throws a refusal for this reason, whose message contains each of the texts. */
  public static AbstractThrowableAssert<?, ?> with(
      Refusal refusal, ThrowingCallable call, CharSequence... texts) {
    return texts(assertThatThrownBy(call), refusal, texts);
  }

  /** The failure is a refusal for this reason, and its message contains each of the texts. */
  public static AbstractThrowableAssert<?, ?> is(
      Refusal refusal, Throwable failure, CharSequence... texts) {
    return texts(assertThat(failure), refusal, texts);
  }

  /** The call throws a refusal, for any reason, whose message contains each of the texts. */
  public static AbstractThrowableAssert<?, ?> saying(ThrowingCallable call, CharSequence... texts) {
    return assertThatThrownBy(call)
        .isInstanceOf(RefusedException.class)
        .hasMessageContainingAll(texts);
  }

  private static AbstractThrowableAssert<?, ?> texts(
      AbstractThrowableAssert<?, ?> failure, Refusal refusal, CharSequence... texts) {
    failure.isInstanceOfSatisfying(
        RefusedException.class, refused -> assertThat(refused.refusal()).isEqualTo(refusal));
    return texts.length == 0 ? failure : failure.hasMessageContainingAll(texts);
  }
}
