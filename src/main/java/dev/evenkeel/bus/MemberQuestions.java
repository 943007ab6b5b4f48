package dev.evenkeel.bus;

import dev.evenkeel.api.ClusterStatusView.LogPlace;
import dev.evenkeel.api.Inline;
import dev.evenkeel.api.NodeChangeView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Questions of nodes to each other about the cluster's nodes, at {@link Addresses#membership}, as
 * JSON. Each has an action with which {@link #ask} sends it.
 */
public final class MemberQuestions {
  private MemberQuestions() {}

  /** The JSON of a question. */
  public static JsonObject ask(String action, Record question) {
    return new JsonObject().put(JsonQuestions.ACTION, action).mergeIn(RecordJson.json(question));
  }

  /** Nothing more than the action. */
  public record Plain() {}

  /** About a node, by its id. */
  public record OfNode(String node) {}

  /** About a log group, by its name. */
  public record OfGroup(String group) {}

  /**
   * Where a node is.
   *
   * @param host at which others reach it
   * @param port base of its ports
   * @param zone empty: not known
   */
  public record Place(String host, int port, @Nullable String zone) {}

  /** An empty node asks to be taken in. */
  public record RequestJoin(
      @Inline Place place, String node, String incarnation, @Nullable Integer level) {}

  /** An empty node is taken in. */
  public record Join(
      String clusterId, int dataGroups, String incarnation, List<PlaceOfNode> nodes) {}

  public record PlaceOfNode(String node, String host, int port) {}

  /**
   * Changes the voters of a log group; to its leader.
   *
   * @param node whose voters go; null: none
   * @param voter that comes, or that stays; null: none
   * @param seen the voters that there must be; null: any
   */
  public record ChangeVoters(
      String group, @Nullable String node, @Nullable String voter, @Nullable List<String> seen) {}

  /** A node is no longer in this cluster. */
  public record Removed(String clusterId) {}

  /**
   * Deletes the copy of a log group without a vote.
   *
   * @param above the copy must have all entries up to this one; null: a leader of a former version
   *     does not say it
   */
  public record DropCopy(String group, @Nullable Long above) {}

  // ---- Answers

  public record Accepted(boolean accepted) {}

  public record Known(boolean known) {}

  /**
   * @param done false: it is still under way
   * @param commit index up to which entries are committed after it; null: unknown
   */
  public record Changed(boolean done, @Nullable Long commit) {}

  public record ClockTime(long clockMillis) {}

  /** Where the log groups are to be, and which nodes there are. */
  public record Placement(List<PlacedNode> nodes, List<PlacedGroup> groups) {}

  /**
   * A node, and how far it is on its way into the cluster, or out of it.
   *
   * @param votes in how many log groups it has a vote
   * @param bytes that it keeps
   */
  public record PlacedNode(
      @Inline NodeChangeView change, @Nullable String zone, long votes, long bytes) {}

  public record PlacedGroup(String group, @Inline LogPlace place) {}
}
