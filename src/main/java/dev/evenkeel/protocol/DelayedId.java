package dev.evenkeel.protocol;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names a delayed message of a topic until it is delivered. Its text is {@code
 * SHARD-DUE-SERIAL-POSITION}, for example {@code 1-1795194816800-17-0}. Programs should not rely on
 * the parts of the text. Ids sort by due time.
 *
 * @param shard index of the shard in which the message waits
 * @param dueMillis when it is due, milliseconds since 1970
 * @param serial of its batch among the delayed batches of the shard
 * @param position in the batch as it was sent, from 0
 */
public record DelayedId(int shard, long dueMillis, long serial, int position)
    implements Comparable<DelayedId> {
  private static final Pattern TEXT =
      Pattern.compile("(\\d{1,9})-(\\d{1,18})-(\\d{1,18})-(\\d{1,9})");

  private static final Comparator<DelayedId> BY_DUE_TIME =
      Comparator.comparingLong(DelayedId::dueMillis)
          .thenComparingInt(DelayedId::shard)
          .thenComparingLong(DelayedId::serial)
          .thenComparingInt(DelayedId::position);

  /** Below every id that is due at this time or later. */
  public static DelayedId first(long dueMillis) {
    return new DelayedId(0, dueMillis, 0, 0);
  }

  /**
   * Reads what {@link #text} wrote.
   *
   * @throws RefusedException INVALID
   */
  public static DelayedId parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw Refusal.INVALID.error(
          "'%s' is no id of a delayed message: an id looks like 1-1795194816800-17-0; the answer to a"
              + " send has it, and the list of delayed messages",
          text);
    }
    return new DelayedId(
        Integer.parseInt(parts.group(1)),
        Long.parseLong(parts.group(2)),
        Long.parseLong(parts.group(3)),
        Integer.parseInt(parts.group(4)));
  }

  public String text() {
    return shard + "-" + dueMillis + "-" + serial + "-" + position;
  }

  /** The first place in a shard that is not below this one, in the order of due times. */
  public DelayedId in(int otherShard) {
    if (otherShard == shard) {
      return this;
    }
    return new DelayedId(otherShard, otherShard < shard ? dueMillis + 1 : dueMillis, 0, 0);
  }

  @Override
  public int compareTo(DelayedId other) {
    return BY_DUE_TIME.compare(this, other);
  }

  @Override
  public String toString() {
    return text();
  }
}
