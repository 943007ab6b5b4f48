package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.MoveShares;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The recent moves, those of former dispatchers among them: as many as the meta log keeps, given up
 * as {@link MoveShares} says. Their figures come after them. What is not in the meta log yet is
 * taken from here to be recorded, see {@link MoveWrites}.
 */
public final class MoveLog {
  public static final int MAX = Limits.MOVES_KEPT_MAX;

  /** So many more may be here for a while: giving up one at a time would be slow. */
  private static final int SLACK = Limits.MOVES_A_COMMAND_MAX;

  private record Place(String group, Shard shard) {}

  private final Map<MoveRecord.Key, Move> moves = new LinkedHashMap<>();
  private final Map<Place, Long> newest = new HashMap<>();
  private final Set<MoveRecord.Key> unwritten = new LinkedHashSet<>();
  private final MoveTally tally = new MoveTally();
  private long revision;

  /**
   * Takes in what the meta log says: it happened under other dispatchers.
   *
   * @param oldestFirst at most {@link #MAX}
   */
  void recall(List<MoveRecord> oldestFirst) {
    for (MoveRecord move : oldestFirst) {
      put(move.key(), Move.of(move));
    }
    shrink();
    revision++;
  }

  /** A move that was not here before; one with the same key is of a former life of the group. */
  void add(Shard shard, Move move) {
    MoveRecord.Key key = key(shard, move);
    moves.remove(key);
    put(key, move);
    unwritten.add(key);
    tally.made(move);
    if (moves.size() > MAX + SLACK) {
      shrink();
    }
    revision++;
  }

  private void put(MoveRecord.Key key, Move move) {
    moves.put(key, move);
    newest.merge(new Place(key.group(), key.shard()), key.epoch(), Math::max);
  }

  private static MoveRecord.Key key(Shard shard, Move move) {
    return new MoveRecord.Key(move.group(), shard, move.epoch());
  }

  private void shrink() {
    List<MoveRecord.Key> keys = new ArrayList<>(moves.keySet());
    List<String> groups = new ArrayList<>(keys.size());
    keys.forEach(key -> groups.add(key.group()));
    for (int index : MoveShares.surplus(groups, MAX)) {
      forget(keys.get(index));
    }
  }

  private void forget(MoveRecord.Key key) {
    moves.remove(key);
    newest.remove(new Place(key.group(), key.shard()), key.epoch());
    if (unwritten.remove(key)) {
      tally.unrecorded(1);
    }
  }

  /** The group is forgotten, and its moves with it. */
  void forget(String group) {
    moves.keySet().removeIf(key -> key.group().equals(group));
    newest.keySet().removeIf(place -> place.group().equals(group));
    unwritten.removeIf(key -> key.group().equals(group));
    revision++;
  }

  /** The move that gave {@code shard} its {@code epoch}, or null. */
  Move find(String group, Shard shard, long epoch) {
    return moves.get(new MoveRecord.Key(group, shard, epoch));
  }

  /** Who had {@code shard} before {@code epoch}, or null if that is not known. */
  String ownerBefore(String group, Shard shard, long epoch) {
    Move before = find(group, shard, epoch - 1);
    return before == null ? null : before.to();
  }

  /** The last move of a shard that is known here, or null. */
  Move last(String group, Shard shard) {
    Long epoch = newest.get(new Place(group, shard));
    return epoch == null ? null : find(group, shard, epoch);
  }

  /** Puts {@code move} in the place of what it was. */
  void replace(Shard shard, Move move) {
    MoveRecord.Key key = key(shard, move);
    Move former = moves.replace(key, move);
    if (former != null && !former.equals(move)) {
      revision++;
      unwritten.add(key);
      tally.learned(former, move);
    }
  }

  /** Moves that the meta log lacks, or lacks figures of: the first that came, at most so many. */
  List<MoveRecord> takeUnwritten(int max) {
    List<MoveRecord> taken = new ArrayList<>();
    for (Iterator<MoveRecord.Key> each = unwritten.iterator();
        each.hasNext() && taken.size() < max; ) {
      MoveRecord.Key key = each.next();
      each.remove();
      Move move = moves.get(key);
      if (move.topic() == null) {
        // Its topic went in the same moment: nobody can say what moved.
        tally.unrecorded(1);
      } else {
        taken.add(move.record(key.shard()));
      }
    }
    return taken;
  }

  /** They are not in the meta log after all. */
  void untake(List<MoveRecord> taken) {
    for (MoveRecord move : taken) {
      if (moves.containsKey(move.key())) {
        unwritten.add(move.key());
      } else {
        tally.unrecorded(1);
      }
    }
  }

  /** Moves that the meta log lacks, or lacks figures of, and that are not on their way to it. */
  public int unwritten() {
    return unwritten.size();
  }

  /** Grows with each change. */
  public long revision() {
    return revision;
  }

  /** What this dispatcher's moves add to the counters. */
  public MoveTally tally() {
    return tally;
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
        .limit(Math.min(limit, MAX))
        .toList();
  }

  /** Newest first, with room for every group as {@link MoveShares} gives it. */
  public List<Move> recentOfEach(int limit) {
    List<Move> oldestFirst = new ArrayList<>(moves.values());
    List<String> groups = new ArrayList<>(oldestFirst.size());
    oldestFirst.forEach(move -> groups.add(move.group()));
    for (int index : MoveShares.surplus(groups, limit)) {
      oldestFirst.set(index, null);
    }
    oldestFirst.removeIf(move -> move == null);
    Collections.reverse(oldestFirst);
    return oldestFirst;
  }
}
