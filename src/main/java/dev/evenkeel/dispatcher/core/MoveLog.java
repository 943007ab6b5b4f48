package dev.evenkeel.dispatcher.core;

import dev.evenkeel.model.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The last {@link #MAX} moves of this dispatcher. Their figures come after them. */
public final class MoveLog {
  public static final int MAX = 1_000;

  private record Key(String group, Shard shard, long epoch) {}

  private final Deque<Long> freshPauses = new ArrayDeque<>();
  private long made;

  private final Map<Key, Move> moves =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Move> eldest) {
          return size() > MAX;
        }
      };

  private long revision;

  void add(Shard shard, Move move) {
    moves.put(new Key(move.group(), shard, move.epoch()), move);
    made++;
    revision++;
    notePause(null, move);
  }

  /** The move that gave {@code shard} its {@code epoch}, or null. */
  Move find(String group, Shard shard, long epoch) {
    return moves.get(new Key(group, shard, epoch));
  }

  /** Puts {@code move} in the place of what it was. */
  void replace(Shard shard, Move move) {
    Move former = moves.replace(new Key(move.group(), shard, move.epoch()), move);
    if (former != null && !former.equals(move)) {
      revision++;
      notePause(former.pauseMillis(), move);
    }
  }

  private void notePause(Long before, Move move) {
    if (before == null && move.pauseMillis() != null) {
      if (freshPauses.size() == MAX) {
        freshPauses.removeFirst();
      }
      freshPauses.addLast(move.pauseMillis());
    }
  }

  /** Grows with each change. */
  public long revision() {
    return revision;
  }

  /** How many moves there ever were, also those forgotten. */
  public long made() {
    return made;
  }

  /** Pauses in ms that became known since the last call: the newest {@link #MAX} of them. */
  public List<Long> takePauses() {
    List<Long> pauses = List.copyOf(freshPauses);
    freshPauses.clear();
    return pauses;
  }

  /**
   * Newest first.
   *
   * @param group null: of all groups
   */
  public List<Move> recent(String group, int limit) {
    List<Move> newestFirst = new ArrayList<>(moves.values());
    Collections.reverse(newestFirst);
    return newestFirst.stream()
        .filter(move -> group == null || group.equals(move.group()))
        .limit(limit)
        .toList();
  }
}
