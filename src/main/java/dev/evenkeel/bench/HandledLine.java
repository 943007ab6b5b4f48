package dev.evenkeel.bench;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A line of a consumer about a message that it has handled: {@code handled MICROS SHARD OFFSET
 * EPOCH KEY SEQUENCE}.
 *
 * @param micros when, in microseconds since 1970, by the machine's clock
 * @param epoch of the lease, or 0 where there is none
 * @param key of the message
 * @param sequence of the message among those of its key, from 0
 */
record HandledLine(long micros, int shard, long offset, long epoch, String key, long sequence) {
  private static final String BEGIN = "handled ";
  private static final int FIELDS = 7;

  /**
   * Tells of a message that was handled now.
   *
   * @param payload {@code KEY SEQUENCE}, and perhaps more after a space
   */
  static String format(int shard, long offset, long epoch, byte[] payload) {
    String text = new String(payload, StandardCharsets.ISO_8859_1);
    int first = text.indexOf(' ');
    int second = text.indexOf(' ', first + 1);
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    return BEGIN
        + micros
        + " "
        + shard
        + " "
        + offset
        + " "
        + epoch
        + " "
        + (second < 0 ? text : text.substring(0, second));
  }

  /** What {@link #format} wrote; null if the line is another, or was cut off by a kill. */
  static HandledLine parse(String line) {
    String[] fields = line.split(" ");
    if (!line.startsWith(BEGIN) || fields.length != FIELDS) {
      return null;
    }
    return new HandledLine(
        Long.parseLong(fields[1]),
        Integer.parseInt(fields[2]),
        Long.parseLong(fields[3]),
        Long.parseLong(fields[4]),
        fields[5],
        Long.parseLong(fields[6]));
  }
}
