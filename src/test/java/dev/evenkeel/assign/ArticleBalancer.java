package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One round of the shard balancer that the five states come from, for members that all subscribe to
 * the same topics: each idle consumer gets one shard, a free one if there is any; else free shards
 * go to consumers below the average, and if there are none, shards move from consumers above the
 * average to consumers below it.
 */
final class ArticleBalancer {
  private final Map<String, List<Shard>> owned = new TreeMap<>();
  private final List<Shard> free = new ArrayList<>();
  private int average;

  private ArticleBalancer() {}

  /**
   * @return who owns what after the round; shards may be left without an owner
   */
  static Map<Shard, String> round(Snapshot snapshot) {
    ArticleBalancer balancer = new ArticleBalancer();
    snapshot.members().forEach(member -> balancer.owned.put(member.name(), new ArrayList<>()));
    snapshot.shards().stream()
        .sorted(Comparator.comparing(Snapshot.Held::shard))
        .forEach(
            held ->
                balancer
                    .owned
                    .getOrDefault(held.owner() == null ? "" : held.owner(), balancer.free)
                    .add(held.shard()));
    balancer.average = snapshot.shards().size() / snapshot.members().size();
    balancer.run();
    Map<Shard, String> after = new HashMap<>();
    balancer.owned.forEach((name, shards) -> shards.forEach(shard -> after.put(shard, name)));
    return after;
  }

  private void run() {
    boolean anyIdle = owned.values().stream().anyMatch(List::isEmpty);
    if (!free.isEmpty()) {
      if (anyIdle) {
        owned.values().stream()
            .filter(shards -> shards.isEmpty() && !free.isEmpty())
            .forEach(idle -> idle.add(free.remove(0)));
      } else {
        free.forEach(shard -> least().add(shard));
      }
    } else if (anyIdle) {
      owned.values().stream().filter(List::isEmpty).forEach(idle -> moveOne(most(), idle));
    } else {
      while (most().size() > average && least().size() < average) {
        moveOne(most(), least());
      }
    }
  }

  private void moveOne(List<Shard> from, List<Shard> to) {
    if (from.size() > average) {
      to.add(from.remove(from.size() - 1));
    }
  }

  private List<Shard> least() {
    return owned.values().stream().min(Comparator.comparing(List::size)).orElseThrow();
  }

  private List<Shard> most() {
    return owned.values().stream().max(Comparator.comparing(List::size)).orElseThrow();
  }
}
