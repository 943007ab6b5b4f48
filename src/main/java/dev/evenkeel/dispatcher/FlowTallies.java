package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Sums what members tell of their rates. What a member had counted stays in the group's sum after
 * it left, for as long as this dispatcher is the active one.
 */
final class FlowTallies {
  private static final class Book {
    /** By run, as told last. */
    final Map<String, FlowTally.Rates> told = new HashMap<>();

    /** Of runs that are over, or null. */
    FlowTally.Rates past;
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
        FlowTally flow = member.beat().flow();
        if (flow != null && flow.rates() != null) {
          book.told.put(member.instance(), flow.rates());
        }
      }
      book.told
          .entrySet()
          .removeIf(
              each -> {
                boolean gone = !live.contains(each.getKey());
                if (gone) {
                  FlowTally.Rates last = each.getValue().past();
                  book.past = book.past == null ? last : book.past.plus(last);
                }
                return gone;
              });
    }
    books.keySet().retainAll(groups);
  }

  /** The last words of a run that leaves. */
  void leaving(Heartbeat beat) {
    Book book = books.get(beat.group());
    FlowTally flow = beat.flow();
    boolean rates = flow != null && flow.rates() != null;
    if (book != null && rates && book.told.containsKey(beat.instance())) {
      book.told.put(beat.instance(), flow.rates());
    }
  }

  /** The sum for a group; null: nobody has told. */
  FlowTally.Rates of(String group) {
    Book book = books.get(group);
    if (book == null) {
      return null;
    }
    FlowTally.Rates sum = book.past;
    for (FlowTally.Rates each : book.told.values()) {
      sum = sum == null ? each : sum.plus(each);
    }
    return sum;
  }
}
