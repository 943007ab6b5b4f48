package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * The actions that the core has decided on and nobody has taken yet, and what follows from each
 * answer.
 */
final class PendingActions {

  /** What follows from the answer to a request. */
  interface Then<R> {
    void accept(R answer, long nowMillis);
  }

  private List<DispatcherAction> actions = new ArrayList<>();
  private final Map<Long, Then<?>> unanswered = new HashMap<>();
  private long nextId = 1;

  /**
   * Asks for something that will be answered, also if it fails.
   *
   * @param request makes it, given its number
   */
  <R, Q extends DispatcherAction & DispatcherAction.Request<R>> Q ask(
      LongFunction<Q> request, Then<R> then) {
    Q asked = prepare(request, then);
    actions.add(asked);
    return asked;
  }

  /** As {@link #ask}, for a request that the caller sends. */
  <R, Q extends DispatcherAction & DispatcherAction.Request<R>> Q prepare(
      LongFunction<Q> request, Then<R> then) {
    Q asked = request.apply(nextId++);
    unanswered.put(asked.id(), then);
    return asked;
  }

  /** Does what follows from an answer; only the first one to a request counts. */
  @SuppressWarnings("unchecked")
  <R> void answered(DispatcherAction.Request<R> request, R answer, long nowMillis) {
    Then<R> then = (Then<R>) unanswered.remove(request.id());
    if (then != null) {
      then.accept(answer, nowMillis);
    }
  }

  void add(DispatcherAction action) {
    actions.add(action);
  }

  void refuse(long request, Refusal refusal, String detail) {
    actions.add(new DispatcherAction.Refuse(request, refusal, detail));
  }

  void writeMeta(MetaCommand command, Then<Reply> then) {
    ask(id -> new DispatcherAction.WriteMeta(id, command), then);
  }

  List<DispatcherAction> take() {
    List<DispatcherAction> taken = actions;
    actions = new ArrayList<>();
    return taken;
  }
}
