package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.MoveRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The rebalance history, each move under its number: a later one has a higher number. {@link
 * #oldestFirst} may be called from any thread, everything else belongs to the applying one.
 */
public final class MoveTable {
  private final ConcurrentSkipListMap<Long, MoveRecord> moves = new ConcurrentSkipListMap<>();
  private final Map<MoveRecord.Key, Long> numbers = new HashMap<>();

  void put(long number, MoveRecord move) {
    moves.put(number, move);
    numbers.put(move.key(), number);
  }

  void remove(long number) {
    MoveRecord move = moves.remove(number);
    if (move != null) {
      numbers.remove(move.key(), number);
    }
  }

  /** The number of a move; null: it is not in the history. */
  public @Nullable Long number(MoveRecord.Key key) {
    return numbers.get(key);
  }

  /** The move of that number. */
  public @Nullable MoveRecord get(long number) {
    return moves.get(number);
  }

  /** All numbers, ascending. A copy. */
  public List<Long> numbers() {
    return new ArrayList<>(moves.keySet());
  }

  /** Numbers of the moves of a group, ascending. */
  public List<Long> ofGroup(String group) {
    List<Long> found = new ArrayList<>();
    moves.forEach(
        (number, move) -> {
          if (move.group().equals(group)) {
            found.add(number);
          }
        });
    return found;
  }

  /** Higher than all of now. */
  public long nextNumber() {
    return moves.isEmpty() ? 1 : moves.lastKey() + 1;
  }

  public int size() {
    return numbers.size();
  }

  /** A copy. */
  public List<MoveRecord> oldestFirst() {
    return new ArrayList<>(moves.values());
  }
}
