package dev.evenkeel.client.internal.level;

/**
 * When a report is sent: one at a time; at once when as many messages have ended as matter to the
 * group, or when nothing is left to start; a moment later when fewer have ended; and from time to
 * time while anything is in hand. Times are monotonic milliseconds.
 */
final class ReportPlan {
  /** Most messages whose ends may wait for more of their kind. */
  private static final int BATCH_MESSAGES_MAX = 256;

  /** How long an end may wait for others. */
  static final long ENDED_DELAY_MILLIS = 2;

  /** How long the news that something was received may wait for an end: the dealer was told. */
  static final long RECEIVED_DELAY_MILLIS = 20;

  /** While anything is in hand a report is sent so often at least. */
  static final long INTERVAL_MILLIS_MAX = 1_000;

  private static final long INTERVAL_MILLIS_MIN = 50;

  private final int batch;
  private long number;
  private boolean inFlight;
  private long sentMillis;
  private long notBeforeMillis;
  private long intervalMillis = INTERVAL_MILLIS_MAX;
  private long ended;
  private long endedSinceMillis;

  /** Since when the news that something was received waits; or -1. */
  private long receivedSinceMillis = -1;

  private long endedInFlight;

  /**
   * @param range of the group: a sixteenth of it is told at once, so with a range below 32 every
   *     single end
   */
  ReportPlan(int range) {
    batch = Math.max(1, Math.min(range / 16, BATCH_MESSAGES_MAX));
  }

  /** A session begins: what was on its way is of no interest, and that it has begun is news. */
  void begin(long now) {
    inFlight = false;
    ended = 0;
    receivedSinceMillis = now;
    notBeforeMillis = now;
    sentMillis = now;
  }

  void received(long now) {
    receivedSinceMillis = receivedSinceMillis < 0 ? now : receivedSinceMillis;
  }

  void ended(long now) {
    if (ended++ == 0) {
      endedSinceMillis = now;
    }
  }

  /** Whether something ended or was received that no taken report tells. */
  boolean untold() {
    return inFlight || ended > 0 || receivedSinceMillis >= 0;
  }

  /** Whether the end of something waits only for its moment. */
  boolean soon() {
    return !inFlight && ended > 0;
  }

  /**
   * @param startable messages that were not begun
   * @param inHand messages that have not ended
   */
  boolean due(int startable, int inHand, long now) {
    if (inFlight || now < notBeforeMillis) {
      return false;
    }
    return ended >= batch
        || ended > 0 && (startable == 0 || now - endedSinceMillis >= ENDED_DELAY_MILLIS)
        || receivedSinceMillis >= 0 && now - receivedSinceMillis >= RECEIVED_DELAY_MILLIS
        || inHand > 0 && now - sentMillis >= intervalMillis;
  }

  /** Returns the number of the report that is sent now. */
  long sent(long now) {
    inFlight = true;
    sentMillis = now;
    endedInFlight = ended;
    ended = 0;
    receivedSinceMillis = -1;
    return ++number;
  }

  /** Whether the report of that number awaits its answer. */
  boolean awaits(long which) {
    return inFlight && which == number;
  }

  /**
   * The report was taken. Returns when it was sent.
   *
   * @param mayStartMillis what the dealer allows from its sending on: the next one comes well
   *     before that ends
   */
  long taken(long mayStartMillis) {
    inFlight = false;
    intervalMillis =
        Math.max(INTERVAL_MILLIS_MIN, Math.min(INTERVAL_MILLIS_MAX, mayStartMillis / 3));
    return sentMillis;
  }

  /** The report was not taken, or nobody knows: another says the same later. */
  void failed(long now, long waitMillis) {
    inFlight = false;
    if (endedInFlight > 0) {
      ended += endedInFlight;
      endedSinceMillis = now;
    }
    received(now);
    notBeforeMillis = now + waitMillis;
  }

  /** There is a connection again, or a dealer that asks again: a report may be taken now. */
  void hurry(long now) {
    notBeforeMillis = Math.min(notBeforeMillis, now);
  }
}
