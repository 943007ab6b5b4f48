package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.dispatcher.level.LevelDealers;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;

/** Keeps a level dispatcher for each group in mode level that has members. */
final class LevelGroups {
  /** A group whose last member has gone is let go after so long: perhaps somebody comes back. */
  private static final long MEMBERLESS_MILLIS_MAX = 10_000;

  /** Strictest last. */
  private static final List<String> ORDERS = List.of("none", "key", "shard");

  /** Most attempts last, then longest pauses. */
  private static final Comparator<List<Long>> DELAYS =
      Comparator.<List<Long>>comparingInt(List::size)
          .thenComparingLong(delays -> delays.stream().mapToLong(Long::longValue).sum())
          .thenComparing(List::toString);

  /**
   * What a dealer was opened with: with anything else another is opened.
   *
   * @param retryDelaysMillis null: nobody has said
   */
  private record Wanted(
      Set<String> topics, GroupPolicy policy, String order, List<Long> retryDelaysMillis) {}

  private static final class Open {
    final Wanted wanted;
    final String instance;
    List<LiveMember> members = List.of();
    long memberlessSinceMillis = -1;

    Open(Wanted wanted, String instance) {
      this.wanted = wanted;
      this.instance = instance;
    }
  }

  /** Makes a run the holder of a group, or nobody if it is null. */
  interface Appointing {
    void appoint(String group, String instance);
  }

  private final DispatcherCore core;
  private final LevelDealers dealers;
  private final Appointing appointing;
  private final BiConsumer<String, String> ended;
  private final Map<String, Open> open = new HashMap<>();
  private boolean syncing;

  /**
   * @param ended told of a group and a run, on any thread, when a dealer has ended
   */
  LevelGroups(
      DispatcherCore core,
      LevelDealers dealers,
      Appointing appointing,
      BiConsumer<String, String> ended) {
    this.core = core;
    this.ended = ended;
    this.dealers = dealers;
    this.appointing = appointing;
  }

  /** Opens and closes dealers as the groups are now, and tells them who is there. */
  void sync(long nowMillis) {
    if (syncing) {
      return;
    }
    syncing = true;
    try {
      Set<String> seen = new HashSet<>();
      for (GroupState group : core.all()) {
        if (group.info() != null && group.info().policy().isLevel()) {
          seen.add(group.name());
          sync(group, nowMillis);
        }
      }
      Iterator<String> others = new ArrayList<>(open.keySet()).iterator();
      while (others.hasNext()) {
        String name = others.next();
        if (!seen.contains(name)) {
          close(name);
        }
      }
    } finally {
      syncing = false;
    }
  }

  private void sync(GroupState group, long nowMillis) {
    List<LiveMember> members = members(group);
    Open now = open.get(group.name());
    if (members.isEmpty()) {
      if (now != null) {
        idle(group.name(), now, nowMillis);
      }
      return;
    }
    Wanted wanted = wanted(group);
    if (now != null && !now.wanted.equals(wanted)) {
      close(group.name());
      now = null;
    }
    if (now == null) {
      now = new Open(wanted, UUID.randomUUID().toString());
      open.put(group.name(), now);
      appointing.appoint(group.name(), now.instance);
      dealers.open(
          group.name(),
          List.copyOf(wanted.topics()),
          wanted.policy(),
          wanted.order(),
          wanted.retryDelaysMillis(),
          now.instance,
          ended);
    }
    now.memberlessSinceMillis = -1;
    if (!members.equals(now.members)) {
      now.members = members;
      dealers.members(group.name(), members);
    }
  }

  private void idle(String group, Open now, long nowMillis) {
    if (now.memberlessSinceMillis < 0) {
      now.memberlessSinceMillis = nowMillis;
      now.members = List.of();
      dealers.members(group, List.of());
    } else if (nowMillis - now.memberlessSinceMillis >= MEMBERLESS_MILLIS_MAX) {
      close(group);
    }
  }

  /** It is the holder until it has ended, so that it can release what it has. */
  private void close(String group) {
    open.remove(group);
    dealers.close(group);
  }

  private static Wanted wanted(GroupState group) {
    String strictest = ORDERS.get(0);
    List<Long> longest = null;
    for (Heartbeat.Wishes wishes : wishes(group)) {
      String order = wishes.order();
      if (order != null && ORDERS.indexOf(order) > ORDERS.indexOf(strictest)) {
        strictest = order;
      }
      List<Long> delays = wishes.retryDelaysMillis();
      if (delays != null && (longest == null || DELAYS.compare(delays, longest) > 0)) {
        longest = delays;
      }
    }
    return new Wanted(Set.copyOf(group.info().topics()), group.info().policy(), strictest, longest);
  }

  /** Also of those that were not heard yet: what they hold was dealt as they wished. */
  private static List<Heartbeat.Wishes> wishes(GroupState group) {
    List<Heartbeat.Wishes> wishes = new ArrayList<>();
    group.members().live().forEach(member -> wishes.add(member.beat().wishes()));
    group.members().ghosts().forEach(ghost -> wishes.add(ghost.wishes()));
    return wishes;
  }

  /** Also those that only the registry knows: if they answer, they are there. */
  private static List<LiveMember> members(GroupState group) {
    List<LiveMember> members = new ArrayList<>();
    for (Member member : group.members().live()) {
      Heartbeat beat = member.beat();
      members.add(
          new LiveMember(
              member.name(), member.instance(), beat.stallTimeoutMillis(), beat.closing()));
    }
    for (UnheardMember ghost : group.members().ghosts()) {
      if (group.members().live(ghost.name()) == null) {
        members.add(
            new LiveMember(
                ghost.name(),
                ghost.instance(),
                ghost.wishes().stallTimeoutMillis() == null
                    ? Limits.STALL_TIMEOUT_MILLIS_DEFAULT
                    : ghost.wishes().stallTimeoutMillis(),
                false));
      }
    }
    return members;
  }

  /** A run holds its group's lease at this term. */
  void holds(String group, String instance, long term) {
    Open now = open.get(group);
    if (now != null && now.instance.equals(instance)) {
      dealers.begin(group, term);
    }
  }

  /** A dealer has ended: if it is needed, the next sync opens another. */
  void ended(String group, String instance) {
    Open now = open.get(group);
    if (now == null || now.instance.equals(instance)) {
      open.remove(group);
      appointing.appoint(group, null);
    }
  }

  /** How level a group is, or null if that is not known. */
  LevelFigures figures(String group) {
    LevelFigures now = dealers.figures(group);
    return now == null || now.term() == 0 ? null : now;
  }

  /** This node is no dispatcher any more. */
  void abandon() {
    open.clear();
    dealers.abandon();
  }
}
