package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The file {@code cluster.json}: the cluster that a data directory belongs to. It is written before
 * any log, so that a directory whose logs were lost differs from a new one.
 *
 * @param info what this node tells the others, at stage AGREED, OPENING or FORMED; its incarnation
 *     is empty for a lone node. The ids of the log groups follow from the cluster's id
 * @param nodes the nodes that the cluster had when this node last heard of a change; empty before
 *     the first
 * @param added how many data log groups were added to those that the cluster was formed with
 * @param founders the first voters of the last added one while this node opens it; null: it is open
 */
record ClusterFile(NodeInfo info, List<LogSettings.Peer> nodes, int added, List<String> founders) {
  static final String NAME = "cluster.json";

  /**
   * The layout of the whole data directory. 3: bodies of entries lie in segments beside the log. In
   * 1 and 2 the log and the store had them.
   */
  private static final int FORMAT = 3;

  ClusterFile {
    nodes = List.copyOf(nodes);
  }

  /** The file of a node of a cluster that has not changed. */
  ClusterFile(NodeInfo info) {
    this(info, List.of());
  }

  /** The file of a node of a cluster without added log groups, as far as the node knows. */
  ClusterFile(NodeInfo info, List<LogSettings.Peer> nodes) {
    this(info, nodes, 0, null);
  }

  /** The file of a new lone node. */
  static ClusterFile alone(LogSettings settings) {
    List<String> peers = ids(settings);
    return new ClusterFile(
        new NodeInfo(
            settings.nodeId(),
            "",
            Stage.OPENING,
            UUID.randomUUID().toString(),
            peers,
            peers,
            dataGroups(settings)));
  }

  /** The number of data log groups that the settings ask for. */
  static int dataGroups(LogSettings settings) {
    return settings.dataGroups() > 0
        ? settings.dataGroups()
        : defaultDataGroups(settings.peers().size());
  }

  /**
   * How many data log groups a new cluster of this many nodes gets unless told otherwise: three,
   * which measured best on a lone node (decision 4), and at least one a node, so that each can lead
   * one.
   */
  static int defaultDataGroups(int nodes) {
    return Math.max(3, nodes);
  }

  ClusterFile with(Stage newStage) {
    return new ClusterFile(info.with(newStage), nodes, added, founders);
  }

  ClusterFile with(List<LogSettings.Peer> newNodes) {
    return new ClusterFile(info, newNodes, added, founders);
  }

  /** One more data log group is being opened; repeated if that was not finished. */
  ClusterFile adding(List<String> firstVoters) {
    return new ClusterFile(info, nodes, founders == null ? added + 1 : added, firstVoters);
  }

  /** All log groups are open. */
  ClusterFile opened() {
    return new ClusterFile(info, nodes, added, null);
  }

  /** Whether this node has not finished opening the added group. */
  boolean isBeingAdded(String group) {
    return founders != null && group.equals(ShardGroups.name(info.dataGroups() + added - 1));
  }

  /** The voters of a log group until its log says otherwise. */
  List<String> firstVoters(String group) {
    if (isBeingAdded(group)) {
      return founders;
    }
    // The log of an added group knows its voters; its founders may have lost their votes since.
    return groups().indexOf(group) <= info.dataGroups() ? info.voters() : List.of();
  }

  /** The nodes of the cluster; those of the settings if it has not changed. */
  List<LogSettings.Peer> nodesOr(List<LogSettings.Peer> settings) {
    return nodes.isEmpty() ? settings : nodes;
  }

  boolean formed() {
    return info.stage() == Stage.FORMED;
  }

  /** Names of all groups: "meta", "d0", "d1", ... */
  List<String> groups() {
    List<String> names = new ArrayList<>();
    names.add(LogNode.META);
    for (int i = 0; i < info.dataGroups() + added; i++) {
      names.add(ShardGroups.name(i));
    }
    return names;
  }

  UUID groupId(String group) {
    return UUID.nameUUIDFromBytes(
        (info.clusterId() + "/" + group).getBytes(StandardCharsets.UTF_8));
  }

  /** Refuses settings that differ from those the directory was made for. */
  void check(LogSettings settings) throws LogStartException {
    Path directory = settings.directory();
    if (!info.node().equals(settings.nodeId())) {
      throw new LogStartException(
          String.format(
              "%s belongs to node '%s', not to '%s'; start it as node %s, or give this node "
                  + "a data directory of its own",
              directory, info.node(), settings.nodeId(), info.node()));
    }
    if (info.stage() == Stage.REMOVED) {
      throw new LogStartException(
          String.format(
              "node %s was removed from its cluster, and other nodes have what was in %s; to use"
                  + " the node again, start it with an empty data directory",
              info.node(), directory));
    }
    List<String> asked = ids(settings);
    List<String> known = nodes.isEmpty() ? info.peers() : ids(nodes);
    boolean right =
        nodes.isEmpty() && !settings.joins()
            ? known.equals(asked)
            : known.containsAll(asked) || info.peers().containsAll(asked);
    if (!right) {
      throw new LogStartException(
          String.format(
              "%s belongs to a cluster of the nodes %s, not of %s; name those as peers, or "
                  + "use a new directory. To add a node to the cluster, start it with an empty"
                  + " directory and let it join",
              directory, known, asked));
    }
    if (settings.dataGroups() != 0 && settings.dataGroups() != info.dataGroups()) {
      throw new LogStartException(
          String.format(
              "%s was made with %s data groups, not %s; more are added as nodes come: ask for %s "
                  + "or leave it out",
              directory, info.dataGroups(), settings.dataGroups(), info.dataGroups()));
    }
  }

