package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Contiguous ranges: the shards of each topic go in order to its subscribers, in the order of their
 * names, and the first (shards mod subscribers) of them get one more. This is the "average
 * allocation" of RocketMQ ({@code AllocateMessageQueueAveragely}) and EQueue.
 *
 * <p>Evenness is per topic: over many topics the first members of the order get the extra ones.
 */
public final class AverageAssignor implements Assignor {

  public static final String NAME = "average";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Map<Shard, String> assign(Snapshot snapshot) {
    Roster roster = Roster.of(snapshot);
    List<BitSet> subscribers = roster.subscribers();
    Map<Shard, String> targets = new HashMap<>();
    for (int topic = 0; topic < roster.topics(); topic++) {
      int[] members = subscribers.get(topic).stream().toArray();
      int first = roster.from[topic];
      int shards = roster.from[topic + 1] - first;
      int each = shards / members.length;
      int withOneMore = shards % members.length;
      for (int i = 0; i < shards; i++) {
        boolean ofLarger = i < withOneMore * (each + 1);
        int member = ofLarger ? i / (each + 1) : (i - withOneMore) / each;
        targets.put(roster.shards[first + i], roster.members[members[member]]);
      }
    }
    return targets;
  }
}
