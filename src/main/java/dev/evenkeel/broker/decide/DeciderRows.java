package dev.evenkeel.broker.decide;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;

/**
 * Says who decides about which command: one row for each.
 *
 * @param <S> what a decision looks at
 * @param <C> the commands
 * @param <X> the changes
 */
final class DeciderRows<S, C, X> {
  private final Map<Class<?>, BiFunction<S, C, Decision<X>>> rows = new HashMap<>();

  @SuppressWarnings("unchecked")
  <T extends C> DeciderRows<S, C, X> on(Class<T> command, BiFunction<S, T, Decision<X>> decider) {
    rows.put(command, (scene, any) -> decider.apply(scene, (T) any));
    return this;
  }

  /**
   * @throws IllegalArgumentException if there is a command that nobody decides about
   */
  DeciderRows<S, C, X> completeFor(Class<C> commands) {
    for (Class<?> each : commands.getPermittedSubclasses()) {
      if (!rows.containsKey(each)) {
        throw new IllegalArgumentException("no decider handles " + each);
      }
    }
    return this;
  }

  Decision<X> decide(S scene, C command) {
    return Objects.requireNonNull(rows.get(command.getClass())).apply(scene, command);
  }
}
