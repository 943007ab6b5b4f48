package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the shards of the data groups that this node leads in line with what meta says of their
 * topics: gives them the topic's settings, and drops those that the topic has no more. The leader
 * of meta does that, too, when something changes, but cannot reach every leader at every moment,
 * and has no copy of most groups. Also lets the time of these groups go on.
 *
 * <p>The meta log here may lag. So what differs is changed only if it is the same in two looks; if
 * the log lags for longer, a later look changes it back.
 *
 * <p>Runs on one context.
 */
final class ShardTending {
  private static final Logger LOG = LoggerFactory.getLogger(ShardTending.class);

  private record Place(int group, int topic) {}

  private final ServeContext serve;
  private final GroupCommands commands;

  /** What was missing at the last look. */
  private Map<Place, DataCommand> missing = Map.of();

  private final Set<Place> underWay = new HashSet<>();

  ShardTending(ServeContext serve, GroupCommands commands) {
    this.serve = serve;
    this.commands = commands;
  }

  /** To be called from time to time. */
  void look() {
    Map<Place, DataCommand> found = new HashMap<>();
    LogGroup meta = serve.node().log().meta();
    if (meta.copy().caughtUp() && meta.leadership().leader() != null) {
      for (int i = 0; i < serve.openGroups(); i++) {
        int index = i;
        LogGroupServer group = serve.groups().get(i);
        boolean leads = group.nodeId().equals(group.log().leadership().leader());
        if (leads && group.log().leadership().ready()) {
          startTime(group);
          missing(
              serve.node().meta(),
              group.state().tables(),
              (topic, command) -> found.put(new Place(index, topic), command));
        }
      }
    }
    found.forEach(
        (place, command) -> {
          if (command.equals(missing.get(place)) && underWay.add(place)) {
            submit(place, command);
          }
        });
    missing = found;
  }

  /**
   * Writes an entry if the clock here is behind that of the last entry, because it was set back or
   * another node led before. Without one, messages that failed would not be tried again.
   */
  private void startTime(LogGroupServer group) {
    long now = serve.node().nowMillis();
    if (group.state().tables().timeStandsStill(now)) {
      commands
          .append(group.log(), Entry.of(new DataCommand.Retain(), now))
          .onFailure(e -> LOG.warn("the time of {} waits: {}", group.log().name(), e.toString()));
    }
  }

  private static void missing(
      MetaState meta, DataTables tables, BiConsumer<Integer, DataCommand> found) {
    for (TopicInfo topic : meta.tables().topics()) {
      if (topic.state() != TopicInfo.State.ACTIVE) {
        continue;
      }
      TopicRecord copy = tables.topic(topic.id());
      boolean has = copy != null && !copy.dropped();
      if (has && !copy.config().equals(topic.config())) {
        found.accept(topic.id(), new DataCommand.ConfigureShards(topic.id(), topic.config()));
      } else if (hasBefore(topic.layouts().get(0).first(), topic.id(), tables)) {
        int first = topic.layouts().get(0).first();
        // To take over from producers that were away, the log group remembers what they sent.
        int forgetBelow =
            topic.dropped().isEmpty() ? DataCommand.DropSealed.EVERYTHING : topic.firstRemembered();
        found.accept(topic.id(), new DataCommand.DropSealed(topic.id(), first, forgetBelow));
      }
    }
  }

  /** Whether there are shards with lower numbers, or producers of handlers that read such. */
  private static boolean hasBefore(int first, int topic, DataTables tables) {
    return first > 0
        && Stream.concat(
                tables.shardsOf(topic).stream(), tables.publishers().stream().map(LeaseKey::shard))
            .anyMatch(shard -> shard.topicId() == topic && shard.shard() < first);
  }

  private void submit(Place place, DataCommand command) {
    LogGroupServer group = serve.groups().get(place.group());
    commands
        .append(group.log(), Entry.of(command, serve.node().nowMillis()))
        .onFailure(e -> LOG.warn("{} waits: {}", group.log().name(), e.toString()))
        .onComplete(any -> underWay.remove(place));
  }
}
