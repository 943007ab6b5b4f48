package dev.evenkeel.client.internal.consume;

/** What a core has in its books, for tests in other packages. */
public final class Pending {
  private Pending() {}

  /** Messages that were fetched and are not finished. */
  public static long messages(ConsumerCore core) {
    return core.flow().messages();
  }

  /** Their bytes. */
  public static long bytes(ConsumerCore core) {
    return core.flow().bytes();
  }
}
