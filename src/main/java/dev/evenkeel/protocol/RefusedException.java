package dev.evenkeel.protocol;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Carries a {@link Refusal} through a future. It has no stack trace: it is an answer, not a bug.
 *
 * <p>On the wire a refusal is its code and a text, the message. What programs read of it is in
 * fields of {@link NotLeader} and {@link OutOfRange}; {@link #received} alone reads it from the
 * text.
 */
public class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Pattern RANGE = Pattern.compile("(\\d{1,18})\\.\\.(\\d{1,18})");

  private final Refusal refusal;

  public RefusedException(Refusal refusal, String detail) {
    super(detail, null, false, false);
    this.refusal = refusal;
  }

  /**
   * @param format as {@link String#format} takes it
   */
  public RefusedException(Refusal refusal, String format, Object... values) {
    this(refusal, String.format(format, values));
  }

  /** NOT_LEADER. */
  public static final class NotLeader extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final String leader;

    /**
     * @param leader id of the node that leads the log group; null if nobody is known to lead it
     */
    public NotLeader(String leader) {
      super(Refusal.NOT_LEADER, leader == null ? "" : leader);
      this.leader = leader;
    }

    /** Id of the node that leads the log group, or null. */
    public String leader() {
      return leader;
    }
  }

  /** OFFSET_OUT_OF_RANGE of a read, with the offsets that the shard has. */
  public static final class OutOfRange extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final long start;
    private final long end;

    /**
     * @param start the first offset that is kept
     * @param end the next offset that will be given
     */
    public OutOfRange(long start, long end) {
      super(Refusal.OFFSET_OUT_OF_RANGE, start + ".." + end);
      this.start = start;
      this.end = end;
    }

    public long start() {
      return start;
    }

    public long end() {
      return end;
    }
  }

  /** The refusal that another program has sent as {@link #refusal} and {@link #getMessage}. */
  public static RefusedException received(Refusal refusal, String detail) {
    String text = detail == null ? "" : detail;
    if (refusal == Refusal.NOT_LEADER && text.indexOf(' ') < 0) {
      return new NotLeader(text.isEmpty() ? null : text);
    }
    Matcher range = RANGE.matcher(refusal == Refusal.OFFSET_OUT_OF_RANGE ? text : "");
    return range.matches()
        ? new OutOfRange(Long.parseLong(range.group(1)), Long.parseLong(range.group(2)))
        : new RefusedException(refusal, detail);
  }

  /** The refusal that {@code failure} is; anything else is an unknown outcome. */
  public static RefusedException of(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : new RefusedException(Refusal.INDETERMINATE, "failed: " + failure);
  }

  public Refusal refusal() {
    return refusal;
  }

  /**
   * What is wrong and what to do, for a person: never empty. The message alone may be, or be no
   * more than a leader's id.
   */
  public String words() {
    String detail = getMessage();
    if (detail == null || detail.isBlank()) {
      return refusal.usualWords();
    }
    return refusal == Refusal.NOT_LEADER && detail.indexOf(' ') < 0
        ? "node " + detail + " leads the log group now: try again"
        : detail;
  }

  @Override
  public String toString() {
    return refusal + ": " + words();
  }
}
