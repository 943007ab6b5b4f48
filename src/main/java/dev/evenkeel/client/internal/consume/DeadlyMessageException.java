package dev.evenkeel.client.internal.consume;

/** Why no handler gets a message any more: too many consumers died while they handled it. */
public final class DeadlyMessageException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int deaths;

  /**
   * @param deaths how many
   */
  public DeadlyMessageException(int deaths) {
    super(
        "its consumers died "
            + deaths
            + " times while it was handled, so no handler gets it any more",
        null,
        false,
        false);
    this.deaths = deaths;
  }

  int deaths() {
    return deaths;
  }

  /** What a dead letter says: the class tells nobody anything. */
  @Override
  public String toString() {
    return getMessage();
  }
}
