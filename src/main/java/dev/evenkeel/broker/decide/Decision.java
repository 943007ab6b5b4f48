package dev.evenkeel.broker.decide;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a decision: changes to the state, and the reply.
 *
 * @param <C> kind of the changes
 * @param changes in order; none with a refusal
 */
public record Decision<C>(List<C> changes, Reply reply) {
  public static <C> Decision<C> of(List<C> changes) {
    return new Decision<>(changes, Reply.DONE);
  }

  static <C> Decision<C> unchanged(Reply reply) {
    return new Decision<>(List.of(), reply);
  }

  public static <C> Decision<C> refused(Refusal refusal, @Nullable String detail) {
    return unchanged(Reply.refused(refusal, detail));
  }

  /**
   * @param format as {@link String#format} takes it
   */
  static <C> Decision<C> refused(Refusal refusal, String format, Object... values) {
    return refused(refusal, String.format(format, values));
  }
}
