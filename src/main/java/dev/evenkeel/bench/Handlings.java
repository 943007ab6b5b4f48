package dev.evenkeel.bench;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Records which member handled which message when, and computes from that how a change of the group
 * affected each shard. Times are microseconds of one clock. Thread-safe.
 */
final class Handlings {
  private record Handling(long micros, String member) {}

  private final List<List<Handling>> shards = new ArrayList<>();
  private final List<BitSet> seen = new ArrayList<>();
  private long duplicates;
  private long handled;

  Handlings(int shardCount) {
    for (int i = 0; i < shardCount; i++) {
      shards.add(new ArrayList<>());
      seen.add(new BitSet());
    }
  }

  synchronized void add(String member, HandledLine line) {
    BitSet offsets = seen.get(line.shard());
    int offset = Math.toIntExact(line.offset());
    if (offsets.get(offset)) {
      duplicates++;
    }
    offsets.set(offset);
    handled++;
    shards.get(line.shard()).add(new Handling(line.micros(), member));
  }

  /** Begins a round: forgets duplicates, and what was handled before {@code micros}. */
  synchronized void begin(long micros) {
    duplicates = 0;
    shards.forEach(shard -> shard.removeIf(each -> each.micros() < micros));
  }

  synchronized long handled() {
    return handled;
  }

  /** The member that handled each shard's last message; null for a shard without any. */
  synchronized List<String> owners() {
    List<String> owners = new ArrayList<>();
    for (List<Handling> shard : shards) {
      owners.add(
          shard.stream()
              .max(Comparator.comparingLong(Handling::micros))
              .map(Handling::member)
              .orElse(null));
    }
    return owners;
  }

  /** Whether every shard had a message since {@code micros}, by one of {@code members}. */
  synchronized boolean servedSince(long micros, Set<String> members) {
    return shards.stream()
        .allMatch(
            shard ->
                shard.stream()
                    .anyMatch(each -> each.micros() >= micros && members.contains(each.member())));
  }

  /**
   * The effect of a change.
   *
   * @param movedMillis of each shard that moved: from the last message that the former owner
   *     handled to the first that the next one did; of several moves the longest
   * @param stayedMillis of each shard that did not: the longest time between two messages
   * @param steadyMillis of each shard: the longest time between two messages before the change
   * @param moves changes of owners
   * @param duplicates messages handled again
   */
  record Change(
      List<Double> movedMillis,
      List<Double> stayedMillis,
      List<Double> steadyMillis,
      int moves,
      long duplicates) {}

  /** The effect of a change at {@code changeMicros} in this round. */
  synchronized Change change(long changeMicros) {
    List<Double> moved = new ArrayList<>();
    List<Double> stayed = new ArrayList<>();
    List<Double> steady = new ArrayList<>();
    int moves = 0;
    for (List<Handling> shard : shards) {
      List<Handling> sorted = new ArrayList<>(shard);
      sorted.sort(Comparator.comparingLong(Handling::micros));
      long before = 0;
      long after = 0;
      long handedOver = -1;
      Set<String> former = new HashSet<>();
      for (int i = 1; i < sorted.size(); i++) {
        Handling last = sorted.get(i - 1);
        Handling next = sorted.get(i);
        long gap = next.micros() - last.micros();
        if (next.micros() < changeMicros) {
          before = Math.max(before, gap);
          continue;
        }
        after = Math.max(after, gap);
        // A former owner that is frozen or slow may report one more message: that is no move back.
        if (!next.member().equals(last.member()) && !former.contains(next.member())) {
          former.add(last.member());
          moves++;
          handedOver = Math.max(handedOver, gap);
        }
      }
      steady.add(before / 1e3);
      if (handedOver >= 0) {
        moved.add(handedOver / 1e3);
      } else {
        stayed.add(after / 1e3);
      }
    }
    return new Change(moved, stayed, steady, moves, duplicates);
  }
}
