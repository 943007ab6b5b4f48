package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * What members tell of themselves with heartbeats, by group. What a member had counted stays in the
 * group's sum after it left, for as long as this dispatcher is the active one.
 *
 * @param <T> what one member tells
 * @param <S> what is summed of it
 */
final class MemberTallies<T, S> {
  private final class Book {
    /** By run, as told last. */
    final Map<String, T> told = new HashMap<>();

    /** Of runs that are over, or null. */
    S past;

    void end(T last) {
      S counted = counts.apply(last);
      if (counted != null) {
        past = past == null ? counted : plus.apply(past, counted);
      }
    }
  }

  private final Map<String, Book> books = new HashMap<>();
  private final Function<Heartbeat, T> tally;
  private final Function<T, S> counts;
  private final BinaryOperator<S> plus;

  /**
   * @param tally what a heartbeat tells, or null
   * @param counts what stays of it when its member has left, or null
   */
  MemberTallies(Function<Heartbeat, T> tally, Function<T, S> counts, BinaryOperator<S> plus) {
    this.tally = tally;
    this.counts = counts;
    this.plus = plus;
  }

  /** To be called once a second or so, and before the figures are read. */
  void observe(DispatcherCore core) {
    Set<String> groups = new HashSet<>();
    for (GroupState group : core.all()) {
      groups.add(group.name());
      Book book = books.computeIfAbsent(group.name(), name -> new Book());
      Set<String> live = new HashSet<>();
      for (Member member : group.members().live()) {
        live.add(member.instance());
        T told = tally.apply(member.beat());
        if (told != null) {
          book.told.put(member.instance(), told);
        }
      }
      Iterator<Map.Entry<String, T>> each = book.told.entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry<String, T> run = each.next();
        if (!live.contains(run.getKey())) {
          each.remove();
          book.end(run.getValue());
        }
      }
    }
    books.keySet().retainAll(groups);
  }

  /** The last words of a run that leaves. */
  void leaving(Heartbeat beat) {
    Book book = books.get(beat.group());
    T told = tally.apply(beat);
    if (book != null && told != null) {
      book.told.replace(beat.instance(), told);
    }
  }

  /** What runs that are not over have told last. */
  Collection<T> told(String group) {
    Book book = books.get(group);
    return book == null ? List.of() : book.told.values();
  }

  /** The sum of those that are over; null: there are none. */
  S past(String group) {
    Book book = books.get(group);
    return book == null ? null : book.past;
  }
}
