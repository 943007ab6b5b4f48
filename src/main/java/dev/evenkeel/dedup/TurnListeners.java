package dev.evenkeel.dedup;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The listeners of one process, by the numbers in the upper 16 bits of their tokens. */
public final class TurnListeners {
  private static final int NUMBER_SHIFT = 48;

  private final Map<Integer, SharedAutomata.Turns> listeners = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();

  /** Adds a listener. Returns its number, which no other one of this process gets soon. */
  public int add(SharedAutomata.Turns turns) {
    int number = numbers.incrementAndGet() & 0x7fff;
    listeners.put(number, turns);
    return number;
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
