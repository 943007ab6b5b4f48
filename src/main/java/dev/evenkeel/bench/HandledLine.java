package dev.evenkeel.bench;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A line in which a consumer process reports a handled message: {@code handled MICROS SHARD OFFSET
 * EPOCH KEY SEQUENCE}.
 *
 * @param micros when it was handled, in microseconds since 1970
 * @param epoch the epoch of the lease; 0 if there is none
 * @param key the key of the message
 * @param sequence the number of the message among those of its key, from 0
 */
record HandledLine(long micros, int shard, long offset, long epoch, String key, long sequence) {
  private static final String BEGIN = "handled ";
  private static final int FIELDS = 7;

  /**
   * Formats the line for a message that was handled now.
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

  /** Parses a line of {@link #format}; null if it is another line, or was cut off by a kill. */
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
