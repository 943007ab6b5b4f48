package dev.evenkeel.bench;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Payloads that are all different, or of which some come again and again by Zipf's law. They have
 * no keys.
 */
final class RepeatedPayloads extends Payloads {
  private final AtomicLong next = new AtomicLong();
  private final double[] sums;
  private final long seed;

  /**
   * @param different how many payloads there are; 0: each message has one of its own
   * @param exponent of Zipf's law
   */
  RepeatedPayloads(int sizeBytes, int different, double exponent, long seed) {
    super(Math.max(Long.BYTES, sizeBytes), 0, seed);
    this.seed = seed;
    sums = new double[different];
    double sum = 0;
    for (int i = 0; i < different; i++) {
      sum += Math.pow(i + 1, -exponent);
      sums[i] = sum;
    }
  }

  @Override
  byte[] payload(long i) {
    byte[] payload = super.payload(0).clone();
    long number = next.getAndIncrement();
    ByteBuffer.wrap(payload).putLong(sums.length == 0 ? number : drawn(number));
    return payload;
  }

  private int drawn(long number) {
    double at = new SplittableRandom(seed + number).nextDouble() * sums[sums.length - 1];
    int found = Arrays.binarySearch(sums, at);
    return found < 0 ? -found - 1 : found;
  }
}
