package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
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

/**
 * What a data directory belongs to, as {@code cluster.json} tells. It is written before any log, so
 * that a directory whose logs were lost is told from a new one.
 *
 * @param clusterId made when the cluster was formed; the ids of the log groups follow from it
 * @param nodeId the node whose directory this is
 * @param dataGroups number of data groups, fixed for the life of the cluster
 * @param formed whether every group has once been opened: from then on none may be missing
 * @param peers ids of all voters, sorted
 */
record ClusterFile(
    UUID clusterId, String nodeId, int dataGroups, boolean formed, List<String> peers) {
  static final String NAME = "cluster.json";
  private static final int FORMAT = 1;

  /** What a new directory is told. */
  static ClusterFile create(LogSettings settings) {
    List<String> peers = ids(settings);
    int dataGroups =
        settings.dataGroups() > 0
            ? settings.dataGroups()
            : RaftLogNode.defaultDataGroups(peers.size());
    // The nodes of a new cluster must come to the same id without asking each other.
    UUID id =
        peers.size() == 1
            ? UUID.randomUUID()
            : UUID.nameUUIDFromBytes(
                ("evenkeel " + peers + " " + dataGroups).getBytes(StandardCharsets.UTF_8));
    return new ClusterFile(id, settings.nodeId(), dataGroups, false, peers);
  }

  ClusterFile withFormed() {
    return new ClusterFile(clusterId, nodeId, dataGroups, true, peers);
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
          directory
              + " belongs to node '"
              + nodeId
              + "', not to '"
              + settings.nodeId()
              + "'; start with --node "
              + nodeId
              + ", or give this node a directory of its own with --data");
    }
    List<String> asked = ids(settings);
    if (!peers.equals(asked)) {
      throw new LogStartException(
          directory
              + " belongs to a cluster of the nodes "
              + peers
              + ", not of "
              + asked
              + "; name those in --peers, or use a new directory");
    }
    if (settings.dataGroups() != 0 && settings.dataGroups() != dataGroups) {
      throw new LogStartException(
          directory
              + " was made with "
              + dataGroups
              + " data groups, not "
              + settings.dataGroups()
              + "; the number cannot change: ask for "
              + dataGroups
              + " or leave it out");
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
    out.append(",\n  \"formed\": ").append(formed);
    out.append(",\n  \"peers\": [\"").append(String.join("\", \"", peers)).append("\"]\n}\n");
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
      if (format != FORMAT) {
        throw new LogStartException(
            file + " has format " + format + "; this version reads format " + FORMAT + " only");
      }
      return new ClusterFile(
          UUID.fromString(field(text, "clusterId", "\"([0-9a-fA-F-]{36})\"")),
          field(text, "nodeId", "\"([^\"\\\\]+)\""),
          Integer.parseInt(field(text, "dataGroups", "(\\d{1,9})")),
          Boolean.parseBoolean(field(text, "formed", "(true|false)")),
          Arrays.stream(field(text, "peers", "\\[([^\\]]*)\\]").split(","))
              .map(id -> id.trim().replace("\"", ""))
              .sorted()
              .toList());
    } catch (IOException | IllegalArgumentException e) {
      throw new LogStartException(
          file + " cannot be read (" + e.getMessage() + "); restore it from a backup", e);
    }
  }

  private static String field(String text, String name, String value) {
    Matcher matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*" + value).matcher(text);
    if (!matcher.find()) {
      throw new IllegalArgumentException("no valid field \"" + name + "\"");
    }
    return matcher.group(1);
  }
}
