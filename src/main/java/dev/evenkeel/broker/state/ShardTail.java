package dev.evenkeel.broker.state;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where the batches of one shard begin in a {@link TailMemory}, in the order of their offsets: a
 * ring of numbers.
 */
final class ShardTail {
  /** What a shard costs beside its numbers: this, its place in a map, and in lists of chunks. */
  private static final int COST_BYTES = 192;

  private static final int CAPACITY_MIN = 4;

  private final TailMemory memory;
  private final TailCache cache;
  private long[] positions = new long[0];
  private int first;
  private int count;

  /** The last chunk that knows of this shard; under the lock of the memory. */
  long lastChunk = -1;

  ShardTail(TailMemory memory, TailCache cache) {
    this.memory = memory;
    this.cache = cache;
  }

  /** Adds a batch behind the others. Returns by how many bytes the numbers became larger. */
  synchronized long add(long at) {
    long cost = cost();
    if (count == positions.length) {
      resize(Math.max(CAPACITY_MIN, 2 * count));
    }
    positions[slot(count)] = at;
    count++;
    cache.changed(size(at));
    return cost() - cost;
  }

  /** Forgets the batches in front of a position. Returns by how many bytes it became larger. */
  synchronized long dropBelow(long position) {
    long cost = cost();
    long dropped = 0;
    while (count > 0 && positions[first] < position) {
      dropped += size(positions[first]);
      first = slot(1);
      count--;
    }
    cache.changed(-dropped);
    if (count == 0) {
      positions = new long[0];
      first = 0;
    } else if (count < positions.length / 4) {
      resize(positions.length / 2);
    }
    return cost() - cost;
  }

  private int size(long at) {
    return TailMemory.PLACE_BYTES + memory.length(at);
  }

  private long cost() {
    return positions.length == 0 ? 0 : COST_BYTES + (long) Long.BYTES * positions.length;
  }

  private void resize(int capacity) {
    long[] next = new long[Math.max(CAPACITY_MIN, capacity)];
    for (int i = 0; i < count; i++) {
      next[i] = positions[slot(i)];
    }
    positions = next;
    first = 0;
  }

  private int slot(int i) {
    int slot = first + i;
    return slot < positions.length ? slot : slot - positions.length;
  }

  /** As {@link TailCache#read}. */
  synchronized TailRead read(
      long offset, long end, int bytesMax, int messagesMax, @Nullable LookBounds look) {
    int from = floor(offset);
    if (from < 0) {
      return TailRead.NONE;
    }
    long next = memory.baseOffset(positions[slot(from)]);
    if (next + memory.count(positions[slot(from)]) <= offset) {
      return TailRead.NONE;
    }
    long[] found = new long[Math.min(count - from, 16)];
    int[] lengths = new int[found.length];
    int taken = 0;
    long sum = 0;
    for (int i = from; i < count; i++) {
      long at = positions[slot(i)];
      long base = memory.baseOffset(at);
      long endOffset = base + memory.count(at);
      int length = memory.length(at);
      boolean full =
          sum + length > bytesMax
              || endOffset - offset > messagesMax
              || look != null && !look.take(memory.count(at), memory.unpackedLength(at));
      if (base != next || endOffset > end || taken > 0 && full) {
        break;
      }
      if (taken == found.length) {
        int capacity = Math.min(2 * taken, taken + count - i);
        found = Arrays.copyOf(found, capacity);
        lengths = Arrays.copyOf(lengths, capacity);
      }
      found[taken] = at;
      lengths[taken] = length;
      taken++;
      sum += length;
      next = endOffset;
    }
    return taken == 0 ? TailRead.NONE : new TailRead(memory, found, lengths, taken, next);
  }

  /** The last batch that begins at an offset or before it; -1 if there is none. */
  private int floor(long offset) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (memory.baseOffset(positions[slot(middle)]) <= offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }
}
