package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Owners of a shard that died, or were taken for stuck, one after another without progress of the
 * group. Perhaps one of the messages that they handled is the reason.
 *
 * <pre>
 * deaths                                                             then
 * the first, or the first since the group made progress              count 1 at the committed offset
 * another at the same committed offset                               one more
 * another, and the message that was due first for another attempt
 * at the last death still is, whatever progress the group has made   one more
 * from {@link #CAREFUL_FROM} on the shard is handled with care: one message at a time, each is
 * committed before the next begins, and the log knows which one has begun
 *   while a message had begun                                        one more for that message, if it
 *                                                                    is the same; else CAREFUL_FROM
 *   while none had begun                                             as before
 * </pre>
 *
 * <p>Care ends when the group has made enough progress.
 *
 * <p>In mode level, the level dispatcher counts for each message, and says which one the most
 * members died of. Up to {@link #CAREFUL_FROM} deaths, when members have many messages in hand,
 * that may be any of those from {@code offset} to {@code until}.
 *
 * @param offset the message that may be the reason
 * @param count how many owners died
 * @param until care ends when the group has committed this offset
 * @param begun with care: the message that was begun and is not over. Before it: the message that
 *     was due first for another attempt at the last death, and may have begun, as long as it is not
 *     over. -1: none
 */
public record Crashes(long offset, int count, long until, long begun) {
  /** From so many deaths on, the shard is handled with care. */
  public static final int CAREFUL_FROM = 2;

  /**
   * Care lasts for at most this many messages: more than an owner has in its handlers. If the
   * reason lies further away, further deaths lead there.
   */
  public static final int CAREFUL_MESSAGES = 100;

  /** Whether the shard is handled with care. */
  public boolean careful() {
    return count >= CAREFUL_FROM;
  }

  /** An owner has begun a message; -1: it is over. */
  Crashes begun(long message) {
    return new Crashes(offset, count, until, message);
  }

  /**
   * The group has committed an offset.
   *
   * @return null: nothing is suspected any more
   */
  @Nullable Crashes progressed(long committed) {
    if (careful()) {
      return committed >= until ? null : begun(-1);
    }
    return committed > offset && begun < 0 ? null : this;
  }

  /**
   * A level dispatcher says of which messages its members died.
   *
   * @param before null: nothing was suspected
   * @param end the next offset of the shard
   */
  static Crashes said(@Nullable Crashes before, Outcome.Died by, long committed, long end) {
    if (before != null && before.offset == by.offset() && before.count > by.deaths()) {
      // It is repeated late.
      return before;
    }
    // One that waits for another attempt lies below, where progress says nothing of it.
    long least = by.offset() >= committed ? by.until() : committed + CAREFUL_MESSAGES;
    long until = Math.max(committed + 1, Math.min(Math.max(by.until(), least), end));
    return new Crashes(by.offset(), by.deaths(), until, -1);
  }

  /**
   * Another owner has died.
   *
   * @param before null: nothing was suspected
   * @param end the next offset of the shard
   * @param retry the message that is due first for another attempt; -1: none waits for one
   */
  static Crashes died(@Nullable Crashes before, long committed, long end, long retry) {
    long until = Math.max(committed + 1, Math.min(committed + CAREFUL_MESSAGES, end));
    if (before == null) {
      return new Crashes(committed, 1, until, retry);
    }
    if (!before.careful()) {
      boolean again = before.offset == committed;
      boolean ofRetry = !again && before.begun >= 0 && before.begun == retry;
      return again || ofRetry
          ? new Crashes(ofRetry ? retry : committed, before.count + 1, until, -1)
          : new Crashes(committed, 1, until, retry);
    }
    if (before.begun < 0) {
      return before;
    }
    int count = before.begun == before.offset ? before.count + 1 : CAREFUL_FROM;
    return new Crashes(before.begun, count, Math.max(until, before.until), -1);
  }
}
