package dev.evenkeel.bus;

import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.NEEDED_TEXT;
import static dev.evenkeel.protocol.wire.Codec.TEXT;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The log groups of one node as that node sees them; the answer to {@link Op#READ_LOGS}.
 *
 * @param node the node that answers
 * @param host the address at which other nodes reach it; null if it does not know
 * @param groups meta first, then the data groups in their order
 * @param levels which kinds of log entries it reads, and which the cluster may write
 * @param disk the space on its disk; null if it does not know
 * @param unanswered for how long, in milliseconds, other nodes have not answered it, by node; null
 *     if it does not say
 */
public record NodeLogs(
    String node,
    String host,
    List<Group> groups,
    Levels levels,
    Disk disk,
    Map<String, Long> unanswered) {

  /** With an unknown disk and unknown links. */
  public NodeLogs(String node, String host, List<Group> groups, Levels levels) {
    this(node, host, groups, levels, null, null);
  }

  /**
   * See {@link FeatureLevel}.
   *
   * @param read the highest that the node reads
   * @param cluster the highest that all nodes read, as of the last meta entry that this node has
   *     applied
   * @param version of the node's build; null if it does not say
   */
  public record Levels(int read, int cluster, String version) {
    /** The levels of a node of the first version, which does not name them. */
    public static final Levels FIRST = new Levels(FeatureLevel.FIRST, FeatureLevel.FIRST, null);
  }

  /**
   * The disk with the data of a node.
   *
   * @param freeBytes free space by the last measurement
   * @param freeBytesMin the limit {@code disk-free-min-bytes}, below which the node refuses
   *     messages
   */
  public record Disk(long freeBytes, long freeBytesMin) {}

  /**
   * @param leader node id, or null if this node knows of none
   * @param leads whether this node leads the group and has applied everything that former leaders
   *     committed
   * @param commitIndex last entry known to be on a majority, or -1
   * @param appliedIndex last entry applied here, or -1
   * @param matchIndex on the leader, the last entry that each follower is known to have, or -1;
   *     empty on other nodes
   * @param condition of this node's part in the group
   */
  public record Group(
      String name,
      String leader,
      long term,
      boolean leads,
      long commitIndex,
      long appliedIndex,
      Map<String, Long> matchIndex,
      Condition condition) {}

  /**
   * What a node says of its own part in a group.
   *
   * @param ineligible why this node should not lead the group: by reason, a line for people
   * @param digest digest of this node's state; null if its version makes none
   * @param differs nodes whose state differs from the one of this node, each with a line for people
   * @param bodies what it stores for the group; null if it does not know yet, and of meta
   */
  public record Condition(
      Map<String, String> ineligible,
      StateDigest digest,
      Map<String, String> differs,
      Bodies bodies) {
    /** The condition that a node of the first version reports: it does not compare states. */
    public static final Condition UNKNOWN = new Condition(Map.of(), null, Map.of(), null);

    Condition with(Bodies stored) {
      return new Condition(ineligible, digest, differs, stored);
    }
  }

  /**
   * The messages in a node's segments of a data group.
   *
   * @param liveBytes needed, for all that is known
   * @param deadBytes dropped or deleted, and not freed yet
   * @param lostMessages of which no node has an undamaged copy, as far as this node knows
   */
  public record Bodies(long liveBytes, long deadBytes, long lostMessages) {}

  private static final Codec<Map<String, String>> LINES =
      Codec.map(TreeMap::new, NEEDED_TEXT, NEEDED_TEXT);

  private static final Codec<Condition> CONDITION =
      Codec.record(
          Condition.class,
          LINES,
          Codec.of(NodeLogs::writeDigest, NodeLogs::readDigest),
          LINES,
          Codec.absent(null, any -> true));

  private static final Codec<Bodies> BODIES =
      Codec.nullable(Codec.record(Bodies.class, I64, I64, I64));

  private static final Codec<Disk> DISK = Codec.nullable(Codec.record(Disk.class, I64, I64));

  private static final Codec<Map<String, Long>> MILLIS = Codec.map(TreeMap::new, NEEDED_TEXT, I64);

  private static final Codec<List<Group>> GROUPS =
      Codec.list(
          Codec.record(
              Group.class,
              TEXT,
              TEXT,
              I64,
              Codec.<Boolean>of((out, leads) -> out.i32(leads ? 1 : 0), in -> in.i32() != 0),
              I64,
              I64,
              Codec.map(TreeMap::new, NEEDED_TEXT, I64),
              Codec.absent(Condition.UNKNOWN, any -> true)));

  public Bytes encode() {
    Bytes out = new Bytes().text(node).text(host);
    GROUPS.write(out, groups);
    // Gateways of the first version, in applications, read no further.
    out.i32(levels.read()).i32(levels.cluster());
    groups.forEach(group -> CONDITION.write(out, group.condition()));
    // Those of the version before segments read up to here.
    groups.forEach(group -> BODIES.write(out, group.condition().bodies()));
    out.text(levels.version());
    DISK.write(out, disk);
    MILLIS.write(out, unanswered == null ? Map.of() : unanswered);
    return out;
  }

  /**
   * @throws RefusedException if the bytes are malformed
   */
  public static NodeLogs decode(ByteReader in) {
    String node = in.text();
    String host = in.text();
    List<Group> groups = GROUPS.read(in);
    if (in.remaining() == 0) {
      return new NodeLogs(node, host, groups, Levels.FIRST);
    }
    int read = in.i32();
    int cluster = in.i32();
    List<Condition> conditions = new ArrayList<>();
    groups.forEach(group -> conditions.add(CONDITION.read(in)));
    if (in.remaining() > 0) {
      conditions.replaceAll(condition -> condition.with(BODIES.read(in)));
    }
    Levels levels = new Levels(read, cluster, in.remaining() > 0 ? in.text() : null);
    Disk disk = in.remaining() > 0 ? DISK.read(in) : null;
    Map<String, Long> unanswered = in.remaining() > 0 ? MILLIS.read(in) : null;
    List<Group> whole = new ArrayList<>();
    for (Group group : groups) {
      whole.add(
          new Group(
              group.name,
              group.leader,
              group.term,
              group.leads,
              group.commitIndex,
              group.appliedIndex,
              group.matchIndex,
              conditions.get(whole.size())));
    }
    return new NodeLogs(node, host, whole, levels, disk, unanswered);
  }

  private static void writeDigest(Bytes out, StateDigest digest) {
    out.i32(digest == null ? 0 : digest.sums().size());
    if (digest != null) {
      out.i32(digest.form()).i64(digest.since());
      digest.sums().forEach((place, sum) -> out.i64(place).i64(sum));
    }
  }

  private static StateDigest readDigest(ByteReader in) {
    int places = in.count();
    if (places > StateDigest.PLACES_MAX) {
      throw new RefusedException(Refusal.INVALID, "a digest of " + places + " places");
    }
    if (places == 0) {
      return null;
    }
    int form = in.i32();
    long since = in.i64();
    NavigableMap<Long, Long> sums = new TreeMap<>();
    for (int i = 0; i < places; i++) {
      sums.put(in.i64(), in.i64());
    }
    return new StateDigest(form, since, sums);
  }
}
