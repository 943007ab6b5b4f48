package dev.evenkeel.bus;

import dev.evenkeel.protocol.TopicInfo;
import java.util.List;

/** Views of clusters for tests. */
public final class Views {
  private Views() {}

  /** What a node knows of cluster c whose leaders' terms nobody knows. */
  public static ClusterView of(
      String node,
      String metaLeader,
      List<String> dataLeaders,
      List<String> nodes,
      List<TopicInfo> topics) {
    return formed("c", node, metaLeader, dataLeaders, nodes, topics, 0, List.of(), true, -1);
  }

  /** A view of a cluster as it was formed. */
  public static ClusterView formed(
      String cluster,
      String node,
      String metaLeader,
      List<String> dataLeaders,
      List<String> nodes,
      List<TopicInfo> topics,
      long metaTerm,
      List<Long> dataTerms,
      boolean caughtUp,
      long metaIndex) {
    return new ClusterView(
        cluster,
        node,
        metaLeader,
        dataLeaders,
        nodes,
        topics,
        metaTerm,
        dataTerms,
        caughtUp,
        metaIndex,
        List.of(),
        0,
        0,
        0);
  }
}
