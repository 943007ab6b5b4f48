package dev.evenkeel.dedup;

import java.util.function.Predicate;

/**
 * Steps of an automaton that is kept as bytes in a shared map. A function of its arguments: run
 * again, on the result of the first run, it changes nothing and answers the same, but for a deQueue
 * of the head, which answers NOT_HEAD then.
 */
public final class SharedStep {
  /**
   * What a step leaves.
   *
   * @param stored the automaton, or null: it is in INIT and need not be kept
   * @param changed whether that differs from what was there
   * @param reply to whoever asked
   */
  public record Result(byte[] stored, boolean changed, StepReply reply) {}

  private SharedStep() {}

  /**
   * Does {@code request}. An overdue head is evicted before.
   *
   * @param stored the automaton; null: INIT
   */
  public static Result apply(byte[] stored, StepRequest request, long nowMillis) {
    Automaton<SharedClaim> automaton = SharedCodec.automaton(stored);
    SharedClaim headBefore = automaton.head();
    SharedClaim tailBefore = automaton.tail();
    StepReply reply = apply(automaton, request, nowMillis);
    boolean changed = automaton.head() != headBefore || automaton.tail() != tailBefore;
    return new Result(changed ? SharedCodec.bytes(automaton) : null, changed, reply);
  }

  /** Does {@code request}. An overdue head is evicted before. */
  static StepReply apply(Automaton<SharedClaim> automaton, StepRequest request, long nowMillis) {
    if (request.kind() == StepRequest.Kind.DEQUEUE) {
      Departure departure = automaton.deQueue(request.claim(), nowMillis);
      return new StepReply(null, departure, automaton.head(), 0);
    }
    int evicted = request.claim().same(automaton.head()) ? 0 : evictOverdue(automaton, nowMillis);
    Answer answer = automaton.enQueue(request.claim(), nowMillis);
    return new StepReply(answer, null, automaton.head(), evicted);
  }

  /** Takes away the claims of the dead, and heads whose time is up. */
  public static Result sweep(byte[] stored, Predicate<String> alive, long nowMillis) {
    Automaton<SharedClaim> automaton = SharedCodec.automaton(stored);
    int evicted = sweep(automaton, alive, nowMillis);
    // What cannot be read is removed, too.
    boolean changed = evicted > 0 || automaton.head() == null;
    return new Result(
        changed ? SharedCodec.bytes(automaton) : null,
        changed,
        new StepReply(null, null, automaton.head(), evicted));
  }

  static int sweep(Automaton<SharedClaim> automaton, Predicate<String> alive, long nowMillis) {
    return automaton.dropDead(alive, nowMillis) + evictOverdue(automaton, nowMillis);
  }

  private static int evictOverdue(Automaton<SharedClaim> automaton, long nowMillis) {
    SharedClaim head = automaton.head();
    if (head == null || !automaton.overdue(nowMillis, head.headMillisMax)) {
      return 0;
    }
    automaton.evict(nowMillis);
    return 1;
  }
}
