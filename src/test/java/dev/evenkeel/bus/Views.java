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
    return new ClusterView(
        "c", node, metaLeader, dataLeaders, nodes, topics, 0, List.of(), true, -1);
  }
}
