package dev.evenkeel.broker.state;

import dev.evenkeel.broker.state.SharedTable.Row;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which user has made which row of a {@link SharedTable}. Rows that nodes made, or nodes of a
 * former version, or where there are no users, have no owner. Only {@link MetaChange} alters it, on
 * the applying thread; it may be read from any.
 */
public final class Owners {
  private final Map<Row, String> byRow = new ConcurrentHashMap<>();

  /** Counts by table and user. */
  private final Map<SharedTable, Map<String, Integer>> counts = new ConcurrentHashMap<>();

  void put(Row row, String user) {
    remove(row);
    byRow.put(row, user);
    of(row.table()).merge(user, 1, Integer::sum);
  }

  void remove(Row row) {
    String user = byRow.remove(row);
    if (user != null) {
      of(row.table()).computeIfPresent(user, (same, count) -> count == 1 ? null : count - 1);
    }
  }

  private Map<String, Integer> of(SharedTable table) {
    return counts.computeIfAbsent(table, any -> new ConcurrentHashMap<>());
  }

  /** The owner of a row; null: it has none, or there is no such row. */
  public @Nullable String of(Row row) {
    return byRow.get(row);
  }

  /** How many rows of a table a user has. */
  public int count(SharedTable table, String user) {
    return counts(table).getOrDefault(user, 0);
  }

  /** How many rows of a table each user has who has any; a live view. */
  public Map<String, Integer> counts(SharedTable table) {
    return Collections.unmodifiableMap(counts.getOrDefault(table, Map.of()));
  }

  /** The change that goes with the removal of a row; none if it has no owner. */
  public List<MetaChange> removal(Row row) {
    return byRow.containsKey(row) ? List.of(MetaChange.removeOwner(row)) : List.of();
  }
}
