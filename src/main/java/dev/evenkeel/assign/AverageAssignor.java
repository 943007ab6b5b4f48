package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Contiguous ranges: of each topic, the shards in order are dealt to its subscribers in the order
 * of their names, and the first (shards mod subscribers) of them get one more. This is the "average
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
    Map<Integer, TreeSet<Shard>> byTopic = new TreeMap<>();
    for (Snapshot.Held held : snapshot.shards()) {
      Shard shard = held.shard();
      byTopic.computeIfAbsent(shard.topicId(), id -> new TreeSet<>()).add(shard);
    }
    Map<Shard, String> target = new HashMap<>();
    byTopic.forEach(
        (topicId, sorted) -> deal(subscribers(snapshot.members(), topicId), sorted, target));
    return target;
  }

  private static List<String> subscribers(List<Snapshot.Member> members, int topicId) {
    TreeSet<String> names = new TreeSet<>();
    for (Snapshot.Member member : members) {
      if (member.topicIds().contains(topicId)) {
        names.add(member.name());
      }
    }
    return new ArrayList<>(names);
  }

  private static void deal(List<String> names, Set<Shard> sorted, Map<Shard, String> target) {
    if (names.isEmpty()) {
      return;
    }
    int each = sorted.size() / names.size();
    int withOneMore = sorted.size() % names.size();
    int member = 0;
    int left = each + (withOneMore > 0 ? 1 : 0);
    for (Shard shard : sorted) {
      while (left == 0) {
        member++;
        left = each + (member < withOneMore ? 1 : 0);
      }
      target.put(shard, names.get(member));
      left--;
    }
  }
}
