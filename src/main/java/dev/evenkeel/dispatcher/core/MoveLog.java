package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.MoveShares;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The recent moves, also those of former dispatchers: as many as the meta log keeps. {@link
 * MoveShares} says which ones go first. The figures of a move come later than the move. {@link
 * MoveRecorder} takes from here what is not in the meta log yet.
 */
public final class MoveLog {
  public static final int MAX = Limits.MOVES_KEPT_MAX;

  /** How many more may be kept for a while, because dropping one at a time would be slow. */
  private static final int SLACK = Limits.MOVES_A_COMMAND_MAX;

  private record Place(String group, Shard shard) {}

  private final Map<MoveRecord.Key, MoveRecord> moves = new LinkedHashMap<>();
  private final Map<Place, Long> newest = new HashMap<>();
  private final Set<MoveRecord.Key> unwritten = new LinkedHashSet<>();
  private MoveTally tally = new MoveTally();
  private long revision;

  /**
   * Loads the moves of former dispatchers from the meta log.
   *
   * @param oldestFirst at most {@link #MAX}
   */
  void recall(List<MoveRecord> oldestFirst) {
    for (MoveRecord move : oldestFirst) {
      put(move);
    }
    shrink();
    revision++;
  }

  /**
   * Adds a new move. A move with the same key is older: the group was forgotten and created again.
   */
  void add(MoveRecord move) {
    moves.remove(move.key());
    put(move);
    unwritten.add(move.key());
    tally.made(move);
    if (moves.size() > MAX + SLACK) {
      shrink();
    }
    revision++;
  }

  private void put(MoveRecord move) {
    moves.put(move.key(), move);
    newest.merge(new Place(move.group(), move.shard()), move.epoch(), Math::max);
  }

  /** Places in the order of {@link #moves} of those to drop if {@code max} are to be kept. */
  private List<Integer> surplus(int max) {
    return MoveShares.surplus(moves.values().stream().map(MoveRecord::group).toList(), max);
  }

  private void shrink() {
    List<MoveRecord> oldestFirst = new ArrayList<>(moves.values());
    surplus(MAX).forEach(index -> forget(oldestFirst.get(index).key()));
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
  MoveRecord find(String group, Shard shard, long epoch) {
    return moves.get(new MoveRecord.Key(group, shard, epoch));
  }

  /** Who had {@code shard} before {@code epoch}, or null if that is not known. */
  String ownerBefore(String group, Shard shard, long epoch) {
    MoveRecord before = find(group, shard, epoch - 1);
    return before == null ? null : before.to();
  }

  /** The last move of a shard that is known here, or null. */
  MoveRecord last(String group, Shard shard) {
    Long epoch = newest.get(new Place(group, shard));
    return epoch == null ? null : find(group, shard, epoch);
  }

  /** Replaces the move of the same key. */
  void replace(MoveRecord move) {
    MoveRecord former = moves.replace(move.key(), move);
    if (former != null && !former.equals(move)) {
      revision++;
      unwritten.add(move.key());
      tally.learned(former, move);
    }
  }

  /** Moves that the meta log lacks, or lacks figures of: the first that came, at most so many. */
  List<MoveRecord> takeUnwritten(int max) {
    List<MoveRecord> taken = new ArrayList<>();
    for (Iterator<MoveRecord.Key> each = unwritten.iterator();
        each.hasNext() && taken.size() < max; ) {
      taken.add(moves.get(each.next()));
      each.remove();
    }
    return taken;
  }

  /** The meta log has not taken these moves. */
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

  /** These moves will never be in the meta log. */
  void unrecorded(int moves) {
    tally.unrecorded(moves);
  }

  /** What this dispatcher's moves add to the counters since the last call. */
  public MoveTally takeTally() {
    MoveTally taken = tally;
    tally = new MoveTally();
    return taken;
  }

  /**
   * Newest first.
   *
   * @param group null: of all groups
   */
  public List<MoveRecord> recent(String group, int limit) {
    List<MoveRecord> newestFirst = new ArrayList<>(moves.values());
    Collections.reverse(newestFirst);
    return newestFirst.stream()
        .filter(move -> group == null || group.equals(move.group()))
        .limit(Math.min(limit, MAX))
        .toList();
  }

  /** Newest first, with room for every group as {@link MoveShares} gives it. */
  public List<MoveRecord> recentOfEach(int limit) {
    BitSet dropped = new BitSet(moves.size());
    surplus(limit).forEach(dropped::set);
    List<MoveRecord> newestFirst = new ArrayList<>(limit);
    int index = 0;
    for (MoveRecord move : moves.values()) {
      if (!dropped.get(index++)) {
        newestFirst.add(move);
      }
    }
    Collections.reverse(newestFirst);
    return newestFirst;
  }
}
