package dev.evenkeel.client.internal.spool.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Segments in memory. It can fail in the middle of any write, as when the program is killed there,
 * and it can forget what was not forced, as when the machine crashes.
 */
final class MemoryStorage implements SpoolStorage {
  /** The program was killed. */
  static final class Killed extends IOException {
    private static final long serialVersionUID = 1L;
  }

  private static final class File {
    byte[] bytes = new byte[0];
    int forced;
  }

  private final TreeMap<String, File> files = new TreeMap<>();

  /**
   * So many bytes more may be written; then it is killed. Steps that write nothing count as one.
   */
  private long budget = Long.MAX_VALUE;

  void killAfter(long bytes) {
    budget = bytes;
  }

  /** The next program's view: as the files are. */
  void restart() {
    budget = Long.MAX_VALUE;
  }

  /**
   * A crash of the machine: of what was not forced, {@code kept} (0 to 1) of each file is there.
   */
  void crashMachine(double kept) {
    for (File file : files.values()) {
      int size = file.forced + (int) ((file.bytes.length - file.forced) * kept);
      file.bytes = java.util.Arrays.copyOf(file.bytes, size);
    }
    restart();
  }

  byte[] bytes(String name) {
    return files.get(name).bytes;
  }

  void put(String name, byte[] bytes) {
    File file = new File();
    file.bytes = bytes;
    file.forced = bytes.length;
    files.put(name, file);
  }

  private long spend(long wanted) throws IOException {
    long may = Math.min(wanted, budget);
    budget -= may;
    return may;
  }

  private void step() throws IOException {
    if (spend(1) < 1) {
      throw new Killed();
    }
  }

  @Override
  public List<String> names() {
    return new ArrayList<>(files.keySet());
  }

  @Override
  public long size(String name) {
    return files.get(name).bytes.length;
  }

  @Override
  public int read(String name, long at, ByteBuffer into) {
    byte[] bytes = files.get(name).bytes;
    int count = (int) Math.max(0, Math.min(into.remaining(), bytes.length - at));
    into.put(bytes, (int) at, count);
    return count;
  }

  @Override
  public void append(String name, ByteBuffer bytes) throws IOException {
    File file = files.computeIfAbsent(name, made -> new File());
    int wanted = bytes.remaining();
    int may = (int) spend(wanted);
    int before = file.bytes.length;
    file.bytes = java.util.Arrays.copyOf(file.bytes, before + may);
    bytes.get(file.bytes, before, may);
    if (may < wanted) {
      throw new Killed();
    }
  }

  @Override
  public void force(String name) throws IOException {
    step();
    files.get(name).forced = files.get(name).bytes.length;
  }

  @Override
  public void truncate(String name, long size) throws IOException {
    step();
    File file = files.get(name);
    file.bytes = java.util.Arrays.copyOf(file.bytes, (int) size);
    file.forced = (int) size;
  }

  @Override
  public void delete(String name) throws IOException {
    step();
    files.remove(name);
  }
}
