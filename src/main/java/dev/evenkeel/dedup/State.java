package dev.evenkeel.dedup;

/** Where an {@link Automaton} stands. */
public enum State {
  /** Nobody works on the key and nobody waits: such an automaton need not be kept. */
  INIT,

  /** The head works. */
  PROCESS,

  /** The head works and the tail waits for its end. */
  BLOCK,

  /**
   * A newcomer to {@link #BLOCK} is being turned away. Left as soon as it is entered, so nobody
   * sees an automaton rest here; it is named because the articles' picture has it.
   */
  DECLINE
}
