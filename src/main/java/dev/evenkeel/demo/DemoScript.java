package dev.evenkeel.demo;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Who comes and goes: first one of each kind, so that a short visit sees all, then by chance,
 * between {@link #CONSUMERS_MIN} and {@link #CONSUMERS_MAX} consumers. Pure: randomness is handed
 * in.
 */
public final class DemoScript {
  public static final int CONSUMERS_MIN = 2;
  public static final int CONSUMERS_MAX = 6;

  /** How many the demo starts with. */
  public static final int CONSUMERS_AT_START = 3;

  private static final List<Event> OPENING =
      List.of(Event.JOIN, Event.KILL, Event.JOIN, Event.LEAVE);

  /** After so many events without one, somebody is killed. */
  private static final int EVENTS_WITHOUT_KILL_MAX = 4;

  /** What happens to one consumer. */
  public enum Event {
    JOIN,
    LEAVE,
    /** Its process is killed: it releases nothing and says no goodbye. */
    KILL
  }

  private final RandomGenerator random;
  private int told;
  private int sinceKill;

  public DemoScript(RandomGenerator random) {
    this.random = random;
  }

  /**
   * @param consumers how many there are now; it may be any number, as visitors can join and kill
   */
  public Event next(int consumers) {
    Event event = told < OPENING.size() ? OPENING.get(told) : byChance();
    told++;
    if (consumers <= CONSUMERS_MIN) {
      event = Event.JOIN;
    } else if (consumers >= CONSUMERS_MAX && event == Event.JOIN) {
      event = Event.LEAVE;
    }
    sinceKill = event == Event.KILL ? 0 : sinceKill + 1;
    return event;
  }

  private Event byChance() {
    if (sinceKill >= EVENTS_WITHOUT_KILL_MAX) {
      return Event.KILL;
    }
    int dice = random.nextInt(10);
    return dice < 5 ? Event.JOIN : dice < 8 ? Event.LEAVE : Event.KILL;
  }
}
