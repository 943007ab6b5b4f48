package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The messages that this member has finished and that the group has not committed, as far as it
 * knows. Past the limit it forgets the lowest offset of the shard that has most. After a reset of a
 * shard it keeps only messages of the new generation.
 */
final class EndedIds {
  private record Ended(long generation, TreeSet<Long> offsets) {}

  private final int most;
  private final Map<Shard, Ended> shards = new HashMap<>();
  private int size;

  /**
   * @param most how many messages are remembered
   */
  EndedIds(int most) {
    this.most = most;
  }

  void add(MessageId id) {
    Ended known = shards.get(id.shard());
    if (known != null && id.generation() < known.generation) {
      return;
    }
    if (known == null || known.generation < id.generation()) {
      size -= known == null ? 0 : known.offsets.size();
      known = new Ended(id.generation(), new TreeSet<>());
      shards.put(id.shard(), known);
    }
    if (known.offsets.add(id.offset()) && ++size > most) {
      Comparator<Ended> bySize = Comparator.comparingInt(each -> each.offsets.size());
      Collections.max(shards.values(), bySize).offsets.pollFirst();
      size--;
    }
  }

  /** The group has committed all messages of {@code shard} below {@code offset}. */
  void committed(Shard shard, long offset) {
    Ended known = shards.get(shard);
    if (known != null) {
      SortedSet<Long> below = known.offsets.headSet(offset);
      size -= below.size();
      below.clear();
      if (known.offsets.isEmpty()) {
        shards.remove(shard);
      }
    }
  }

  List<MessageId> all() {
    List<MessageId> all = new ArrayList<>(size);
    shards.forEach(
        (shard, known) ->
            known.offsets.forEach(
                offset -> all.add(new MessageId(shard, offset, known.generation))));
    return all;
  }
}
