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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Metrics of topics, over the shards that this node leads: the sum over all nodes is the topic's
 * value.
 */
final class TopicMetrics {
  /** A shard that this node leads. */
  private record Led(ShardRecord record, DelayCounts delays) {}

  private final BrokerNode node;
  private final Iterable<LogGroupServer> groups;
  private final MeterScope scope;
  private final LabelLimit names;
  private final int rowsMax;
  private final Map<FigureTable, ToLongFunction<Led>> figures = new LinkedHashMap<>();

  TopicMetrics(BrokerNode node, Iterable<LogGroupServer> groups, MeterScope scope) {
    this.node = node;
    this.groups = groups;
    this.scope = scope;
    names = new LabelLimit(scope.labelsMax());
    // And one for the others.
    rowsMax = scope.labelsMax() + 1;
    figure(
        "evenkeel.topic.end.offset",
        "Sum of the end offsets of the topic's shards that this node leads",
        led -> led.record().end());
    figure(
        "evenkeel.topic.start.offset",
        "Sum of the first offsets kept of the topic's shards that this node leads",
        led -> led.record().start());
    figure(
        "evenkeel.topic.bytes", "Bytes kept of the shards led here", led -> led.record().bytes());
    figure(
        "evenkeel.topic.dropped.messages",
        "Messages dropped by a limit before some group consumed them",
        led -> led.record().dropped());
    figure("evenkeel.topic.shards", "Shards of the topic led here", led -> 1);
    figure(
        "evenkeel.topic.delayed.messages",
        "Delayed messages of the shards led here that are not due yet",
        led -> led.delays().messages());
    figure(
        "evenkeel.topic.delayed.bytes",
        "Bytes of those delayed messages",
        led -> led.delays().bytes());
    figure(
        "evenkeel.topic.delayed.sealed.messages",
        "Delayed messages of sealed shards led here: they are being moved to other shards",
        led -> led.record().sealed() ? led.delays().messages() : 0);
  }

  private void figure(String name, String help, ToLongFunction<Led> value) {
    figures.put(scope.table(name, help, "topic"), value);
  }

  /** Reads memory only, but all shards. */
  void read() {
    Map<Integer, String> known = new HashMap<>();
    for (TopicInfo topic : node.meta().tables().topics()) {
      known.put(topic.id(), topic.name());
    }
    names.retain(known.values());
    Map<FigureTable, Rows> rows = new LinkedHashMap<>();
    figures.keySet().forEach(table -> rows.put(table, new Rows(rowsMax)));
    for (LogGroupServer group : groups) {
      if (!group.log().leadership().ready()) {
        continue;
      }
      for (Map.Entry<Shard, ShardRecord> each : group.state().tables().shards()) {
        String name = known.get(each.getKey().topicId());
        if (name != null) {
          Led led = new Led(each.getValue(), group.state().tables().delays().of(each.getKey()));
          figures.forEach(
              (table, figure) -> rows.get(table).add(figure.applyAsLong(led), names.of(name)));
        }
      }
    }
    rows.forEach(FigureTable::show);
  }
}
