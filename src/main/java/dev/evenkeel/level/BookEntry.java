package dev.evenkeel.level;

/** One member's line in a {@link LevelCounts}. */
final class BookEntry {
  final String name;
  final long joined;
  final long base;

  /** Where it is in the book's arrays; changes when others leave. */
  int slot;

  long finished;
  int inHand;

  /** Whether a finished message of it was heard of, and its references to older ones are final. */
  boolean heard;

  /** By slot: own count less that one's, at the moment from which this one is held to it. */
  long[] references;

  /** When it last finished something, or got something after it had nothing. */
  long quietSinceMillis;

  /** Finished and in hand together may reach this; right while {@code version} is the book's. */
  long limit;

  int version = -1;

  /** Slot of the one that sets the limit, or −1, and its count then. */
  int blocker = -1;

  long blockerFinished;

  BookEntry(String name, long joined, long base, int room) {
    this.name = name;
    this.joined = joined;
    this.base = base;
    this.references = new long[room];
  }

  /** The most it can have finished by now. */
  long most() {
    return finished + inHand;
  }
}
