package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The members of one group: the live ones by name, and runs not heard yet by instance.
 *
 * <pre>
 *            heartbeat                timeout, cluster member gone, leaving, later run
 * (unknown) ----------> live member ---------------------------------------------------> ended
 * (lease or registry) -> ghost ---- heartbeat ---> live member
 *                          `------- timeout, cluster member gone, later run -----------> ended
 * </pre>
 */
public final class MemberTable {
  /** What a heartbeat meant. */
  enum Heard {
    /** A new member, or one that had been given up. */
    JOINED,
    /** A member known to the dispatcher before is heard by this one for the first time. */
    RETURNED,
    /** A later run took the place of an earlier one. */
    REPLACED_FORMER,
    /** It reads other topics than before. */
    CHANGED,
    /** It has begun to close. */
    CLOSING,
    SAME,
    /** A later run has its place. */
    REFUSED
  }

  /** Who ended, and why. */
  record Ended(String name, String instance, Cause cause) {}

  private final Endings endings;
  private final Map<String, Member> live = new TreeMap<>();
  private final Map<String, Ghost> ghosts = new HashMap<>();

  MemberTable(Endings endings) {
    this.endings = endings;
  }

  Heard heard(Heartbeat beat, long nowMillis) {
    String instance = beat.instance();
    if (endings.of(instance) == Cause.REPLACED || outlived(beat)) {
      endings.add(instance, Cause.REPLACED);
      ghosts.remove(instance);
      return Heard.REFUSED;
    }
    boolean wasGhost = ghosts.remove(instance) != null;
    boolean replaces = endEarlierGhosts(beat);
    endings.revive(instance);
    Member former = live.get(beat.member());
    boolean sameRun = former != null && former.instance().equals(instance);
    // A heartbeat from before the closing may arrive after one that told of it.
    boolean closedBefore = sameRun && former.beat().closing();
    live.put(beat.member(), new Member(closedBefore ? beat.asClosing() : beat, nowMillis));
    if (former != null && !sameRun) {
      endings.add(former.instance(), Cause.REPLACED);
      return Heard.REPLACED_FORMER;
    }
    if (former == null) {
      return wasGhost ? Heard.RETURNED : replaces ? Heard.REPLACED_FORMER : Heard.JOINED;
    }
    if (beat.closing() && !closedBefore) {
      return Heard.CLOSING;
    }
    boolean sameTopics = Set.copyOf(former.beat().topics()).equals(Set.copyOf(beat.topics()));
    return sameTopics ? Heard.SAME : Heard.CHANGED;
  }

  private boolean outlived(Heartbeat beat) {
    Member member = live.get(beat.member());
    if (member != null
        && Member.later(
            member.beat().bornMillis(), member.instance(), beat.bornMillis(), beat.instance())) {
      return true;
    }
    for (Ghost ghost : ghosts.values()) {
      if (ghost.name().equals(beat.member())
          && ghost.bornMillis() != null
          && Member.later(
              ghost.bornMillis(), ghost.instance(), beat.bornMillis(), beat.instance())) {
        return true;
      }
    }
    return false;
  }

  private boolean endEarlierGhosts(Heartbeat beat) {
    // One whose birth is unknown may be the later run: it keeps its shards for its time.
    return ghosts
        .values()
        .removeIf(
            ghost -> {
              boolean earlier = ghost.name().equals(beat.member()) && ghost.bornMillis() != null;
              if (earlier) {
                endings.add(ghost.instance(), Cause.REPLACED);
              }
              return earlier;
            });
  }

  /** A run that the registry or a lease tells of; nothing if it is known already. */
  boolean sighted(Ghost ghost) {
    Member member = live.get(ghost.name());
    boolean known =
        endings.of(ghost.instance()) != null
            || member != null && member.instance().equals(ghost.instance())
            || ghosts.containsKey(ghost.instance());
    if (!known) {
      ghosts.put(ghost.instance(), ghost);
    }
    return !known;
  }

  /** Takes out a run that says goodbye; null if it was not there. */
  Ended leave(String name, String instance) {
    Member member = live.get(name);
    boolean there = ghosts.remove(instance) != null;
    if (member != null && member.instance().equals(instance)) {
      live.remove(name);
      there = true;
    }
    endings.add(instance, Cause.LEAVE);
    return there ? new Ended(name, instance, Cause.LEAVE) : null;
  }

  /** Takes out all whose time has passed. */
  List<Ended> expire(long nowMillis) {
    List<Ended> ended = new ArrayList<>();
    for (Member member : live.values()) {
      if (member.timedOut(nowMillis)) {
        ended.add(new Ended(member.name(), member.instance(), Cause.TIMEOUT));
      }
    }
    for (Ghost ghost : ghosts.values()) {
      if (nowMillis >= ghost.untilMillis()) {
        ended.add(new Ended(ghost.name(), ghost.instance(), Cause.TIMEOUT));
      }
    }
    end(ended);
    return ended;
  }

  /** Takes out all whose cluster member is among {@code departed}. */
  List<Ended> clusterMembersLeft(Set<String> departed) {
    List<Ended> ended = new ArrayList<>();
    for (Member member : live.values()) {
      String place = member.beat().clusterMember();
      if (place != null && departed.contains(place)) {
        ended.add(new Ended(member.name(), member.instance(), Cause.MEMBER_LEFT));
      }
    }
    for (Ghost ghost : ghosts.values()) {
      if (ghost.clusterMember() != null && departed.contains(ghost.clusterMember())) {
        ended.add(new Ended(ghost.name(), ghost.instance(), Cause.MEMBER_LEFT));
      }
    }
    end(ended);
    return ended;
  }

  private void end(List<Ended> ended) {
    for (Ended each : ended) {
      endings.add(each.instance(), each.cause());
      ghosts.remove(each.instance());
      Member member = live.get(each.name());
      if (member != null && member.instance().equals(each.instance())) {
        live.remove(each.name());
      }
    }
  }

  /** The live member of that name, or null. */
  public Member live(String name) {
    return live.get(name);
  }

  public Collection<Member> live() {
    return live.values();
  }

  /** Runs that count as alive though they were not heard, by instance. */
  public Collection<Ghost> ghosts() {
    return ghosts.values();
  }

  boolean isGhost(String instance) {
    return ghosts.containsKey(instance);
  }

  /** Whether anybody counts as alive who is not a run of {@code name}. */
  boolean othersThan(String name) {
    Set<String> names = new HashSet<>(live.keySet());
    ghosts.values().forEach(ghost -> names.add(ghost.name()));
    names.remove(name);
    return !names.isEmpty();
  }

  boolean isEmpty() {
    return live.isEmpty() && ghosts.isEmpty();
  }
}
