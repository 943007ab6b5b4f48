package dev.evenkeel.bench;

/**
 * How much a load sends: a number of messages, or for a time.
 *
 * @param messages 0: bounded by {@code millis}
 * @param millis 0: bounded by {@code messages}
 */
record Amount(long messages, long millis) {
  static Amount messages(long count) {
    return new Amount(count, 0);
  }

  static Amount millis(long millis) {
    return new Amount(0, millis);
  }

  /** The share of one of {@code parts}; the first ones get the remainder. */
  Amount share(int part, int parts) {
    return new Amount(messages / parts + (part < messages % parts ? 1 : 0), millis);
  }

  boolean goesOn(long sent, long elapsedNanos) {
    return messages > 0 ? sent < messages : elapsedNanos < millis * 1_000_000;
  }
}
