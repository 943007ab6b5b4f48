package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import org.jspecify.annotations.Nullable;

/**
 * A shard got another owner: one line of the rebalance history, as the meta log keeps it. A figure
 * that is unknown, or not known yet, is null.
 *
 * @param timeMillis of the grant, or when a dispatcher that did not see it learned of it;
 *     milliseconds since 1970
 * @param topic name of the topic of {@code shard} at that time
 * @param from null if nobody is known to have owned it before
 * @param reason a word of the outside contract; null if unknown
 * @param pauseMillis from the end of the old owner's last handler to the new owner's first fetch
 * @param releaseMillis from the drain to the release; null also if there was none
 * @param redelivered messages that the new owner got again
 * @param capped the old owner did not release within the longest time of a handover
 * @param epoch of the new owner, from 1
 * @param committed where the new owner began; null if unknown
 */
public record MoveRecord(
    long timeMillis,
    String group,
    String topic,
    Shard shard,
    @Nullable String from,
    String to,
    @Nullable String reason,
    @Nullable Long pauseMillis,
    @Nullable Long releaseMillis,
    @Nullable Long redelivered,
    boolean capped,
    long epoch,
    @Nullable Long committed) {

  /** Longest {@link #reason}. */
  public static final int REASON_CHARS_MAX = 120;

  /** Identifies a move: a shard of a group gets each epoch once. */
  public record Key(String group, Shard shard, long epoch) {}

  public Key key() {
    return new Key(group, shard, epoch);
  }

  /** Whether {@code other} of the same key is the same move. An epoch has one owner for ever. */
  public boolean sameAs(MoveRecord other) {
    return to.equals(other.to);
  }

  /**
   * This move with the figures that {@code later} adds. A figure that is known never becomes
   * unknown again, and the time does not change.
   */
  public MoveRecord updatedBy(MoveRecord later) {
    return new MoveRecord(
        timeMillis,
        group,
        topic,
        shard,
        either(from, later.from),
        to,
        either(reason, later.reason),
        either(later.pauseMillis, pauseMillis),
        either(later.releaseMillis, releaseMillis),
        either(later.redelivered, redelivered),
        capped || later.capped,
        epoch,
        either(committed, later.committed));
  }

  private static <T> @Nullable T either(@Nullable T first, @Nullable T second) {
    return first != null ? first : second;
  }

  /**
   * Returns this if it may be recorded.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public MoveRecord check() {
    Names.check("group", group);
    Names.check("topic", topic);
    Names.checkHolder(to);
    if (from != null) {
      Names.checkHolder(from);
    }
    if (reason != null && reason.length() > REASON_CHARS_MAX) {
      throw invalid("a reason of at most " + REASON_CHARS_MAX + " characters");
    }
    if (shard.topicId() < 1 || shard.shard() < 0 || epoch < 1) {
      throw invalid("a topic number and an epoch from 1, and a shard from 0");
    }
    if (timeMillis < 0
        || negative(pauseMillis)
        || negative(releaseMillis)
        || negative(redelivered)
        || negative(committed)) {
      throw invalid("figures from 0, or none");
    }
    return this;
  }

  private static boolean negative(@Nullable Long figure) {
    return figure != null && figure < 0;
  }

  private static RefusedException invalid(String right) {
    return INVALID.error("a move has " + right);
  }
}
