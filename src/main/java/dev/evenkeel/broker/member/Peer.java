package dev.evenkeel.broker.member;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.Inline;
import dev.evenkeel.bus.MemberQuestions.Place;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a node reports about itself.
 *
 * @param dispatcher whether it has the dispatcher role, so that it may lead meta
 * @param serving whether it is ready, and not about to stop
 * @param ineligible log groups that it should not lead
 * @param place where it is; null: it does not say
 * @param level the highest {@link dev.evenkeel.protocol.wire.FeatureLevel} that it reads
 * @param copying the bytes that it still lacks of a log group, by its name, while it copies it
 * @param holds the log groups of which it has anything
 * @param leads what it says of the log groups that it leads, by name
 */
public record Peer(
    @Inline NodeInfo info,
    boolean dispatcher,
    boolean serving,
    Set<String> ineligible,
    @Inline @Nullable Place place,
    @Default("1") int level,
    Map<String, Long> copying,
    Set<String> holds,
    Map<String, Led> leads) {

  /**
   * A log group, as its leader sees it.
   *
   * @param voters names of its voters
   * @param listeners names of those who follow it without a vote
   * @param bytes of one copy
   */
  public record Led(Set<String> voters, Set<String> listeners, long bytes) {}

  /** A node of the cluster at its place. */
  static ClusterNode member(String node, Place place) {
    String zone = place.zone() == null ? "" : place.zone();
    return new ClusterNode(node, place.host(), place.port(), zone, ClusterNode.State.MEMBER);
  }

  /** A node that says nothing of its place. */
  Peer(NodeInfo info, boolean dispatcher, boolean serving, Set<String> ineligible) {
    this(
        info,
        dispatcher,
        serving,
        ineligible,
        null,
        FeatureLevel.FIRST,
        Map.of(),
        Set.of(),
        Map.of());
  }

  public Peer {
    ineligible = Set.copyOf(ineligible);
    copying = Map.copyOf(copying);
    holds = Set.copyOf(holds);
    leads = Map.copyOf(leads);
  }

  /** The log groups that it should not lead, for any reason. */
  Set<String> unfit() {
    Set<String> unfit = new HashSet<>(ineligible);
    if (!dispatcher) {
      unfit.add(LogNode.META);
    }
    return unfit;
  }
}
