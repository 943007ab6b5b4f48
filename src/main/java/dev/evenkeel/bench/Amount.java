package dev.evenkeel.bench;

/**
 * How much is sent in one go: so many messages, or as many as a time takes.
 *
 * @param messages 0: as many as go into {@code millis}
 * @param millis 0: as long as {@code messages} take
 */
record Amount(long messages, long millis) {
  static Amount messages(long count) {
    return new Amount(count, 0);
  }

  static Amount millis(long millis) {
    return new Amount(0, millis);
  }

  /** The share of one of {@code parts}; the first ones take what does not divide. */
  Amount share(int part, int parts) {
    return new Amount(messages / parts + (part < messages % parts ? 1 : 0), millis);
  }

  boolean goesOn(long sent, long elapsedNanos) {
    return messages > 0 ? sent < messages : elapsedNanos < millis * 1_000_000;
  }
}
