package dev.evenkeel.gateway;

import dev.evenkeel.api.PlanGroup;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;

/** Says who would own the shards of a group after a change, without making it. */
final class PlanApi {
  private final ClusterCalls calls;

  PlanApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<GroupPlan> plan(PlanGroup change) {
    Future<String> gone =
        change.kill() == null ? Future.succeededFuture() : clusterMember(change.kill());
    return gone.map(member -> new GroupQuestions.Plan(new GroupQuestions.Change(change, member)))
        .compose(calls::askDispatcher)
        .map(Json::decodeValue)
        .map(PlanApi::read);
  }

  private static GroupPlan read(Object answer) {
    if (answer instanceof JsonObject plan && plan.containsKey("moves")) {
      return RecordJson.of(GroupPlan.class).read(plan);
    }
    // A dispatcher of version 0.1 takes it for another question.
    throw Refusal.UNAVAILABLE.error(
        "plans need version 0.2 or later on every node: see 'cluster status'");
  }

  /** The id of a node as a cluster member: consumers that run on it name it in their heartbeats. */
  private Future<String> clusterMember(String node) {
    return calls
        .view()
        .map(ClusterView::nodes)
        .compose(
            nodes -> {
              if (!nodes.contains(node)) {
                throw Refusal.INVALID.error(
                    "there is no node '%s': the nodes are %s", node, String.join(", ", nodes));
              }
              return calls.clusterMemberOf(node);
            });
  }
}
