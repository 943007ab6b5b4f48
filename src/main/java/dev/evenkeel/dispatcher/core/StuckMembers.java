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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Live members of one group that send heartbeats but finish nothing. For each shard it keeps since
 * when messages have been in hand without any being finished, or since when the member has ignored
 * that it owns the shard. All of it comes with heartbeats, so a new dispatcher knows it after one
 * heartbeat of each member.
 *
 * <p>A member is <em>stuck</em> while it is so for its stuck timeout, or, if it set none, for
 * {@link #SHOWN_MILLIS}. One that set a timeout is also <em>passed over</em>: it gets no shard
 * until it finishes something again. Of shards that it has lost, handlers that still run count too.
 * If none run, it is passed over for another timeout, unless it finishes something sooner: a
 * message that blocks every owner must not go from member to member without a pause.
 *
 * <p>A shard that no heartbeat of its owner names is <em>ignored</em>: nobody handles it. It is
 * shown after {@link #IGNORED_SHOWN_MILLIS}, and granted anew after {@link #IGNORED_MILLIS_MAX},
 * whatever the member's timeout: to another member if there is one, else to the same at the next
 * epoch.
 */
public final class StuckMembers {
  /** The stuck timeout of members that set none: they are only shown as stuck. */
  public static final long SHOWN_MILLIS = 30_000;

  /**
   * A member with many shards names them in turns, all of them within 30 heartbeats. The dispatcher
   * assumes that it has lost a shard that it has not named for this time, some 60 heartbeats.
   */
  static final long UNNAMED_MILLIS_MAX = 60_000;

  /** A member takes up a granted shard at once, and its next heartbeat names it. */
  static final long IGNORED_SHOWN_MILLIS = 5_000;

  static final long IGNORED_MILLIS_MAX = 10_000;

  /** A shard that a run owns, or has owned, at an epoch. */
  private record OwnedAt(Shard shard, long epoch) {}

  /**
   * @param namedMillis when a heartbeat named it last
   */
  private record Stall(long sinceMillis, long namedMillis) {}

  private static final class Track {
    final Map<OwnedAt, Stall> stalls = new HashMap<>();

    /** What it owns by its assignment and does not name, and since when. */
    Map<OwnedAt, Long> ignored = Map.of();

    Long timeoutMillis;
    Set<OwnedAt> overdue = Set.of();
    Set<OwnedAt> shownIgnored = Set.of();
    Set<OwnedAt> abandoned = Set.of();
    boolean passedOver;
    long consumed;
    long takenConsumed;
    long takenUntilMillis = Long.MIN_VALUE;

    long limitMillis() {
      return timeoutMillis == null ? SHOWN_MILLIS : timeoutMillis;
    }

    Set<Shard> shown() {
      Set<Shard> shards = new HashSet<>();
      overdue.forEach(each -> shards.add(each.shard()));
      shownIgnored.forEach(each -> shards.add(each.shard()));
      return shards;
    }
  }

  /** Stands for a run that is fine. Never written to. */
  private static final Track FINE = new Track();

  private final Map<String, Track> byInstance = new HashMap<>();

  /**
   * Takes in a heartbeat of a live member.
   *
   * @param given its last assignment, or null
   * @return whether the plan must be made anew
   */
  boolean heard(Heartbeat beat, Assignment given, long nowMillis) {
    Track track = byInstance.get(beat.instance());
    Set<OwnedAt> unnamed = unnamed(beat, given);
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
    Set<OwnedAt> overdueBefore = track.overdue;
    Set<OwnedAt> abandonedBefore = track.abandoned;
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
  private static Set<OwnedAt> unnamed(Heartbeat beat, Assignment given) {
    if (given == null || !given.instance().equals(beat.instance())) {
      return Set.of();
    }
    Set<OwnedAt> unnamed = new HashSet<>();
    given.shards().forEach(owned -> unnamed.add(new OwnedAt(owned.shard(), owned.epoch())));
    beat.marks().forEach(mark -> unnamed.remove(new OwnedAt(mark.shard(), mark.epoch())));
    return unnamed;
  }

  private static void noteIgnored(Track track, Set<OwnedAt> unnamed, long sinceMillis) {
    Map<OwnedAt, Long> ignored = new HashMap<>();
    for (OwnedAt owned : unnamed) {
      ignored.put(owned, track.ignored.getOrDefault(owned, sinceMillis));
    }
    track.ignored = ignored;
  }

  private static boolean tellsAll(Heartbeat beat) {
    return beat.marks().size() < Heartbeat.MARKS_OF_TURN;
  }

  private static Set<OwnedAt> ignoredFor(Track track, long millis, long nowMillis) {
    return track.ignored.entrySet().stream()
        .filter(each -> nowMillis - each.getValue() >= millis)
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static void note(Track track, Heartbeat beat, long nowMillis) {
    track
        .stalls
        .values()
        .removeIf(stall -> tellsAll(beat) || nowMillis - stall.namedMillis() > UNNAMED_MILLIS_MAX);
    for (ShardProgress mark : beat.marks()) {
      OwnedAt owned = new OwnedAt(mark.shard(), mark.epoch());
      if (mark.stalledMillis() == null) {
        track.stalls.remove(owned);
      } else {
        long sinceMillis = nowMillis - Math.max(0, mark.stalledMillis());
        track.stalls.put(owned, new Stall(sinceMillis, nowMillis));
      }
    }
  }

  /** Each is judged by the heartbeat that named it last: it may have been finished since. */
  private static Set<OwnedAt> overdue(Track track) {
    return track.stalls.entrySet().stream()
        .filter(
            each ->
                each.getValue().namedMillis() - each.getValue().sinceMillis()
                    >= track.limitMillis())
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Shards of the member are being granted to others. */
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

  private Track track(String instance) {
    return byInstance.getOrDefault(instance, FINE);
  }

  /** Whether anybody is passed over. */
  boolean anyPassedOver() {
    return byInstance.values().stream().anyMatch(track -> track.passedOver);
  }

  /** Whether the run gets no shard now. */
  boolean passedOver(String instance) {
    return track(instance).passedOver;
  }

  /** Whether the run does nothing about a shard for too long, by its last heartbeat. */
  boolean stuck(String instance) {
    Track track = track(instance);
    return track.passedOver || !track.overdue.isEmpty() || !track.shownIgnored.isEmpty();
  }

  /** Whether the run may lose the shard that it owns at {@code epoch}. */
  boolean overdue(String instance, Shard shard, long epoch) {
    Track track = track(instance);
    return track.timeoutMillis != null && track.overdue.contains(new OwnedAt(shard, epoch));
  }

  /**
   * Whether the run ignores that it owns the shard at {@code epoch}, for so long that it loses it.
   */
  boolean abandoned(String instance, Shard shard, long epoch) {
    return track(instance).abandoned.contains(new OwnedAt(shard, epoch));
  }

  /**
   * Shards on which the run is stuck, or which it ignores, sorted; also lost ones of which handlers
   * still run.
   */
  public Collection<Shard> shards(String instance) {
    return new TreeSet<>(track(instance).shown());
  }

  /** Shards on which somebody is stuck, or which their owners ignore. */
  public int count() {
    Set<Shard> shards = new HashSet<>();
    byInstance.values().forEach(track -> shards.addAll(track.shown()));
    return shards.size();
  }

  /** For how long the run has been stuck on a shard, the longest of them; 0 if it is not stuck. */
  public long millis(String instance, long nowMillis) {
    Track track = track(instance);
    return Stream.concat(
            track.overdue.stream().map(each -> track.stalls.get(each).sinceMillis()),
            track.shownIgnored.stream().map(track.ignored::get))
        .mapToLong(sinceMillis -> nowMillis - sinceMillis)
        .max()
        .orElse(0);
  }
}
