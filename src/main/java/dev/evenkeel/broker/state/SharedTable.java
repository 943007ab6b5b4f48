package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Quota;
import java.util.function.BiPredicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A table of the meta log group that all users share, and whose rows have owners. The order is part
 * of the keys of the store: add new ones at the end.
 */
public enum SharedTable {
  PRODUCERS(
      "named producers",
      100_000,
      "use names that you have, or producers without a name",
      MetaTables::namedProducers,
      (tables, name) -> tables.producer(name) != null),
  GROUPS(
      "groups",
      10_000,
      "delete groups that you do not need",
      tables -> tables.groups().size(),
      (tables, name) -> tables.group(name) != null),
  QUOTAS(
      "quotas",
      Quota.QUOTAS_MAX,
      "clear quotas that you do not need",
      MetaTables::quotaCount,
      MetaTables::hasQuota),
  TOPICS(
      "topics",
      Limits.TOPICS_MAX,
      "delete topics that you do not need",
      MetaTables::topicCount,
      (tables, name) -> tables.topic(name) != null),
  PAUSES(
      "pauses",
      Pause.PAUSES_MAX,
      "pause whole topics or groups, or resume what need not be paused",
      MetaTables::pauseCount,
      MetaTables::hasPause);

  private final String words;
  private final int max;
  private final String advice;
  private final ToIntFunction<MetaTables> count;
  private final BiPredicate<MetaTables, String> has;

  SharedTable(
      String words,
      int max,
      String advice,
      ToIntFunction<MetaTables> count,
      BiPredicate<MetaTables, String> has) {
    this.words = words;
    this.max = max;
    this.advice = advice;
    this.count = count;
    this.has = has;
  }

  /** A row, by the name that is unique in its table. */
  public record Row(SharedTable table, String name) {
    public boolean isIn(MetaTables tables) {
      return table.has.test(tables, name);
    }
  }

  /** The row that a command makes if it is not there yet; null: it makes none with an owner. */
  public static @Nullable Row madeBy(MetaCommand command, MetaTables tables) {
    if (command instanceof MetaCommand.RegisterProducer c && !c.isUnnamed()) {
      return new Row(PRODUCERS, c.name());
    } else if (command instanceof MetaCommand.DeclareGroup c) {
      return new Row(GROUPS, c.name());
    } else if (command instanceof MetaCommand.SetQuota c && !c.quota().isNone()) {
      return row(c.quota().key());
    } else if (command instanceof MetaCommand.CreateTopic c) {
      return new Row(TOPICS, c.name());
    } else if (command instanceof MetaCommand.PauseGroup c && c.paused()) {
      Pause pause = tables.pauseOf(c);
      return pause == null ? null : row(pause);
    }
    return null;
  }

  /** The row of a quota. The kind is one digit. */
  public static Row row(Quota.Key quota) {
    return new Row(QUOTAS, quota.kind().ordinal() + quota.name());
  }

  /** The row of a pause. */
  public static Row row(Pause pause) {
    return new Row(PAUSES, pause.topicId() + " " + pause.shard() + " " + pause.group());
  }

  /** In plural, as errors have it. */
  public String words() {
    return words;
  }

  /** The name in the API. */
  public String label() {
    return words.replace(' ', '-');
  }

  /** Most rows of a cluster. */
  public int max() {
    return max;
  }

  /** What a user can do who has too many. */
  public String advice() {
    return advice;
  }

  /** How many rows there are, with and without an owner. From any thread. */
  public int count(MetaTables tables) {
    return count.applyAsInt(tables);
  }
}
