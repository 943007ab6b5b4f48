package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.LabelLimit;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.HashMap;
import java.util.Map;

/**
 * Figures of topics, over the shards that this node leads: the sum over all nodes is the topic's.
 */
final class TopicFigures {
  private final BrokerNode node;
  private final Iterable<LogGroupServer> groups;
  private final LabelLimit names;
  private final int rowsMax;
  private final FigureTable end;
  private final FigureTable start;
  private final FigureTable bytes;
  private final FigureTable dropped;
  private final FigureTable shards;
  private final FigureTable delayed;
  private final FigureTable delayedBytes;

  TopicFigures(BrokerNode node, Iterable<LogGroupServer> groups, MeterScope scope) {
    this.node = node;
    this.groups = groups;
    names = new LabelLimit(scope.labelsMax());
    // And one for the others.
    rowsMax = scope.labelsMax() + 1;
    end =
        scope.table(
            "evenkeel.topic.end.offset",
            "Sum of the end offsets of the topic's shards that this node leads",
            "topic");
    start =
        scope.table(
            "evenkeel.topic.start.offset",
            "Sum of the first offsets kept of the topic's shards that this node leads",
            "topic");
    bytes = scope.table("evenkeel.topic.bytes", "Bytes kept of the shards led here", "topic");
    dropped =
        scope.table(
            "evenkeel.topic.dropped.messages",
            "Messages dropped by a limit before some group consumed them",
            "topic");
    shards = scope.table("evenkeel.topic.shards", "Shards of the topic led here", "topic");
    delayed =
        scope.table(
            "evenkeel.topic.delayed.messages",
            "Delayed messages of the shards led here that are not due yet",
            "topic");
    delayedBytes =
        scope.table("evenkeel.topic.delayed.bytes", "Bytes of those delayed messages", "topic");
  }

  /** Reads memory only, but all shards. */
  void read() {
    Map<Integer, String> known = new HashMap<>();
    for (TopicInfo topic : node.meta().tables().topics()) {
      known.put(topic.id(), topic.name());
    }
    names.retain(known.values());
    Rows ends = new Rows(rowsMax);
    Rows starts = new Rows(rowsMax);
    Rows sizes = new Rows(rowsMax);
    Rows drops = new Rows(rowsMax);
    Rows counts = new Rows(rowsMax);
    Rows delays = new Rows(rowsMax);
    Rows delaySizes = new Rows(rowsMax);
    for (LogGroupServer group : groups) {
      if (!group.log().leadership().ready()) {
        continue;
      }
      for (Map.Entry<Shard, ShardRecord> each : group.state().tables().shards()) {
        String name = known.get(each.getKey().topicId());
        if (name == null) {
          continue;
        }
        String label = names.of(name);
        ShardRecord record = each.getValue();
        ends.add(record.end(), label);
        starts.add(record.start(), label);
        sizes.add(record.bytes(), label);
        drops.add(record.dropped(), label);
        counts.add(1, label);
        DelayCounts stand = group.state().tables().delays().of(each.getKey());
        delays.add(stand.messages(), label);
        delaySizes.add(stand.bytes(), label);
      }
    }
    end.show(ends);
    start.show(starts);
    bytes.show(sizes);
    dropped.show(drops);
    shards.show(counts);
    delayed.show(delays);
    delayedBytes.show(delaySizes);
  }
}
