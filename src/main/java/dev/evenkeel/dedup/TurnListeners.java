package dev.evenkeel.dedup;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The listeners of one process, by the numbers in the upper 16 bits of their tokens. */
public final class TurnListeners {
  private static final int NUMBER_SHIFT = 48;
  private static final int NUMBER_MAX = 0x7fff;

  private final Map<Integer, SharedAutomata.Turns> listeners = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();

  /**
   * Adds a listener. Returns its number, which no other one of this process has, or gets soon: with
   * equal numbers, the claims of two would have equal tokens, and count as one claim.
   *
   * @throws RefusedException OVERLOADED if all numbers are in use
   */
  public int add(SharedAutomata.Turns turns) {
    for (int tries = 0; tries <= NUMBER_MAX; tries++) {
      int number = numbers.incrementAndGet() & NUMBER_MAX;
      if (listeners.putIfAbsent(number, turns) == null) {
        return number;
      }
    }
    throw Refusal.OVERLOADED.error(
        "%s users of dedup keys in one process: close some", NUMBER_MAX + 1);
  }

  public void remove(int number) {
    listeners.remove(number);
  }

  /** Tells the listener of the message's token, if it is still there. */
  public void deliver(HeadMessage message) {
    SharedAutomata.Turns turns = listeners.get((int) (message.token() >>> NUMBER_SHIFT));
    if (turns != null) {
      turns.head(message.key(), message.token(), message.waitsUntilMillis());
    }
  }
}
