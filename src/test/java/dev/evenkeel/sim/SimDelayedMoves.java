package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.serve.MovesBench;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Moves delayed messages of sealed shards to those in their place, as the leaders of these shards
 * do: whoever leads opens an epoch of its own, and a move that is interrupted is done again.
 */
final class SimDelayedMoves {
  private static final int BATCHES_MAX = 3;

  private final Brokers brokers;
  private final Set<Shard> moving = new HashSet<>();

  SimDelayedMoves(Brokers brokers) {
    this.brokers = brokers;
  }

  /** Goes on, if there is something to move; called from time to time. */
  void look() {
    for (DataGroup group : brokers.groups()) {
      if (!group.led()) {
        continue;
      }
      for (Shard shard : Set.copyOf(group.state().tables().delays().sealed())) {
        TopicInfo topic = brokers.topic(shard.topicId());
        if (topic != null && topic.isSealed(shard.shard()) && moving.add(shard)) {
          open(group, topic, shard);
        }
      }
    }
  }

  private void open(DataGroup group, TopicInfo topic, Shard shard) {
    int epoch = group.term();
    Map<Shard, Long> last = new HashMap<>();
    Map<DataGroup, byte[]> entries = new HashMap<>();
    for (DataGroup each : brokers.groups()) {
      entries.put(each, Entry.of(MovesBench.open(shard, epoch), each.clockMillis()));
    }
    append(
        shard,
        entries,
        reply -> {
          if (reply(reply) instanceof Reply.OfSequences of) {
            last.putAll(of.lastSequences());
          }
          return !(reply(reply) instanceof Reply.Refused);
        },
        () -> move(group, topic, shard, epoch, last));
  }

  private void move(
      DataGroup group, TopicInfo topic, Shard shard, int epoch, Map<Shard, Long> last) {
    if (!group.led() || group.term() != epoch) {
      moving.remove(shard);
      return;
    }
    var chunk = MovesBench.first(group.state(), topic, shard, epoch, last, BATCHES_MAX);
    Map<DataGroup, List<AppendBody.Item>> parts = new HashMap<>();
    for (AppendBody.Item item : chunk.items()) {
      parts.computeIfAbsent(brokers.of(item.shard()), any -> new ArrayList<>()).add(item);
    }
    Map<DataGroup, byte[]> entries = new HashMap<>();
    parts.forEach(
        (to, items) ->
            entries.put(
                to, Rig.appendEntry(to.clockMillis(), items.toArray(AppendBody.Item[]::new))));
    append(
        shard,
        entries,
        reply -> AppendResults.decode(reply).results().stream().allMatch(AppendResults.Result::ok),
        () -> drop(group, shard, chunk.drop()));
  }

  private void drop(DataGroup group, Shard shard, DataCommand command) {
    append(
        shard,
        Map.of(group, Entry.of(command, group.clockMillis())),
        reply -> true,
        () -> moving.remove(shard));
  }

  private static Reply reply(ByteBuffer bytes) {
    return ReplyCodec.decode(bytes.duplicate());
  }

  /** Whether a step may follow. */
  private interface Check {
    boolean isDone(ByteBuffer reply);
  }

  /** Appends entries, and goes on when all are applied; else the shard's turn comes again. */
  private void append(Shard shard, Map<DataGroup, byte[]> entries, Check check, Runnable next) {
    int[] left = {entries.size()};
    boolean[] over = new boolean[1];
    Consumer<Boolean> end =
        done -> {
          if (over[0]) {
            return;
          }
          if (!done) {
            over[0] = true;
            moving.remove(shard);
          } else if (--left[0] == 0) {
            over[0] = true;
            next.run();
          }
        };
    if (entries.isEmpty()) {
      next.run();
    }
    new TreeMap<>(numbered(entries))
        .forEach(
            (number, entry) -> {
              DataGroup group = brokers.groups().get(number);
              if (!group.led()) {
                end.accept(false);
                return;
              }
              group.append(
                  entry,
                  new SimLog.Writer() {
                    @Override
                    public void applied(DataState state, ByteBuffer reply) {
                      end.accept(check.isDone(reply));
                      group.delayedChanged();
                    }

                    @Override
                    public void unknown() {
                      end.accept(false);
                    }
                  });
            });
  }

  private Map<Integer, byte[]> numbered(Map<DataGroup, byte[]> entries) {
    Map<Integer, byte[]> numbered = new HashMap<>();
    entries.forEach((group, entry) -> numbered.put(brokers.groups().indexOf(group), entry));
    return numbered;
  }
}
