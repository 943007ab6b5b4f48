package dev.evenkeel.dispatcher;

import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import dev.evenkeel.bus.GroupQuestions.Change;
import dev.evenkeel.dispatcher.core.Topics;
import dev.evenkeel.dispatcher.core.WhatIf;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The change that a question supposes, and the plan for it. */
final class PlanReport {
  private PlanReport() {}

  /**
   * The change that a question names.
   *
   * @throws dev.evenkeel.protocol.RefusedException if it is malformed
   */
  static WhatIf change(Change change) {
    PlanGroup asked = change.group();
    return new WhatIf(
        asked.add() == null ? 0 : asked.add(),
        asked.remove() == null ? Set.of() : Set.copyOf(asked.remove()),
        change.gone(),
        asked.assignor(),
        asked.shards() == null ? Map.of() : asked.shards());
  }

  static GroupPlan of(WhatIf.Outcome outcome) {
    Topics topics = outcome.topics();
    Map<String, List<String>> owners = new TreeMap<>();
    outcome.owners().forEach((name, shards) -> owners.put(name, names(shards, topics)));
    Map<String, PlanGroup.Load> loads = new TreeMap<>();
    outcome
        .loads()
        .forEach(
            (name, load) ->
                loads.put(
                    name,
                    new PlanGroup.Load(
                        owners.get(name).size(), load.lag(), load.busy(), load.bytesPerSecond())));
    return new GroupPlan(
        outcome.moves().stream().map(each -> move(each, topics)).toList(), owners, loads);
  }

  private static PlanGroup.Move move(WhatIf.Move move, Topics topics) {
    Shard shard = move.shard();
    return new PlanGroup.Move(topics.name(shard.topicId()), shard.shard(), move.from(), move.to());
  }

  private static List<String> names(Set<Shard> shards, Topics topics) {
    return shards.stream()
        .map(shard -> topics.name(shard.topicId()) + "/" + shard.shard())
        .toList();
  }
}
