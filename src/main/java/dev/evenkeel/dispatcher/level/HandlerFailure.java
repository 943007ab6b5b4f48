package dev.evenkeel.dispatcher.level;

/** A member's handler failed; what it said is all that is known here. */
final class HandlerFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  HandlerFailure(String error) {
    super(error, null, false, false);
  }

  @Override
  public String toString() {
    return getMessage();
  }
}
