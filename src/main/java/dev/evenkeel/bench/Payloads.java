package dev.evenkeel.bench;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Keys and payloads that are generated before the load runs. Payloads are random bytes, which
 * cannot be compressed, or lines like those of a log, which can. The same seed gives the same
 * messages.
 */
class Payloads {
  private static final int POOL_BYTES = 4 << 20;
  private static final int POOL_MAX = 1_024;

  /** Text that repeats within a batch would be compressed too well. */
  private static final int TEXTS_MAX = 16_384;

  private final byte[][] payloads;
  private final byte[][] keys;

  /**
   * @param keyCount 0: messages have no key
   */
  Payloads(int sizeBytes, int keyCount, long seed) {
    this(sizeBytes, keyCount, seed, false);
  }

  /**
   * @param text whether payloads can be compressed
   */
  Payloads(int sizeBytes, int keyCount, long seed, boolean text) {
    SplittableRandom random = new SplittableRandom(seed);
    int most = Math.min(text ? TEXTS_MAX : POOL_MAX, POOL_BYTES / Math.max(1, sizeBytes));
    payloads = new byte[Math.max(1, most)][];
    for (int i = 0; i < payloads.length; i++) {
      payloads[i] = text ? text(sizeBytes, random) : bytes(sizeBytes, random);
    }
    keys = new byte[keyCount][];
    for (int i = 0; i < keyCount; i++) {
      keys[i] = keyText(i).getBytes(StandardCharsets.US_ASCII);
    }
  }

  private static byte[] bytes(int sizeBytes, SplittableRandom random) {
    byte[] bytes = new byte[sizeBytes];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] text(int sizeBytes, SplittableRandom random) {
    StringBuilder line = new StringBuilder();
    while (line.length() < sizeBytes) {
      line.append("{\"time\":").append(1_700_000_000_000L + random.nextInt(1_000_000));
      line.append(",\"level\":\"INFO\",\"customer\":").append(random.nextInt(100_000));
      line.append(",\"path\":\"/orders/").append(random.nextInt(1_000_000)).append("\"}\n");
    }
    return line.substring(0, sizeBytes).getBytes(StandardCharsets.US_ASCII);
  }

  /** The i-th of the keys. */
  static String keyText(int i) {
    return "key-" + i;
  }

  /** The payload of the i-th message; do not change it. */
  byte[] payload(long i) {
    return payloads[(int) (i % payloads.length)];
  }

  /** The key of the i-th message, spread over all keys; null if there are none. */
  byte[] key(long i) {
    if (keys.length == 0) {
      return null;
    }
    // Steps of the golden ratio spread evenly, without the runs of neighbours that counting gives.
    long mixed = i * 0x9E3779B97F4A7C15L;
    return keys[(int) ((mixed >>> 33) % keys.length)];
  }
}
