package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.LabelLimit;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.ShardStep;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Figures of consumer groups, by the one node that knows them: the active dispatcher's. A figure
 * that is not known for every shard that it sums is not shown.
 */
final class GroupFigures {
  private final LabelLimit groupNames;
  private final LabelLimit topicNames;
  private final int groupRowsMax;
  private final int pairRowsMax;
  private final FigureTable lag;
  private final FigureTable committed;
  private final FigureTable members;
  private final FigureTable shards;
  private final FigureTable unowned;
  private final FigureTable draining;
  private final FigureTable stuck;
  private final LevelTables level;
  private final DedupTables dedup;
  private final FlowTables flow;
  private final FailureTables failures;

  GroupFigures(MeterScope scope) {
    groupNames = new LabelLimit(scope.labelsMax());
    topicNames = new LabelLimit(scope.labelsMax());
    groupRowsMax = scope.labelsMax() + 1;
    // Most groups read one topic or a few.
    pairRowsMax = 5 * groupRowsMax;
    lag = scope.table("evenkeel.group.lag.messages", "Messages not consumed yet", "group", "topic");
    committed =
        scope.table(
            "evenkeel.group.committed.offset",
            "Sum of the committed offsets of the group's shards",
            "group",
            "topic");
    members = scope.table("evenkeel.group.members", "Members heard of in time", "group");
    shards = scope.table("evenkeel.group.shards", "Shards of the topics that it reads", "group");
    unowned = scope.table("evenkeel.group.shards.unowned", "Shards without a live owner", "group");
    draining =
        scope.table(
            "evenkeel.group.shards.draining", "Shards whose owner was told to let go", "group");
    stuck =
        scope.table(
            "evenkeel.group.shards.stuck",
            "Shards on which a live member finishes nothing of what it has in hand",
            "group");
    level = new LevelTables(scope, groupRowsMax);
    dedup = new DedupTables(scope, groupRowsMax);
    flow = new FlowTables(scope, groupRowsMax);
    failures = new FailureTables(scope, groupRowsMax);
  }

  /** Shows what a fresh look found. */
  void show(DispatcherCore core, GroupReport report) {
    Set<String> names = new HashSet<>();
    core.all().forEach(group -> names.add(group.name()));
    groupNames.retain(names);
    Set<String> topics = new HashSet<>();
    for (GroupState group : core.all()) {
      group.shards(core.topics()).forEach(shard -> topics.add(core.topics().name(shard.topicId())));
    }
    topicNames.retain(topics);
    Rows lags = new Rows(pairRowsMax);
    Rows commits = new Rows(pairRowsMax);
    Rows memberCounts = new Rows(groupRowsMax);
    Rows shardCounts = new Rows(groupRowsMax);
    Rows free = new Rows(groupRowsMax);
    Rows drains = new Rows(groupRowsMax);
    Rows stucks = new Rows(groupRowsMax);
    List<LevelTables.Row> levels = new ArrayList<>();
    List<DedupTables.Row> dedups = new ArrayList<>();
    List<FlowTables.Row> flows = new ArrayList<>();
    List<FailureTables.Row> failed = new ArrayList<>();
    for (GroupState group : core.all()) {
      String name = groupNames.of(group.name());
      memberCounts.add(group.members().live().size(), name);
      shardCounts.add(0, name);
      free.add(0, name);
      drains.add(0, name);
      stucks.add(group.stuck().count(), name);
      dedups.add(new DedupTables.Row(name, report.dedupFigures(group)));
      flows.add(new FlowTables.Row(name, report.ratesOf(group), GroupReport.broadcastLag(group)));
      failed.add(FailureTables.Row.of(name, group, report.failures(group)));
      if (group.info() != null && group.info().policy().isLevel()) {
        int range = group.info().policy().range();
        levels.add(new LevelTables.Row(name, range, report.levelFigures(group)));
      }
      for (Shard shard : group.shards(core.topics())) {
        String topic = topicNames.of(core.topics().name(shard.topicId()));
        lags.add(known(report.lag(group, shard)), name, topic);
        commits.add(known(report.committed(group, shard)), name, topic);
        Lease lease = group.book().get(shard);
        ShardStep.Owner owner = group.owner(lease);
        boolean owned = owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD;
        shardCounts.add(1, name);
        free.add(owned || group.ownsNothing() ? 0 : 1, name);
        drains.add(owned && lease.drain() != null ? 1 : 0, name);
      }
    }
    lag.show(lags.known());
    committed.show(commits.known());
    members.show(memberCounts);
    shards.show(shardCounts);
    unowned.show(free);
    draining.show(drains);
    stuck.show(stucks);
    level.show(levels);
    dedup.show(dedups);
    flow.show(flows);
    failures.show(failed);
  }

  /** NaN stays NaN whatever is added to it. */
  private static double known(Long figure) {
    return figure == null ? Double.NaN : figure;
  }

  /** Another node knows them now. */
  void clear() {
    Rows none = new Rows(0);
    lag.show(none);
    committed.show(none);
    members.show(none);
    shards.show(none);
    unowned.show(none);
    draining.show(none);
    stuck.show(none);
    level.clear();
    dedup.clear();
    flow.clear();
    failures.clear();
  }
}
