package dev.evenkeel.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Every setting of a node: the one place that names them. */
final class ConfigKeys {
  static final ConfigKey NODE =
      ConfigKey.text(
          "node", "", "Id of this node; n1 if it is alone. With peers it must be one of them.");
  static final ConfigKey HOST =
      ConfigKey.text("host", "127.0.0.1", "Address to listen at for the cluster's three ports.");
  static final ConfigKey PUBLIC_HOST =
      ConfigKey.text("public-host", "", "Address at which others reach this node; host if empty.");
  static final ConfigKey PORT =
      ConfigKey.number(
          "port", 5701, 1, 65_533, "Base of three ports: P Hazelcast, P+1 event bus, P+2 Raft.");
  static final ConfigKey HTTP_HOST =
      ConfigKey.text("http-host", "", "Address to listen at for HTTP; host if empty.");
  static final ConfigKey HTTP_PORT =
      ConfigKey.number("http-port", 8080, 0, 65_535, "Port for HTTP; 0 takes any free one.");
  static final ConfigKey DATA =
      ConfigKey.text("data", "./data", "Directory for logs and state; made if it is missing.");
  static final ConfigKey PEERS =
      ConfigKey.list("peers", "", "Every node as ID@HOST:PORT, this one too; empty: a lone node.");
  static final ConfigKey ROLES =
      ConfigKey.list("roles", "broker,dispatcher,web", "What this node does.");
  static final ConfigKey CLUSTER_NAME =
      ConfigKey.text("cluster-name", "evenkeel", "Only members of the same name find together.");
  static final ConfigKey DATA_GROUPS =
      ConfigKey.number(
          "data-groups", 0, 0, 256, "Log groups of a new cluster; 0 chooses by its size.");
  static final ConfigKey DISK_FREE_MIN_BYTES =
      ConfigKey.bytes(
          "disk-free-min-bytes",
          "256MiB",
          "0",
          "1024TiB",
          "Below so much free disk appends are refused.");
  static final ConfigKey SNAPSHOT_EVERY_ENTRIES =
      ConfigKey.number(
          "snapshot-every-entries", 100_000, 100, 100_000_000, "Log entries between snapshots.");
  static final ConfigKey SNAPSHOT_EVERY_BYTES =
      ConfigKey.bytes(
          "snapshot-every-bytes", "512MiB", "1MiB", "1TiB", "Bytes of the log between snapshots.");
  static final ConfigKey SEGMENT_BYTES =
      ConfigKey.bytes("segment-bytes", "16MiB", "8MiB", "1GiB", "Size of a segment of the log.");
  static final ConfigKey TAIL_CACHE_BYTES =
      ConfigKey.bytes(
          "tail-cache-bytes",
          "16MiB",
          "1MiB",
          "16GiB",
          "Newest batches of each log group in memory.");

  static final ConfigKey MEMBER_TIMEOUT =
      ConfigKey.duration(
          "member-timeout",
          "5s",
          "100ms",
          "10m",
          "How long a new dispatcher waits for owners that it knows from the log only.");
  static final ConfigKey REBALANCE_INTERVAL =
      ConfigKey.duration(
          "rebalance-interval", "5s", "100ms", "10m", "How often everything is planned again.");
  static final ConfigKey JOIN_QUIET =
      ConfigKey.duration(
          "join-quiet",
          "100ms",
          "0ms",
          "10s",
          "Members that join in a burst are planned for when none has joined for so long.");
  static final ConfigKey JOIN_WAIT_MAX =
      ConfigKey.duration(
          "join-wait-max",
          "1s",
          "0ms",
          "1m",
          "Longest wait of such a plan, from the first member of the burst.");
  static final ConfigKey METRICS_LABELS_MAX =
      ConfigKey.number(
          "metrics-labels-max",
          200,
          0,
          10_000,
          "Topics, and groups, with metrics of their own; the others are summed.");

  static final List<ConfigKey> ALL =
      List.of(
          NODE,
          HOST,
          PUBLIC_HOST,
          PORT,
          HTTP_HOST,
          HTTP_PORT,
          DATA,
          PEERS,
          ROLES,
          CLUSTER_NAME,
          DATA_GROUPS,
          DISK_FREE_MIN_BYTES,
          SNAPSHOT_EVERY_ENTRIES,
          SNAPSHOT_EVERY_BYTES,
          SEGMENT_BYTES,
          TAIL_CACHE_BYTES,
          MEMBER_TIMEOUT,
          REBALANCE_INTERVAL,
          JOIN_QUIET,
          JOIN_WAIT_MAX,
          METRICS_LABELS_MAX);

  static final Map<String, ConfigKey> BY_NAME = byName();

  private ConfigKeys() {}

  private static Map<String, ConfigKey> byName() {
    Map<String, ConfigKey> keys = new LinkedHashMap<>();
    ALL.forEach(key -> keys.put(key.name(), key));
    return keys;
  }
}