  static List<String> ids(LogSettings settings) {
    return ids(settings.peers());
  }

  private static List<String> ids(List<LogSettings.Peer> peers) {
    return peers.stream().map(LogSettings.Peer::nodeId).sorted().toList();
  }

  void write(Path directory) throws IOException {
    StringBuilder out = new StringBuilder();
    out.append("{\n  \"format\": ").append(FORMAT);
    out.append(",\n  \"clusterId\": \"").append(info.clusterId());
    out.append("\",\n  \"nodeId\": \"").append(info.node());
    out.append("\",\n  \"dataGroups\": ").append(info.dataGroups());
    out.append(",\n  \"stage\": \"").append(info.stage());
    out.append("\",\n  \"incarnation\": \"").append(info.incarnation());
    out.append("\",\n  \"peers\": ").append(quoted(info.peers()));
    out.append(",\n  \"voters\": ").append(quoted(info.voters()));
    if (!nodes.isEmpty()) {
      out.append(",\n  \"nodes\": ").append(quoted(nodes.stream().map(ClusterFile::text).toList()));
    }
    if (added > 0) {
      out.append(",\n  \"added\": ").append(added);
    }
    if (founders != null) {
      out.append(",\n  \"founders\": ").append(quoted(founders));
    }
    out.append("\n}\n");
    DurableFiles.write(directory.resolve(NAME), out.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Reads the file, or returns null if there is none. */
  static ClusterFile read(Path directory) throws LogStartException {
    Path file = directory.resolve(NAME);
    if (!Files.exists(file)) {
      return null;
    }
    try {
      String text = Files.readString(file);
      int format = Integer.parseInt(field(text, "format", "(\\d{1,9})"));
      if (format != FORMAT) {
        throw new LogStartException(
            "%s has a layout of format %s, and this version reads format %s only: %s"
                .formatted(
                    directory,
                    format,
                    FORMAT,
                    format < FORMAT
                        ? "start the version that wrote it and copy what you need, or use a new"
                            + " directory"
                        : "start the version that wrote it"));
      }
      UUID clusterId = UUID.fromString(field(text, "clusterId", "\"([0-9a-fA-F-]{36})\""));
      List<String> peers = list(text, "peers");
      return new ClusterFile(
          new NodeInfo(
              field(text, "nodeId", "\"([^\"\\\\]+)\""),
              field(text, "incarnation", "\"([0-9a-f]*)\""),
              Stage.valueOf(field(text, "stage", "\"([A-Z]+)\"")),
              clusterId.toString(),
              list(text, "voters"),
              peers,
              Integer.parseInt(field(text, "dataGroups", "(\\d{1,9})"))),
          text.contains("\"nodes\"")
              ? list(text, "nodes").stream().map(ClusterFile::peer).toList()
              : List.of(),
          text.contains("\"added\"") ? Integer.parseInt(field(text, "added", "(\\d{1,9})")) : 0,
          text.contains("\"founders\"") ? list(text, "founders") : null);
    } catch (IOException | IllegalArgumentException e) {
      throw new LogStartException(
          file + " cannot be read (" + e.getMessage() + "); restore it from a backup", e);
    }
  }

  /** An IPv6 address stays without brackets: former versions read no list that has some inside. */
  private static String text(LogSettings.Peer peer) {
    return peer.nodeId() + '@' + peer.host() + ':' + peer.raftPort();
  }

  private static LogSettings.Peer peer(String text) {
    int at = text.indexOf('@');
    int colon = text.lastIndexOf(':');
    if (at < 1 || colon < at) {
      throw new IllegalArgumentException("'" + text + "' is not ID@HOST:PORT");
    }
    return new LogSettings.Peer(
        text.substring(0, at),
        text.substring(at + 1, colon),
        Integer.parseInt(text.substring(colon + 1)));
  }

  private static String quoted(List<String> texts) {
    return texts.stream().map(text -> '"' + text + '"').collect(Collectors.joining(", ", "[", "]"));
  }

  private static List<String> list(String text, String name) {
    return Arrays.stream(field(text, name, "\\[([^\\]]*)\\]").split(","))
        .map(id -> id.trim().replace("\"", ""))
        .filter(id -> !id.isEmpty())
        .sorted()
        .toList();
  }

  private static String field(String text, String name, String value) {
    Matcher matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*" + value).matcher(text);
    if (!matcher.find()) {
      throw new IllegalArgumentException("no valid field \"" + name + "\"");
    }
    return matcher.group(1);
  }
}
