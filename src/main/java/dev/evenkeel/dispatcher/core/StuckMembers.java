package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Shard;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Live members of one group that send heartbeats but finish nothing: by shard, since when something
 * of it has been in hand while nothing was finished, or since when the member has not taken up a
 * shard that it is told it owns. It is all in the heartbeats, so a new dispatcher knows it after
 * one of each.
 *
 * <p>A member is <em>stuck</em> while it is so for its stuck timeout, or, if it set none, for
 * {@link #SHOWN_MILLIS}. One that set a timeout is also <em>passed over</em>: it gets no shard
 * until it finishes something again. Of shards that it has lost, handlers that still run count too.
 * If none run, it is passed over for another timeout, unless it finishes something sooner: a
 * message that fails wherever it goes shall not be handed round without a pause.
 *
 * <p>A shard that no heartbeat of its owner names is <em>ignored</em>: nobody handles it. It is
 * shown after {@link #IGNORED_SHOWN_MILLIS}, and granted anew after {@link #IGNORED_MILLIS_MAX},
 * whatever the member's timeout: to another member if there is one, else to the same at the next
 * epoch.
 */
public final class StuckMembers {
  /** What counts as stuck if the member set no timeout: it is only shown. */
  public static final long SHOWN_MILLIS = 30_000;

  /**
   * A member with more shards than a heartbeat has marks names them in turns: what it has not named
   * for so long, in some 60 heartbeats with 60,000 marks, it has no more.
   */
  static final long UNNAMED_MILLIS_MAX = 60_000;

  /** A member takes up what it is given at once, and its next heartbeat says so. */
  static final long IGNORED_SHOWN_MILLIS = 5_000;

  static final long IGNORED_MILLIS_MAX = 10_000;

  private record Hold(Shard shard, long epoch) {}

  /**
   * @param namedMillis when a heartbeat named it last
   */
  private record Stall(long sinceMillis, long namedMillis) {}

  private static final class Track {
    final Map<Hold, Stall> stalls = new HashMap<>();

    /** What it is told that it owns and does not name: since when that counts. */
    Map<Hold, Long> ignored = Map.of();

    Long timeoutMillis;
    Set<Hold> overdue = Set.of();
    Set<Hold> shownIgnored = Set.of();
    Set<Hold> abandoned = Set.of();
    boolean passedOver;
    long consumed;
    long takenConsumed;
    long takenUntilMillis = Long.MIN_VALUE;

    long limitMillis() {
      return timeoutMillis == null ? SHOWN_MILLIS : timeoutMillis;
    }
  }

  private final Map<String, Track> byInstance = new HashMap<>();

  /**
   * Takes in what a live member tells.
   *
   * @param given what it was told last that it owns, or null
   * @return whether the plan must be made anew
   */
  boolean heard(Heartbeat beat, Assignment given, long nowMillis) {
    Track track = byInstance.get(beat.instance());
    Set<Hold> unnamed = unnamed(beat, given);
    if (track == null) {
      if (unnamed.isEmpty()
          && beat.marks().stream().allMatch(mark -> mark.stalledMillis() == null)) {
        return false;
      }
      track = new Track();
      byInstance.put(beat.instance(), track);
    }
    track.timeoutMillis = beat.wishes().stuckTimeoutMillis();
    track.consumed = beat.consumed();
    note(track, beat, nowMillis);
    noteIgnored(track, unnamed, tellsAll(beat) ? nowMillis : nowMillis + UNNAMED_MILLIS_MAX);
    boolean passedBefore = track.passedOver;
    Set<Hold> overdueBefore = track.overdue;
    Set<Hold> abandonedBefore = track.abandoned;
    track.overdue = overdue(track);
    track.shownIgnored = ignoredFor(track, IGNORED_SHOWN_MILLIS, nowMillis);
    track.abandoned = ignoredFor(track, IGNORED_MILLIS_MAX, nowMillis);
    boolean resting = nowMillis < track.takenUntilMillis && track.consumed <= track.takenConsumed;
    track.passedOver =
        resting
            || !track.abandoned.isEmpty()
            || track.timeoutMillis != null && !track.overdue.isEmpty();
    if (track.stalls.isEmpty() && track.ignored.isEmpty() && !track.passedOver) {
      byInstance.remove(beat.instance());
    }
    return passedBefore != track.passedOver
        || track.passedOver && !overdueBefore.equals(track.overdue)
        || !abandonedBefore.equals(track.abandoned);
  }

  /** What the member owns by the last assignment, and does not name. */
  private static Set<Hold> unnamed(Heartbeat beat, Assignment given) {
    if (given == null || !given.instance().equals(beat.instance())) {
      return Set.of();
    }
    Set<Hold> unnamed = new HashSet<>();
    given.shards().forEach(owned -> unnamed.add(new Hold(owned.shard(), owned.epoch())));
    beat.marks().forEach(mark -> unnamed.remove(new Hold(mark.shard(), mark.epoch())));
    return unnamed;
  }

  private static void noteIgnored(Track track, Set<Hold> unnamed, long sinceMillis) {
    Map<Hold, Long> ignored = new HashMap<>();
    for (Hold hold : unnamed) {
      ignored.put(hold, track.ignored.getOrDefault(hold, sinceMillis));
    }
    track.ignored = ignored;
  }

  private static boolean tellsAll(Heartbeat beat) {
    return beat.marks().size() < Heartbeat.MARKS_MAX;
  }

  private static Set<Hold> ignoredFor(Track track, long millis, long nowMillis) {
    Set<Hold> holds = new HashSet<>();
    track.ignored.forEach(
        (hold, sinceMillis) -> {
          if (nowMillis - sinceMillis >= millis) {
            holds.add(hold);
          }
        });
    return holds.isEmpty() ? Set.of() : holds;
  }

  private static void note(Track track, Heartbeat beat, long nowMillis) {
    track
        .stalls
        .values()
        .removeIf(stall -> tellsAll(beat) || nowMillis - stall.namedMillis() > UNNAMED_MILLIS_MAX);
    for (ShardProgress mark : beat.marks()) {
      Hold hold = new Hold(mark.shard(), mark.epoch());
      if (mark.stalledMillis() == null) {
        track.stalls.remove(hold);
      } else {
        long sinceMillis = nowMillis - Math.max(0, mark.stalledMillis());
        track.stalls.put(hold, new Stall(sinceMillis, nowMillis));
      }
    }
  }

  /** Each is judged by the heartbeat that named it last: it may have been finished since. */
  private static Set<Hold> overdue(Track track) {
    Set<Hold> overdue = new HashSet<>();
    track.stalls.forEach(
        (hold, stall) -> {
          if (stall.namedMillis() - stall.sinceMillis() >= track.limitMillis()) {
            overdue.add(hold);
          }
        });
    return overdue.isEmpty() ? Set.of() : overdue;
  }

  /** Shards of the member are being given to others. */
  void taken(String instance, long nowMillis) {
    Track track = byInstance.get(instance);
    if (track != null) {
      track.takenConsumed = track.consumed;
      track.takenUntilMillis = nowMillis + track.limitMillis();
    }
  }

  /** Forgets all runs but these. */
  void retain(Collection<Member> live) {
    if (byInstance.isEmpty()) {
      return;
    }
    Set<String> instances = new HashSet<>();
    live.forEach(member -> instances.add(member.instance()));
    byInstance.keySet().retainAll(instances);
  }

  /** Whether anybody is passed over. */
  boolean anyPassedOver() {
    for (Track track : byInstance.values()) {
      if (track.passedOver) {
        return true;
      }
    }
    return false;
  }

  /** Whether the run gets no shard now. */
  boolean passedOver(String instance) {
    Track track = byInstance.get(instance);
    return track != null && track.passedOver;
  }

  /** Whether the run does nothing about a shard for too long, by its last heartbeat. */
  boolean stuck(String instance) {
    Track track = byInstance.get(instance);
    return track != null
        && (track.passedOver || !track.overdue.isEmpty() || !track.shownIgnored.isEmpty());
  }

  /** Whether the run may lose the shard that it holds at {@code epoch}. */
  boolean overdue(String instance, Shard shard, long epoch) {
    Track track = byInstance.get(instance);
    return track != null
        && track.timeoutMillis != null
        && track.overdue.contains(new Hold(shard, epoch));
  }

  /**
   * Whether the run ignores that it owns the shard at {@code epoch}, for so long that it loses it.
   */
  boolean abandoned(String instance, Shard shard, long epoch) {
    Track track = byInstance.get(instance);
    return track != null && track.abandoned.contains(new Hold(shard, epoch));
  }

  /**
   * Shards on which the run is stuck, or which it ignores, sorted; also lost ones of which handlers
   * still run.
   */
  public Collection<Shard> shards(String instance) {
    Track track = byInstance.get(instance);
    TreeSet<Shard> shards = new TreeSet<>();
    if (track != null) {
      shards.addAll(shown(track));
    }
    return shards;
  }

  private static Set<Shard> shown(Track track) {
    Set<Shard> shards = new HashSet<>();
    track.overdue.forEach(hold -> shards.add(hold.shard()));
    track.shownIgnored.forEach(hold -> shards.add(hold.shard()));
    return shards;
  }

  /** Shards on which somebody is stuck, or which their owners ignore. */
  public int count() {
    Set<Shard> shards = new HashSet<>();
    byInstance.values().forEach(track -> shards.addAll(shown(track)));
    return shards.size();
  }

  /** For how long the run has been stuck on a shard, the longest of them; 0 if it is not stuck. */
  public long millis(String instance, long nowMillis) {
    Track track = byInstance.get(instance);
    long longest = 0;
    if (track != null) {
      for (Hold hold : track.overdue) {
        longest = Math.max(longest, nowMillis - track.stalls.get(hold).sinceMillis());
      }
      for (Hold hold : track.shownIgnored) {
        longest = Math.max(longest, nowMillis - track.ignored.get(hold));
      }
    }
    return longest;
  }
}
