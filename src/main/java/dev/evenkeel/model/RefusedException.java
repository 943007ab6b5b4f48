package dev.evenkeel.model;

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

  public Refusal refusal() {
    return refusal;
  }

  @Override
  public String toString() {
    return refusal + ": " + getMessage();
  }
}
