package dev.evenkeel.client.internal.level;

/**
 * When a member reports to the level dispatcher. One report is under way at a time. One is sent at
 * once when a sixteenth of the range has ended, or when nothing is left to start; 2 ms later when
 * fewer messages have ended; and at least once a second while anything is in hand. Times are
 * monotonic milliseconds.
 */
final class ReportPlan {
  /** Most ended messages that wait for more of their kind before a report. */
  private static final int BATCH_MESSAGES_MAX = 256;

  /** How long an ended message may wait for others. */
  static final long ENDED_DELAY_MILLIS = 2;

  /**
   * How long a report that only acknowledges receipt may wait for ended messages: the answer to the
   * hand-out has acknowledged it already.
   */
  static final long RECEIVED_DELAY_MILLIS = 20;

  /** Longest time between two reports while anything is in hand. */
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

  /** Since when a receipt waits to be reported; -1: none does. */
  private long receivedSinceMillis = -1;

  private long endedInFlight;

  /**
   * @param range of the group; with a range below 32 every single end is reported at once
   */
  ReportPlan(int range) {
    batch = Math.max(1, Math.min(range / 16, BATCH_MESSAGES_MAX));
  }

  /**
   * A session begins: a report that is under way no longer counts, and the next one says that the
   * session has begun.
   */
  void begin(long now) {
    inFlight = false;
    ended = 0;
    receivedSinceMillis = now;
    notBeforeMillis = now;
    sentMillis = now;
  }

  /** The session is over: the answer to a report that is under way no longer counts. */
  void end() {
    inFlight = false;
  }

  void received(long now) {
    receivedSinceMillis = receivedSinceMillis < 0 ? now : receivedSinceMillis;
  }

  void ended(long now) {
    if (ended++ == 0) {
      endedSinceMillis = now;
    }
  }

  /** Whether anything ended or was received that no accepted report contains. */
  boolean unreported() {
    return inFlight || ended > 0 || receivedSinceMillis >= 0;
  }

  /** Whether only the delay holds back a report of ended messages. */
  boolean soon() {
    return !inFlight && ended > 0;
  }

  /**
   * @param startable messages that were not begun
   * @param inHand messages that have not ended
   */
  boolean due(int startable, int inHand, long now) {
    if (!may(now)) {
      return false;
    }
    return ended >= batch
        || ended > 0 && (startable == 0 || now - endedSinceMillis >= ENDED_DELAY_MILLIS)
        || receivedSinceMillis >= 0 && now - receivedSinceMillis >= RECEIVED_DELAY_MILLIS
        || inHand > 0 && now - sentMillis >= intervalMillis;
  }

  /** Whether a report may be sent. */
  boolean may(long now) {
    return !inFlight && now >= notBeforeMillis;
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
   * The level dispatcher has accepted the report. Returns when it was sent.
   *
   * @param mayStartMillis how long after its sending handlers may start; the next report is sent
   *     well before that ends
   */
  long taken(long mayStartMillis) {
    inFlight = false;
    intervalMillis =
        Math.max(INTERVAL_MILLIS_MIN, Math.min(INTERVAL_MILLIS_MAX, mayStartMillis / 3));
    return sentMillis;
  }

  /** The report was refused, or its answer was lost: the next one says the same. */
  void failed(long now, long waitMillis) {
    inFlight = false;
    if (endedInFlight > 0) {
      ended += endedInFlight;
      endedSinceMillis = now;
    }
    received(now);
    notBeforeMillis = now + waitMillis;
  }

  /** The connection is back, or the level dispatcher asks again: a report may be sent at once. */
  void hurry(long now) {
    notBeforeMillis = Math.min(notBeforeMillis, now);
  }
}
