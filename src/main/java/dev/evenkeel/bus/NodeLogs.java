package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The log groups of one node as that node sees them: the answer to {@link Op#READ_LOGS}.
 *
 * @param node the node that answers
 * @param host where the other nodes find it, or null if it does not know
 * @param groups meta first, then the data groups in their order
 * @param levels what kinds of log entries there may be
 */
public record NodeLogs(String node, String host, List<Group> groups, Levels levels) {

  /**
   * See {@link FeatureLevel}.
   *
   * @param read the highest that the node reads
   * @param cluster the highest that all nodes read, as far as this node has applied meta
   */
  public record Levels(int read, int cluster) {
    /** Of a node of a build that does not say. */
    public static final Levels FIRST = new Levels(FeatureLevel.FIRST, FeatureLevel.FIRST);
  }

  /**
   * @param leader node id, or null if this node knows of none
   * @param leads this node leads the group and has applied all that former leaders committed
   * @param commitIndex last entry known to be on a majority, or -1
   * @param appliedIndex last entry applied here, or -1
   * @param matchIndex on the leader: each follower's last entry known to be there, or -1; elsewhere
   *     empty
   * @param ineligible why this node should not lead the group: reason and a line for people
   * @param digest of this node's state; null: of a build that has none
   * @param differs nodes whose state differs from that of this one, each with a line for people
   */
  public record Group(
      String name,
      String leader,
      long term,
      boolean leads,
      long commitIndex,
      long appliedIndex,
      Map<String, Long> matchIndex,
      Map<String, String> ineligible,
      StateDigest digest,
      Map<String, String> differs) {

    /** Of a build that does not compare states. */
    public Group(
        String name,
        String leader,
        long term,
        boolean leads,
        long commitIndex,
        long appliedIndex,
        Map<String, Long> matchIndex,
        Map<String, String> ineligible) {
      this(
          name,
          leader,
          term,
          leads,
          commitIndex,
          appliedIndex,
          matchIndex,
          ineligible,
          null,
          Map.of());
    }

    private Group with(
        Map<String, String> reasons, StateDigest itsDigest, Map<String, String> itDiffers) {
      return new Group(
          name,
          leader,
          term,
          leads,
          commitIndex,
          appliedIndex,
          matchIndex,
          reasons,
          itsDigest,
          itDiffers);
    }
  }

  public Bytes encode() {
    Bytes out = new Bytes().text(node).text(host).i32(groups.size());
    for (Group group : groups) {
      out.text(group.name()).text(group.leader()).i64(group.term()).i32(group.leads() ? 1 : 0);
      out.i64(group.commitIndex()).i64(group.appliedIndex()).i32(group.matchIndex().size());
      group.matchIndex().forEach((follower, index) -> out.text(follower).i64(index));
    }
    // Nodes of the first build read no further.
    out.i32(levels.read()).i32(levels.cluster());
    groups.forEach(group -> writeRest(out, group));
    return out;
  }

  private static void writeRest(Bytes out, Group group) {
    out.i32(group.ineligible().size());
    group.ineligible().forEach((reason, detail) -> out.text(reason).text(detail));
    StateDigest digest = group.digest();
    out.i32(digest == null ? 0 : digest.sums().size());
    if (digest != null) {
      out.i32(digest.form()).i64(digest.since());
      digest.sums().forEach((place, sum) -> out.i64(place).i64(sum));
    }
    out.i32(group.differs().size());
    group.differs().forEach((node, detail) -> out.text(node).text(detail));
  }

  private static Group withRest(Group group, ByteReader in) {
    int reasons = in.count();
    Map<String, String> ineligible = new TreeMap<>();
    for (int i = 0; i < reasons; i++) {
      ineligible.put(in.neededText(), in.neededText());
    }
    int places = in.count();
    if (places > StateDigest.PLACES_MAX) {
      throw new RefusedException(Refusal.INVALID, "a digest of " + places + " places");
    }
    StateDigest digest = null;
    if (places > 0) {
      int form = in.i32();
      long since = in.i64();
      NavigableMap<Long, Long> sums = new TreeMap<>();
      for (int i = 0; i < places; i++) {
        sums.put(in.i64(), in.i64());
      }
      digest = new StateDigest(form, since, sums);
    }
    int count = in.count();
    Map<String, String> differs = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      differs.put(in.neededText(), in.neededText());
    }
    return group.with(ineligible, digest, differs);
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException if the bytes are malformed
   */
  public static NodeLogs decode(ByteReader in) {
    String node = in.text();
    String host = in.text();
    int count = in.count();
    List<Group> groups = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String name = in.text();
      String leader = in.text();
      long term = in.i64();
      boolean leads = in.i32() != 0;
      long commit = in.i64();
      long applied = in.i64();
      int followers = in.count();
      Map<String, Long> match = new TreeMap<>();
      for (int k = 0; k < followers; k++) {
        match.put(in.neededText(), in.i64());
      }
      groups.add(new Group(name, leader, term, leads, commit, applied, match, Map.of()));
    }
    if (in.remaining() == 0) {
      return new NodeLogs(node, host, groups, Levels.FIRST);
    }
    Levels levels = new Levels(in.i32(), in.i32());
    groups.replaceAll(group -> withRest(group, in));
    return new NodeLogs(node, host, groups, levels);
  }
}
