package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages that were finished here and are not known to be committed. Past the limit those are
 * forgotten first that lie lowest in the shard that has most. After a reset of a shard only those
 * count that were dealt since.
 */
final class EndedIds {
  /** Ascending offsets of one shard; they come nearly in order. */
  private static final class Offsets {
    private final long generation;
    private long[] offsets = new long[16];
    private int from;
    private int to;

    Offsets(long generation) {
      this.generation = generation;
    }

    int size() {
      return to - from;
    }

    boolean add(long offset) {
      int at = to;
      while (at > from && offsets[at - 1] > offset) {
        at--;
      }
      if (at > from && offsets[at - 1] == offset) {
        return false;
      }
      if (to == offsets.length) {
        at -= from;
        long[] room = size() * 2 > offsets.length ? new long[offsets.length * 2] : offsets;
        System.arraycopy(offsets, from, room, 0, size());
        to -= from;
        from = 0;
        offsets = room;
      }
      System.arraycopy(offsets, at, offsets, at + 1, to - at);
      offsets[at] = offset;
      to++;
      return true;
    }

    int dropBelow(long offset) {
      int before = from;
      int found = Arrays.binarySearch(offsets, from, to, offset);
      from = found < 0 ? -found - 1 : found;
      return from - before;
    }
  }

  private final int most;
  private final Map<Shard, Offsets> shards = new HashMap<>();
  private int size;

  /**
   * @param most how many are remembered
   */
  EndedIds(int most) {
    this.most = most;
  }

  int size() {
    return size;
  }

  void add(MessageId id) {
    Offsets known = shards.get(id.shard());
    if (known != null && id.generation() < known.generation) {
      return;
    }
    if (known == null || known.generation < id.generation()) {
      size -= known == null ? 0 : known.size();
      known = new Offsets(id.generation());
      shards.put(id.shard(), known);
    }
    if (known.add(id.offset()) && ++size > most) {
      Offsets fullest = null;
      for (Offsets each : shards.values()) {
        if (fullest == null || each.size() > fullest.size()) {
          fullest = each;
        }
      }
      fullest.from++;
      size--;
    }
  }

  /** All of {@code shard} below {@code offset} is committed. */
  void committed(Shard shard, long offset) {
    Offsets ofShard = shards.get(shard);
    if (ofShard != null) {
      size -= ofShard.dropBelow(offset);
      if (ofShard.size() == 0) {
        shards.remove(shard);
      }
    }
  }

  List<MessageId> all() {
    List<MessageId> all = new ArrayList<>(size);
    shards.forEach(
        (shard, ofShard) -> {
          for (int i = ofShard.from; i < ofShard.to; i++) {
            all.add(new MessageId(shard, ofShard.offsets[i], ofShard.generation));
          }
        });
    return all;
  }
}
