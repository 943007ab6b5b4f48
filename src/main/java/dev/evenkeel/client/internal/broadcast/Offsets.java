package dev.evenkeel.client.internal.broadcast;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The content of the offsets file of a consumer in mode broadcast. Its bytes are lines that a
 * person can read; the last one is the CRC-32C of all before it.
 *
 * <pre>
 * evenkeel-offsets 1
 * cluster 3f0c...
 * group prices
 * member web-1
 * topic quotes 7          name and number, then shard and next offset
 * 0 1234
 * 1 99
 * crc32c 5d0a9c11
 * </pre>
 *
 * <p>The same offsets have only one form, and no other is read. So every change and every cut is
 * noticed, even of the case of a letter.
 *
 * @param cluster id of the cluster that the offsets belong to
 * @param group its group
 * @param member its name
 * @param topics sorted by name
 */
record Offsets(String cluster, String group, String member, List<Topic> topics) {
  /**
   * The offsets of a topic.
   *
   * @param name its name
   * @param id its number: a topic that was deleted and made again has another
   * @param next by shard: the next offset to be consumed
   */
  record Topic(String name, int id, SortedMap<Integer, Long> next) {
    Topic copy() {
      return new Topic(name, id, new TreeMap<>(next));
    }
  }

  /** The bytes are not those of offsets. The message says why, in a few words. */
  static final class DamagedException extends Exception {
    private static final long serialVersionUID = 1L;

    DamagedException(String why) {
      super(why);
    }
  }

  /** Longer files count as damaged: 16 MiB. */
  static final int BYTES_MAX = 16 << 20;

  private static final String FIRST_LINE = "evenkeel-offsets 1";
  private static final String CRC = "crc32c ";
  private static final int CRC_LINE_BYTES = CRC.length() + 8 + 1;

  byte[] encode() {
    StringBuilder text = new StringBuilder(FIRST_LINE);
    text.append("\ncluster ").append(cluster);
    text.append("\ngroup ").append(group);
    text.append("\nmember ").append(member).append('\n');
    for (Topic topic : topics) {
      text.append("topic ").append(topic.name()).append(' ').append(topic.id()).append('\n');
      topic
          .next()
          .forEach((shard, next) -> text.append(shard).append(' ').append(next).append('\n'));
    }
    byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
    byte[] all = Arrays.copyOf(body, body.length + CRC_LINE_BYTES);
    byte[] last = crcLine(body, body.length);
    System.arraycopy(last, 0, all, body.length, last.length);
    return all;
  }

  private static byte[] crcLine(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return String.format("%s%08x\n", CRC, crc.getValue()).getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * @throws DamagedException if the bytes are not what {@link #encode} gives
   */
  static Offsets decode(byte[] bytes) throws DamagedException {
    int bodyBytes = bytes.length - CRC_LINE_BYTES;
    if (bytes.length > BYTES_MAX) {
      throw new DamagedException("it has " + bytes.length + " bytes");
    }
    if (bodyBytes < 0) {
      throw new DamagedException(
          bytes.length == 0 ? "it is empty" : "it ends after " + bytes.length + " bytes");
    }
    byte[] last = Arrays.copyOfRange(bytes, bodyBytes, bytes.length);
    if (!new String(last, StandardCharsets.ISO_8859_1).startsWith(CRC)) {
      throw new DamagedException("its end is missing");
    }
    if (!Arrays.equals(last, crcLine(bytes, bodyBytes))) {
      throw new DamagedException("its checksum does not fit its content");
    }
    Offsets offsets;
    try {
      offsets = parse(new String(bytes, 0, bodyBytes, StandardCharsets.UTF_8));
    } catch (RuntimeException e) {
      throw new DamagedException("it is malformed");
    }
    if (!Arrays.equals(bytes, offsets.encode())) {
      throw new DamagedException("it is not as it was written");
    }
    return offsets;
  }

  private static Offsets parse(String body) {
    String[] lines = body.split("\n");
    List<Topic> topics = new ArrayList<>();
    for (int i = 4; i < lines.length; i++) {
      String[] words = lines[i].split(" ");
      if (words[0].equals("topic")) {
        topics.add(new Topic(words[1], Integer.parseInt(words[2]), new TreeMap<>()));
      } else {
        topics
            .get(topics.size() - 1)
            .next()
            .put(Integer.parseInt(words[0]), Long.parseLong(words[1]));
      }
    }
    return new Offsets(
        after("cluster ", lines[1]), after("group ", lines[2]), after("member ", lines[3]), topics);
  }

  private static String after(String word, String line) {
    return line.substring(word.length());
  }
}
