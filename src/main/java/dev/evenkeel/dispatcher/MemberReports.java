package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sums the figures that the members of each group send with heartbeats. The counts of a member that
 * has left stay in the sum as long as this dispatcher is the active one.
 */
final class MemberReports {
  private static final List<String> LEVELS = List.of("none", "sparse", "high");

  /**
   * The figures of all members of a group together.
   *
   * @param figures since the members began, those that left included
   * @param repeats how much the messages of the live members repeat themselves; null: unknown
   * @param hot keys that the live members declined most often
   */
  record Sum(Figures figures, DedupTally.Repeats repeats, List<DedupTally.Hot> hot) {}

  private static final class Group {
    /** The latest heartbeat of each run. */
    final Map<String, Heartbeat> latest = new HashMap<>();

    /** Of runs that are over. */
    Figures past = Figures.NONE;
  }

  private final Map<String, Group> groups = new HashMap<>();

  /** To be called once a second or so. */
  void observe(DispatcherCore core) {
    observe(core.all());
    groups.keySet().removeIf(name -> core.find(name) == null);
  }

  /** To be called before the figures of these groups are read. */
  void observe(List<GroupState> all) {
    for (GroupState state : all) {
      // Most groups of a large cluster may have had no members for long.
      if (!state.members().live().isEmpty() || groups.containsKey(state.name())) {
        observe(state, groups.computeIfAbsent(state.name(), any -> new Group()));
      }
    }
  }

  private static void observe(GroupState state, Group group) {
    Set<String> live = new HashSet<>();
    for (Member member : state.members().live()) {
      live.add(member.instance());
      group.latest.put(member.instance(), member.beat());
    }
    group
        .latest
        .values()
        .removeIf(
            last -> {
              boolean over = !live.contains(last.instance());
              group.past = over ? group.past.plus(figures(last).past()) : group.past;
              return over;
            });
  }

  /** Takes the last heartbeat of a run that leaves. */
  void leaving(Heartbeat beat) {
    Group group = groups.get(beat.group());
    if (group != null) {
      group.latest.replace(beat.instance(), beat);
    }
  }

  private static Figures figures(Heartbeat beat) {
    Figures dedup = beat.dedupTally() == null ? Figures.NONE : beat.dedupTally().counts();
    return beat.flow() == null ? dedup : dedup.plus(beat.flow().rates());
  }

  Sum of(String name) {
    Group group = groups.getOrDefault(name, new Group());
    Figures figures = group.past;
    Map<String, Long> hot = new HashMap<>();
    List<DedupTally.Repeats> repeats = new ArrayList<>();
    for (Heartbeat beat : group.latest.values()) {
      figures = figures.plus(figures(beat));
      DedupTally dedup = beat.dedupTally();
      if (dedup != null) {
        dedup.hot().forEach(key -> hot.merge(key.key(), key.declined(), Long::sum));
        if (dedup.repeats() != null) {
          repeats.add(dedup.repeats());
        }
      }
    }
    return new Sum(figures, repeats(repeats), hottest(hot));
  }

  private static List<DedupTally.Hot> hottest(Map<String, Long> hot) {
    return hot.entrySet().stream()
        .map(each -> new DedupTally.Hot(each.getKey(), each.getValue()))
        .sorted(
            Comparator.comparingLong(DedupTally.Hot::declined)
                .reversed()
                .thenComparing(DedupTally.Hot::key))
        .limit(DedupTally.HOT_MAX)
        .toList();
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
