package dev.evenkeel.gateway;

import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ShareView;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.ShareUse;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Lists what users hold of what is scarce, as each node that answers says. */
record SharesApi(Link link, ClusterCalls calls) {
  private static final Comparator<ShareView> ORDER =
      Comparator.comparing(ShareView::user)
          .thenComparing(ShareView::kind)
          .thenComparing(ShareView::node);

  void serve(ApiAnswers answers) {
    answers.on(Operations.LIST_SHARES, all -> list());
  }

  private Future<List<ShareView>> list() {
    return calls
        .view()
        .compose(
            view -> {
              Future<Map<String, List<ShareUse>>> nodes =
                  ClusterCalls.ofEachNode(
                      link, Calls.READ_SHARES, ClusterStatus.nodes(view), SharesApi::read);
              return members()
                  .compose(
                      members ->
                          nodes.map(
                              byNode -> {
                                if (view.metaLeader() != null) {
                                  byNode.merge(view.metaLeader(), members, SharesApi::both);
                                }
                                return join(byNode);
                              }));
            });
  }

  /** As the dispatcher says, which is where meta is led. */
  private Future<List<ShareUse>> members() {
    return calls
        .askDispatcher(new GroupQuestions.MemberUse(true))
        .map(
            answer ->
                new JsonArray(answer)
                    .stream()
                        .map(each -> RecordJson.of(ShareUse.class).read((JsonObject) each))
                        .toList())
        .otherwise(List.of());
  }

  private static List<ShareUse> both(List<ShareUse> some, List<ShareUse> others) {
    return Stream.concat(some.stream(), others.stream()).toList();
  }

  private static Future<List<ShareUse>> read(Future<Buffer> answer) {
    return answer.map(Calls.READ_SHARES::answered).otherwise(List.of());
  }

  private static List<ShareView> join(Map<String, List<ShareUse>> byNode) {
    return byNode.entrySet().stream()
        .flatMap(
            node ->
                node.getValue().stream()
                    .map(
                        use ->
                            new ShareView(
                                use.user(), use.kind(), node.getKey(), use.held(), use.max())))
        .sorted(ORDER)
        .toList();
  }
}
