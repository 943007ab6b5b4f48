package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sums what members tell of deduplication. */
final class DedupTallies {
  private static final List<String> LEVELS = List.of("none", "sparse", "high");

  private final MemberTallies<DedupTally, DedupTally.Counts> members =
      new MemberTallies<>(Heartbeat::dedupTally, DedupTallies::past, DedupTally.Counts::plus);

  private static DedupTally.Counts past(DedupTally last) {
    return last.counts() == null ? null : last.counts().past();
  }

  /** To be called once a second or so, and before the figures are read. */
  void observe(DispatcherCore core) {
    members.observe(core);
  }

  /** The last words of a run that leaves. */
  void leaving(Heartbeat beat) {
    members.leaving(beat);
  }

  DedupFigures of(String group) {
    DedupTally.Counts counts = members.past(group);
    Map<String, Long> hot = new HashMap<>();
    List<DedupTally.Repeats> repeats = new ArrayList<>();
    for (DedupTally each : members.told(group)) {
      if (each.counts() != null) {
        counts = counts == null ? each.counts() : counts.plus(each.counts());
      }
      if (each.repeats() != null) {
        repeats.add(each.repeats());
      }
      each.hot().forEach(key -> hot.merge(key.key(), key.declined(), Long::sum));
    }
    return new DedupFigures(counts, repeats(repeats), hottest(hot));
  }

  private static List<DedupTally.Hot> hottest(Map<String, Long> hot) {
    List<DedupTally.Hot> keys = new ArrayList<>();
    hot.forEach((key, declined) -> keys.add(new DedupTally.Hot(key, declined)));
    keys.sort(
        (a, b) ->
            a.declined() != b.declined()
                ? Long.compare(b.declined(), a.declined())
                : a.key().compareTo(b.key()));
    return List.copyOf(keys.subList(0, Math.min(DedupTally.HOT_MAX, keys.size())));
  }

  /** The highest level, the smallest distance, and the mean of the shares by what was observed. */
  private static DedupTally.Repeats repeats(List<DedupTally.Repeats> all) {
    if (all.isEmpty()) {
      return null;
    }
    String level = LEVELS.get(0);
    int smallest = 0;
    double declined = 0;
    long counted = 0;
    long observed = 0;
    for (DedupTally.Repeats each : all) {
      level = LEVELS.indexOf(each.level()) > LEVELS.indexOf(level) ? each.level() : level;
      int distance = each.smallestDistance();
      smallest = distance > 0 && (smallest == 0 || distance < smallest) ? distance : smallest;
      observed += each.observedMessages();
      if (each.declinedShare() != null) {
        declined += each.declinedShare() * each.observedMessages();
        counted += each.observedMessages();
      }
    }
    Double share = counted == 0 ? null : (Double) (declined / counted);
    return new DedupTally.Repeats(level, smallest, share, observed);
  }
}
