package dev.evenkeel.dedup;

/** The states of an {@link Automaton}. */
public enum State {
  /** Nobody works on the key and nobody waits. Such an automaton need not be kept. */
  INIT,

  /** The head works. */
  PROCESS,

  /** The head works and the tail waits for its end. */
  BLOCK,

  /**
   * A third claim is being declined. The automaton leaves this state at once, so nobody ever sees
   * it; it is here because the articles have it.
   */
  DECLINE
}
