package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.decide.ProducerShare;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Keeps, on the leader of the meta log group, each user within its share of the tables that all
 * users share: what is too much does not get into the log. Runs on one context.
 */
final class TableShares {
  private final Supplier<MetaTables> tables;
  private final ToDoubleFunction<String> weights;

  /** Rows that are on their way into the log, by table and user. They count already. */
  private final Map<SharedTable, Map<String, Integer>> underWay = new EnumMap<>(SharedTable.class);

  /**
   * @param tables the present ones
   * @param weights the share of each user
   */
  TableShares(Supplier<MetaTables> tables, ToDoubleFunction<String> weights) {
    this.tables = tables;
    this.weights = weights;
  }

  /** What each user holds of each table. */
  static List<ShareUse> uses(MetaTables tables) {
    List<ShareUse> uses = new ArrayList<>();
    for (SharedTable each : SharedTable.values()) {
      new TreeMap<>(tables.owners().counts(each))
          .forEach((user, count) -> uses.add(new ShareUse(each.label(), user, count, each.max())));
    }
    return uses;
  }

  /**
   * What each user holds of the producers that a data log group remembers.
   *
   * @param userOfTag the user of a tag of {@link ProducerIds}; null: unknown
   */
  static List<ShareUse> uses(String group, DataTables tables, IntFunction<String> userOfTag) {
    List<ShareUse> uses = new ArrayList<>();
    new TreeMap<>(tables.producersByOwner())
        .forEach(
            (tag, count) -> {
              String user = userOfTag.apply(tag);
              if (user != null) {
                uses.add(
                    new ShareUse(
                        "producers-in-" + group, user, count, ProducerShare.PRODUCERS_HARD_MAX));
              }
            });
    return uses;
  }

  /**
   * Appends a command of a user.
   *
   * @param user null: there are no users, or a node asks for itself
   * @param log appends
   * @throws RefusedException TOO_LARGE if it would make a row that is too much for the user
   */
  Future<Reply> append(String user, MetaCommand command, Function<MetaCommand, Future<Reply>> log) {
    MetaTables now = tables.get();
    SharedTable.Row row = SharedTable.madeBy(command, now);
    if (user == null
        || row == null
        || now.featureLevel() < FeatureLevel.TABLE_OWNERS
        || row.isIn(now)) {
      return log.apply(command);
    }
    SharedTable table = row.table();
    Map<String, Integer> coming = underWay.computeIfAbsent(table, any -> new HashMap<>());
    RefusedException refusal =
        new TableShare(
                table,
                user,
                now.owners().count(table, user) + coming.getOrDefault(user, 0),
                table.count(now) + coming.values().stream().mapToInt(each -> each).sum(),
                weights.applyAsDouble(user))
            .refusal();
    if (refusal != null) {
      throw refusal;
    }
    // Counted only then: it throws if the command cannot be written.
    Future<Reply> answer = log.apply(new MetaCommand.ByUser(user, command));
    coming.merge(user, 1, Integer::sum);
    return answer.onComplete(
        done ->
            coming.computeIfPresent(
                user, (same, count) -> count == 1 ? null : Integer.valueOf(count - 1)));
  }
}
