package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Outcome;

/** What the log knows a key by: 64 bits of it. Part of what is stored: it must never change. */
final class KeyHash {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private KeyHash() {}

  /** FNV-1a with the finisher of MurmurHash3; never {@link Outcome#NO_LANE}. */
  static long of(byte[] key) {
    long hash = FNV_OFFSET;
    for (byte each : key) {
      hash = (hash ^ each & 0xFF) * FNV_PRIME;
    }
    hash ^= hash >>> 33;
    hash *= 0xff51afd7ed558ccdL;
    hash ^= hash >>> 33;
    hash *= 0xc4ceb9fe1a85ec53L;
    hash ^= hash >>> 33;
    return hash == Outcome.NO_LANE ? 1 : hash;
  }
}
