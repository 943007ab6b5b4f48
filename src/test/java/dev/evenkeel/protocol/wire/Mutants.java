package dev.evenkeel.protocol.wire;

import java.util.Arrays;
import java.util.Random;

/** Bytes with a fault in them, for tests of what reads them. */
public final class Mutants {
  /** How many a test makes. {@code -Pfull} makes it a million. */
  public static final int COUNT = Integer.getInteger("evenkeel.fuzz", 20_000);

  private Mutants() {}

  /** To be told when a test fails: {@code -Devenkeel.seed} repeats it. */
  public static long seed() {
    return Long.getLong("evenkeel.seed", System.nanoTime());
  }

  /**
   * @param bytes at least one; not changed
   * @return mostly another array of bytes; it may by chance be the same
   */
  public static byte[] of(byte[] bytes, Random random) {
    byte[] changed = bytes.clone();
    switch (random.nextInt(7)) {
      case 0 -> changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
      case 1 -> changed = Arrays.copyOf(changed, random.nextInt(changed.length + 1));
      case 2 -> {
        // Zeros, as a file system may leave them after a crash.
        int from = random.nextInt(changed.length);
        Arrays.fill(changed, from, changed.length, (byte) 0);
      }
      case 3 -> {
        int from = random.nextInt(changed.length);
        int to = Math.min(changed.length, from + 1 + random.nextInt(16));
        for (int i = from; i < to; i++) {
          changed[i] = (byte) random.nextInt();
        }
      }
      case 4 -> {
        // A number that is as large, or as small, as can be.
        int from = random.nextInt(changed.length);
        int to = Math.min(changed.length, from + 4);
        Arrays.fill(changed, from, to, (byte) (random.nextBoolean() ? 0xFF : 0x7F));
      }
      case 5 -> {
        // More than there was.
        changed = Arrays.copyOf(changed, changed.length + 1 + random.nextInt(64));
        for (int i = bytes.length; i < changed.length; i++) {
          changed[i] = (byte) random.nextInt();
        }
      }
      default -> {
        // A hole: bytes that are not there, and the rest in their place.
        int from = random.nextInt(changed.length);
        int to = Math.min(changed.length, from + 1 + random.nextInt(40));
        byte[] less = Arrays.copyOf(changed, changed.length - (to - from));
        System.arraycopy(changed, to, less, from, changed.length - to);
        changed = less;
      }
    }
    return changed;
  }
}
