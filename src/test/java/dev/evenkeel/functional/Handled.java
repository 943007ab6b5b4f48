package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What consumers of the kind {@code bench rebalance-member} have handled, by their lines. */
final class Handled {
  private record Place(int shard, long offset) {}

  private final Map<Place, String> messages = new HashMap<>();
  private final Map<Integer, Set<Long>> twice = new TreeMap<>();

  /**
   * @param outputs lines of each consumer, in its order
   */
  Handled(Collection<List<String>> outputs) {
    outputs.forEach(output -> read(output));
  }

  /** Within one consumer and epoch the sequences of a key grow, one by one. */
  private void read(List<String> output) {
    Map<String, Long> last = new HashMap<>();
    Set<Place> own = new HashSet<>();
    for (String line : output) {
      String[] fields = line.split(" ");
      if (!line.startsWith("handled ") || fields.length != 7) {
        // A kill has cut it off.
        continue;
      }
      Place place = new Place(Integer.parseInt(fields[2]), Long.parseLong(fields[3]));
      assertThat(own.add(place)).as("twice at one consumer: %s", line).isTrue();
      String message = fields[5] + " " + fields[6];
      String before = messages.putIfAbsent(place, message);
      if (before != null) {
        assertThat(message).isEqualTo(before);
        twice.computeIfAbsent(place.shard(), shard -> new TreeSet<>()).add(place.offset());
      }
      long sequence = Long.parseLong(fields[6]);
      Long former = last.put(fields[4] + "/" + fields[5], sequence);
      assertThat(former == null || former < sequence)
          .as("%s comes after %s of its key", line, former)
          .isTrue();
    }
  }

  int distinct() {
    return messages.size();
  }

  /** Offsets that were handled more than once, by shard. */
  Map<Integer, Set<Long>> twice() {
    return twice;
  }

  /** Each key's sequences, by offset, run 0, 1, 2, ...: nothing is missing or out of order. */
  void assertComplete(long count) {
    assertThat(distinct()).isEqualTo((int) count);
    Map<Integer, TreeMap<Long, String>> shards = new TreeMap<>();
    messages.forEach(
        (place, message) ->
            shards
                .computeIfAbsent(place.shard(), shard -> new TreeMap<>())
                .put(place.offset(), message));
    Map<String, Long> next = new HashMap<>();
    for (TreeMap<Long, String> shard : shards.values()) {
      for (String message : shard.values()) {
        String[] words = message.split(" ");
        long expected = next.merge(words[0], 1L, Long::sum) - 1;
        assertThat(Long.parseLong(words[1])).as("next of %s", words[0]).isEqualTo(expected);
      }
    }
  }
}
