package dev.evenkeel.chaos;

import static dev.evenkeel.Loops.times;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a topic's log has in the end: in each shard keys and sequences, by offset from 0. */
final class MessageLog {
  /**
   * A place in the log.
   *
   * @param before the place of the message before it of its key, in the same shard, or -1
   */
  record Entry(String key, int sequence, long before) {}

  /** Where each sequence of a key is; -1: nowhere. */
  private static final class Key {
    final int shard;
    long[] offsets = new long[0];
    int last = -1;
    long lastOffset = -1;

    Key(int shard) {
      this.shard = shard;
    }
  }

  private final List<List<Entry>> shards = new ArrayList<>();
  private final Map<String, Key> keys = new HashMap<>();
  private final Violations violations;

  /**
   * @param violations what is wrong with the log by itself is told there
   */
  MessageLog(int shards, Violations violations) {
    this.violations = violations;
    times(shards, shard -> this.shards.add(new ArrayList<>()));
  }

  /** The next message of a shard. */
  void add(int shard, String key, int sequence) {
    Key of = keys.computeIfAbsent(key, first -> new Key(shard));
    long offset = shards.get(shard).size();
    String where = key + " " + sequence + " at " + shard + "/" + offset;
    if (of.shard != shard) {
      violations.add("log: key in two shards", where + ", before in shard " + of.shard);
    } else if (sequence < of.offsets.length && of.offsets[sequence] >= 0) {
      violations.add("log: doubled", where + " and " + shard + "/" + of.offsets[sequence]);
    } else if (sequence < of.last) {
      violations.add("log: order of a key", where + " after " + of.last);
    }
    shards.get(shard).add(new Entry(key, sequence, of.shard == shard ? of.lastOffset : -1));
    note(of, sequence, offset);
  }

  private static void note(Key of, int sequence, long offset) {
    int size = of.offsets.length;
    if (sequence >= size) {
      of.offsets = Arrays.copyOf(of.offsets, Math.max(2 * size, sequence + 16));
      Arrays.fill(of.offsets, size, of.offsets.length, -1);
    }
    of.offsets[sequence] = offset;
    of.last = Math.max(of.last, sequence);
    of.lastOffset = offset;
  }

  int shards() {
    return shards.size();
  }

  long end(int shard) {
    return shards.get(shard).size();
  }

  long messages() {
    return shards.stream().mapToLong(List::size).sum();
  }

  Entry at(int shard, long offset) {
    return shards.get(shard).get((int) offset);
  }

  /** Where a message is; -1: nowhere. */
  long offset(String key, int sequence) {
    Key of = keys.get(key);
    return of == null || sequence >= of.offsets.length ? -1 : of.offsets[sequence];
  }
}
