package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeCard;
import dev.evenkeel.log.NodeCard.Stage;
import dev.evenkeel.log.VoterId;
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
 * What a data directory belongs to, as {@code cluster.json} tells. It is written before any log, so
 * that a directory whose logs were lost is told from a new one.
 *
 * @param clusterId made when the cluster was formed; the ids of the log groups follow from it
 * @param nodeId the node whose directory this is
 * @param dataGroups number of data groups, fixed for the life of the cluster
 * @param stage AGREED, OPENING or FORMED
 * @param peers ids of all nodes, sorted
 * @param incarnation of this directory; empty for a lone node
 * @param voters names of those who vote at first, sorted; empty if this node was taken in later,
 *     and then hears from the leader who votes
 */
record ClusterFile(
    UUID clusterId,
    String nodeId,
    int dataGroups,
    Stage stage,
    List<String> peers,
    String incarnation,
    List<String> voters) {
  static final String NAME = "cluster.json";
  private static final int FORMAT = 2;

  /** Of lone nodes only: {@code formed} instead of the stage, no incarnations. */
  private static final int FORMAT_LONE = 1;

  /** What the directory of a new lone node is told. */
  static ClusterFile alone(LogSettings settings) {
    List<String> peers = ids(settings);
    return new ClusterFile(
        UUID.randomUUID(),
        settings.nodeId(),
        dataGroups(settings),
        Stage.OPENING,
        peers,
        "",
        peers);
  }

  /** What a node has agreed to, or was told when it was taken in. */
  static ClusterFile of(NodeCard card) {
    return new ClusterFile(
        UUID.fromString(card.clusterId()),
        card.node(),
        card.dataGroups(),
        card.stage(),
        card.peers(),
        card.incarnation(),
        card.voters());
  }

  /** What the other nodes are told. */
  NodeCard card() {
    return new NodeCard(
        nodeId, incarnation, stage, clusterId.toString(), voters, peers, dataGroups);
  }

  /** The number of data groups that the settings ask for. */
  static int dataGroups(LogSettings settings) {
    return settings.dataGroups() > 0
        ? settings.dataGroups()
        : defaultDataGroups(settings.peers().size());
  }

  /**
   * How many data groups a new cluster of this many nodes gets unless told otherwise: three, which
   * measured best on a lone node (decision 4), and at least one a node, so that each can lead one.
   */
  static int defaultDataGroups(int nodes) {
    return Math.max(3, nodes);
  }

  ClusterFile with(Stage newStage) {
    return new ClusterFile(clusterId, nodeId, dataGroups, newStage, peers, incarnation, voters);
  }

  boolean formed() {
    return stage == Stage.FORMED;
  }

  /** The name under which this node votes. */
  String voter() {
    return VoterId.of(nodeId, incarnation);
  }

  /** Names of all groups: "meta", "d0", "d1", ... */
  List<String> groups() {
    List<String> names = new ArrayList<>();
    names.add(LogNode.META);
    for (int i = 0; i < dataGroups; i++) {
      names.add("d" + i);
    }
    return names;
  }

  UUID groupId(String group) {
    return UUID.nameUUIDFromBytes((clusterId + "/" + group).getBytes(StandardCharsets.UTF_8));
  }

  /** Refuses settings that do not fit what the directory was made for. */
  void check(LogSettings settings) throws LogStartException {
    Path directory = settings.directory();
    if (!nodeId.equals(settings.nodeId())) {
      throw new LogStartException(
          String.format(
              "%s belongs to node '%s', not to '%s'; start it as node %s, or give this node "
                  + "a data directory of its own",
              directory, nodeId, settings.nodeId(), nodeId));
    }
    List<String> asked = ids(settings);
    if (!peers.equals(asked)) {
      throw new LogStartException(
          String.format(
              "%s belongs to a cluster of the nodes %s, not of %s; name those as peers, or "
                  + "use a new directory",
              directory, peers, asked));
    }
    if (settings.dataGroups() != 0 && settings.dataGroups() != dataGroups) {
      throw new LogStartException(
          String.format(
              "%s was made with %s data groups, not %s; the number cannot change: ask for %s "
                  + "or leave it out",
              directory, dataGroups, settings.dataGroups(), dataGroups));
    }
  }

  static List<String> ids(LogSettings settings) {
    return settings.peers().stream().map(LogSettings.Peer::nodeId).sorted().toList();
  }

  void write(Path directory) throws IOException {
    StringBuilder out = new StringBuilder();
    out.append("{\n  \"format\": ").append(FORMAT);
    out.append(",\n  \"clusterId\": \"").append(clusterId);
    out.append("\",\n  \"nodeId\": \"").append(nodeId);
    out.append("\",\n  \"dataGroups\": ").append(dataGroups);
    out.append(",\n  \"stage\": \"").append(stage);
    out.append("\",\n  \"incarnation\": \"").append(incarnation);
    out.append("\",\n  \"peers\": ").append(quoted(peers));
    out.append(",\n  \"voters\": ").append(quoted(voters)).append("\n}\n");
    DurableFiles.write(directory.resolve(NAME), out.toString());
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
      if (format != FORMAT && format != FORMAT_LONE) {
        throw new LogStartException(
            file + " has format " + format + "; this version reads format " + FORMAT + " only");
      }
      boolean lone = format == FORMAT_LONE;
      UUID clusterId = UUID.fromString(field(text, "clusterId", "\"([0-9a-fA-F-]{36})\""));
      List<String> peers = list(text, "peers");
      return new ClusterFile(
          clusterId,
          field(text, "nodeId", "\"([^\"\\\\]+)\""),
          Integer.parseInt(field(text, "dataGroups", "(\\d{1,9})")),
          lone ? loneStage(text) : Stage.valueOf(field(text, "stage", "\"([A-Z]+)\"")),
          peers,
          lone ? "" : field(text, "incarnation", "\"([0-9a-f]*)\""),
          lone ? peers : list(text, "voters"));
    } catch (IOException | IllegalArgumentException e) {
      throw new LogStartException(
          file + " cannot be read (" + e.getMessage() + "); restore it from a backup", e);
    }
  }

  private static Stage loneStage(String text) {
    boolean formed = Boolean.parseBoolean(field(text, "formed", "(true|false)"));
    return formed ? Stage.FORMED : Stage.OPENING;
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
