package dev.evenkeel.level;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Keeps what other threads read off the cache line of whatever lies before it, and off the next one
 * too, which processors fetch along.
 */
abstract class SeatFront {
  long p0;
  long p1;
  long p2;
  long p3;
  long p4;
  long p5;
  long p6;
  long p7;
  long p8;
  long p9;
  long p10;
  long p11;
  long p12;
  long p13;
  long p14;
  long p15;
}

/**
 * The one word of a seat that decides: steps granted, and whether the seat is still taken. Both
 * change by compare-and-set of the whole, so a step and the end of a claim cannot both happen.
 */
abstract class SeatWord extends SeatFront {
  /** The two lowest bits. Neither: taken. */
  static final long ASIDE = 1;

  static final long DESTROYED = 2;
  static final long MARKS = 3;

  /** One step, in the word. */
  static final long STEP = 4;

  private static final VarHandle WORD;

  static {
    try {
      WORD = MethodHandles.lookup().findVarHandle(SeatWord.class, "word", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // by WORD
  private volatile long word;

  /** Steps and marks as of now. */
  long word() {
    return word;
  }

  /** Replaces {@code expected}; false if the word is another by now. */
  boolean replaceWord(long expected, long next) {
    return WORD.compareAndSet(this, expected, next);
  }

  static long steps(long word) {
    return word >> 2;
  }

  static boolean isTaken(long word) {
    return (word & MARKS) == 0;
  }
}
