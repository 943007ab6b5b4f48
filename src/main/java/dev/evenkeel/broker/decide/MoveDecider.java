package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MoveTable;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.MoveShares;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides about the rebalance history. It holds the newest {@link Limits#MOVES_KEPT_MAX} moves of
 * all groups, shared among them as {@link MoveShares} says.
 *
 * <p>Moves of a deleted topic stay until newer moves push them out. They cannot be mistaken for
 * others, because topic numbers are never used again. Moves of a group that is forgotten go with
 * it, see {@link GroupDecider#forget}.
 */
public final class MoveDecider {
  private final MoveTable table;

  /** The moves to be written, by number; and the numbers to be removed. */
  private final TreeMap<Long, MoveRecord> puts = new TreeMap<>();

  private final TreeSet<Long> removes = new TreeSet<>();
  private final Map<MoveRecord.Key, Long> added = new HashMap<>();
  private long next;

  /** Use one instance per decision. */
  public MoveDecider(MoveTable table) {
    this.table = table;
    next = table.nextNumber();
  }

  public Decision<MetaChange> record(MetaCommand.RecordMoves command) {
    if (command.moves().size() > Limits.MOVES_A_COMMAND_MAX) {
      return Decision.refused(
          TOO_LARGE,
          command.moves().size() + " moves at once: at most " + Limits.MOVES_A_COMMAND_MAX);
    }
    command.moves().forEach(MoveRecord::check);
    command.moves().forEach(this::take);
    giveUpSurplus();
    List<MetaChange> changes = new ArrayList<>();
    removes.forEach(number -> changes.add(MetaChange.removeMove(number)));
    puts.forEach((number, move) -> changes.add(MetaChange.putMove(number, move)));
    return Decision.of(changes);
  }

  private void take(MoveRecord move) {
    Long number = added.getOrDefault(move.key(), table.number(move.key()));
    MoveRecord known = number == null ? null : puts.getOrDefault(number, table.get(number));
    if (number == null || known == null) {
      add(move);
    } else if (!known.sameAs(move)) {
      // The log is older than epochs that never repeat: the known move belongs to a forgotten
      // group.
      drop(number);
      add(move);
    } else {
      MoveRecord updated = known.updatedBy(move);
      if (!updated.equals(known)) {
        puts.put(number, updated);
      }
    }
  }

  private void add(MoveRecord move) {
    added.put(move.key(), next);
    puts.put(next++, move);
  }

  private void drop(long number) {
    puts.remove(number);
    if (table.get(number) != null) {
      removes.add(number);
    }
  }

  private void giveUpSurplus() {
    if (table.size() - removes.size() + added.size() <= Limits.MOVES_KEPT_MAX) {
      return;
    }
    List<Long> numbers = table.numbers();
    numbers.removeAll(removes);
    puts.tailMap(table.nextNumber()).keySet().forEach(numbers::add);
    List<String> groups = new ArrayList<>(numbers.size());
    for (long number : numbers) {
      MoveRecord put = puts.get(number);
      groups.add(Objects.requireNonNull(put == null ? table.get(number) : put).group());
    }
    for (int index : MoveShares.surplus(groups, Limits.MOVES_KEPT_MAX)) {
      drop(numbers.get(index));
    }
  }
}
