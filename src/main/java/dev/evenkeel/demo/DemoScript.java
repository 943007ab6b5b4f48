package dev.evenkeel.demo;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Decides which consumers come and go: at first each kind of event, so that a short run shows all,
 * then at random, between {@link #CONSUMERS_MIN} and {@link #CONSUMERS_MAX} consumers. Pure:
 * callers pass the randomness.
 */
public final class DemoScript {
  public static final int CONSUMERS_MIN = 2;
  public static final int CONSUMERS_MAX = 6;

  /** How many consumers the demo starts with. */
  public static final int CONSUMERS_AT_START = 3;

  private static final List<Event> OPENING =
      List.of(Event.JOIN, Event.KILL, Event.JOIN, Event.LEAVE);

  /** After this many events without a kill, the next event is one. */
  private static final int EVENTS_WITHOUT_KILL_MAX = 4;

  /** What happens to one consumer. */
  public enum Event {
    JOIN,
    LEAVE,
    /** Its process is killed, so it releases nothing. */
    KILL
  }

  private final RandomGenerator random;
  private int events;
  private int sinceKill;

  public DemoScript(RandomGenerator random) {
    this.random = random;
  }

  /**
   * @param consumers how many there are now: any number, because users can start and kill some
   */
  public Event next(int consumers) {
    Event event = events < OPENING.size() ? OPENING.get(events) : byChance();
    events++;
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
