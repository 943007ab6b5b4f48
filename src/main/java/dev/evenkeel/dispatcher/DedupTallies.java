package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sums what members tell of deduplication. What a member had counted stays in the group's sum after
 * it left, for as long as this dispatcher is the active one.
 */
final class DedupTallies {
  private static final List<String> LEVELS = List.of("none", "sparse", "high");

  private static final class Book {
    /** By run, as told last. */
    final Map<String, DedupTally> told = new HashMap<>();

    /** Of runs that are over, or null. */
    DedupTally.Counts past;
  }

  private final Map<String, Book> books = new HashMap<>();

  /** To be called once a second or so, and before the figures are read. */
  void observe(DispatcherCore core) {
    Set<String> groups = new HashSet<>();
    for (GroupState group : core.all()) {
      groups.add(group.name());
      Book book = books.computeIfAbsent(group.name(), name -> new Book());
      Set<String> live = new HashSet<>();
      for (Member member : group.members().live()) {
        live.add(member.instance());
        if (member.beat().dedupTally() != null) {
          book.told.put(member.instance(), member.beat().dedupTally());
        }
      }
      book.told
          .entrySet()
          .removeIf(
              each -> {
                boolean gone = !live.contains(each.getKey());
                if (gone) {
                  end(book, each.getValue().counts());
                }
                return gone;
              });
    }
    books.keySet().retainAll(groups);
  }

  private static void end(Book book, DedupTally.Counts last) {
    if (last != null) {
      book.past = book.past == null ? last.past() : book.past.plus(last.past());
    }
  }

  /** The last words of a run that leaves. */
  void leaving(Heartbeat beat) {
    Book book = books.get(beat.group());
    if (book != null && beat.dedupTally() != null && book.told.containsKey(beat.instance())) {
      book.told.put(beat.instance(), beat.dedupTally());
    }
  }

  DedupFigures of(String group) {
    Book book = books.get(group);
    if (book == null) {
      return DedupFigures.NONE;
    }
    DedupTally.Counts counts = book.past;
    Map<String, Long> hot = new HashMap<>();
    List<DedupTally.Repeats> repeats = new ArrayList<>();
    for (DedupTally each : book.told.values()) {
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
