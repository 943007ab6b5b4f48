package dev.evenkeel.log;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.MalformedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The files of one snapshot of a log group, with their checksums. On disk and between nodes it is
 * text:
 *
 * <pre>
 * snapshot TERM INDEX
 * CRC LENGTH NAME      one line for each file
 * end FILES
 * </pre>
 *
 * @param term of the last entry that the snapshot covers
 * @param index of that entry
 * @param files in the order of their names
 */
public record SnapshotManifest(long term, long index, List<Entry> files) {
  public static final int FILES_MAX = 1_000_000;

  /**
   * One file.
   *
   * @param name below the directory of the snapshot, with slashes
   * @param length in bytes
   * @param crc CRC-32C of its bytes
   */
  public record Entry(String name, long length, int crc) {
    public Entry {
      // Names come from other nodes, and files are written at them.
      for (String part : name.split("/", -1)) {
        if (part.isEmpty() || part.startsWith(".") || !part.matches("[A-Za-z0-9._-]+")) {
          throw new MalformedException(INVALID, "'" + name + "' is no name of a snapshot's file");
        }
      }
      if (length < 0) {
        throw new MalformedException(INVALID, name + " with a length of " + length);
      }
    }
  }

  public SnapshotManifest {
    files = List.copyOf(files);
  }

  /** Length of all files. */
  public long bytes() {
    return files.stream().mapToLong(Entry::length).sum();
  }

  /** As text, in bytes. */
  public byte[] encode() {
    StringBuilder text = new StringBuilder();
    text.append("snapshot ").append(term).append(' ').append(index).append('\n');
    for (Entry file : files) {
      text.append("%08x ".formatted(file.crc())).append(file.length());
      text.append(' ').append(file.name()).append('\n');
    }
    return text.append("end ")
        .append(files.size())
        .append('\n')
        .toString()
        .getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Reads what {@link #encode} made.
   *
   * @throws MalformedException if it is something else, or not all of it
   */
  public static SnapshotManifest decode(byte[] bytes) {
    String[] lines = new String(bytes, StandardCharsets.US_ASCII).split("\n", -1);
    try {
      String[] first = lines[0].split(" ", -1);
      int count = lines.length - 3;
      if (!first[0].equals("snapshot")
          || count > FILES_MAX
          || !lines[count + 1].equals("end " + count)
          || !lines[count + 2].isEmpty()) {
        throw new MalformedException(INVALID, "these are not the files of a snapshot");
      }
      List<Entry> files = new ArrayList<>();
      Set<String> names = new HashSet<>();
      for (String line : List.of(lines).subList(1, count + 1)) {
        String[] parts = line.split(" ", 3);
        files.add(
            new Entry(parts[2], Long.parseLong(parts[1]), Integer.parseUnsignedInt(parts[0], 16)));
        if (!names.add(parts[2])) {
          throw new MalformedException(INVALID, "a snapshot with two files " + parts[2]);
        }
      }
      return new SnapshotManifest(Long.parseLong(first[1]), Long.parseLong(first[2]), files);
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new MalformedException(INVALID, "these are not the files of a snapshot: " + e);
    }
  }
}
