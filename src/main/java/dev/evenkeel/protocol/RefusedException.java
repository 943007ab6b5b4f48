package dev.evenkeel.protocol;

/**
 * Carries a {@link Refusal} through a future. It has no stack trace: it is an answer, not a bug.
 */
public class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

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
