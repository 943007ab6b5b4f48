package dev.evenkeel.client.internal.admission;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.dedup.DedupKey;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The keys that were declined most often, by the space-saving algorithm of Metwally and others: a
 * new key takes over the smallest of {@link #KEYS} counters, with its count. So every hot key is
 * among them, and a count is too high by at most the smallest one.
 */
final class HotKeys {
  static final int KEYS = 64;

  /** Most characters of a key's text. */
  static final int TEXT_MAX = 48;

  private record Counter(String text, long count) {}

  private final Map<DedupKey, Counter> counters = new HashMap<>();

  /**
   * @param text of the key, for people
   */
  void declined(DedupKey key, Supplier<String> text) {
    Counter counter = counters.get(key);
    if (counter == null) {
      counter = new Counter(text.get(), counters.size() < KEYS ? 0 : removeSmallest());
    }
    counters.put(key, new Counter(counter.text, counter.count + 1));
  }

  private long removeSmallest() {
    Map.Entry<DedupKey, Counter> smallest =
        Collections.min(
            counters.entrySet(), Comparator.comparingLong(each -> each.getValue().count));
    counters.remove(smallest.getKey());
    return smallest.getValue().count;
  }

  /** The hottest, at most {@code most}. */
  List<DedupTally.Hot> top(int most) {
    return counters.values().stream()
        .map(each -> new DedupTally.Hot(each.text, each.count))
        .sorted(Comparator.comparingLong(DedupTally.Hot::declined).reversed())
        .limit(most)
        .toList();
  }

  /** The bytes as one line of text. Characters that cannot be shown become dots. */
  static String text(byte[] bytes) {
    int length = Math.min(bytes.length, 4 * TEXT_MAX);
    String whole = new String(bytes, 0, length, StandardCharsets.UTF_8);
    StringBuilder text = new StringBuilder();
    whole
        .codePoints()
        .limit(TEXT_MAX)
        .map(c -> Character.isISOControl(c) || c == 0xfffd || !Character.isDefined(c) ? '.' : c)
        .forEach(text::appendCodePoint);
    return text.toString();
  }
}
