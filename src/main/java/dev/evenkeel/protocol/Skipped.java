package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * What a limit of the topic has dropped before a group had consumed it. An owner that had already
 * fetched some of these messages may have handled them all the same.
 *
 * @param first offset of the first such message
 * @param last offset of the last one
 * @param total how many there were from {@code first} to {@code last}: fewer than offsets if the
 *     group has consumed others in between
 * @param millis when the last one was dropped, in the time of the log
 */
public record Skipped(long first, long last, long total, long millis) {
  /** The log forgets the figures this long after it dropped the last message. */
  public static final long KEPT_MILLIS = 7L * 24 * 3600 * 1000;

  /**
   * More is dropped: the messages from {@code from} up to {@code to}, which is kept.
   *
   * @param before what was dropped earlier
   */
  static Skipped more(@Nullable Skipped before, long from, long to, long millis) {
    return before == null
        ? new Skipped(from, to - 1, to - from, millis)
        : new Skipped(before.first, to - 1, before.total + to - from, millis);
  }

  /** Whether it was long ago. */
  public boolean isOld(long nowMillis) {
    return nowMillis - millis >= KEPT_MILLIS;
  }

  /** For people. */
  public String text() {
    if (total == 1) {
      return "1 message, offset " + last;
    }
    boolean all = total > last - first;
    String form = all ? "%d messages, offsets %d to %d" : "%d messages between offsets %d and %d";
    return form.formatted(total, first, last);
  }
}
