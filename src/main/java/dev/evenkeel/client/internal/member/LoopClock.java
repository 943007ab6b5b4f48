package dev.evenkeel.client.internal.member;

/**
 * The time of one {@link MessageLoop}. Reading the clock may take as long as handling a message, so
 * among quick handlers it is read once in {@value #MESSAGES_MAX} messages.
 *
 * <p>A handler that takes long must still be noticed before the next one starts, because the member
 * may have lost its shards meanwhile (see {@code SelfFence}). {@link ClockTicks} tells, so the time
 * is hardly older than one of its steps. If the whole program stands still, its ticks do too. So
 * when it goes on, at most {@value #MESSAGES_MAX} quick handlers start before the time is read.
 */
final class LoopClock {
  /** Most messages between two readings. */
  static final int MESSAGES_MAX = 16;

  /** How old the time may be: twice the step of the ticks, because their thread may be late. */
  static final long AGE_MILLIS_MAX = 2 * ClockTicks.STEP_MILLIS;

  /** Handlers are quick if they take less, on average since the last reading. */
  private static final long QUICK_NANOS = 2_000;

  private long nanos;
  private long millis;
  private int ticks;
  private boolean quick;
  private int every;
  private int messages;

  /** A turn of the loop begins. */
  void begin() {
    messages = 0;
    read();
  }

  /** Some messages have been given to their handlers. */
  void passed(int some) {
    messages += some;
    if (messages >= every || ticks != ClockTicks.count()) {
      read();
    }
  }

  void read() {
    // If a tick comes in between, the time is read once too often.
    ticks = ClockTicks.count();
    long now = Clock.nanos();
    if (messages > 0) {
      quick = now - nanos <= messages * QUICK_NANOS;
      messages = 0;
    }
    every = quick && ClockTicks.use() ? MESSAGES_MAX : 1;
    nanos = now;
    millis = now / 1_000_000;
  }

  long nanos() {
    return nanos;
  }

  long millis() {
    return millis;
  }
}
