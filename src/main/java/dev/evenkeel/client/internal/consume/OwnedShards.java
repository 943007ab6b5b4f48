package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The shards that a consumer owns, and what it remembers of those that it owned. */
final class OwnedShards {
  /**
   * How long assignments must go on naming a released shard until they are believed. The dispatcher
   * learns of a release much sooner; perhaps the epochs of the group began anew.
   */
  static final long INSISTS_MILLIS = 3_000;

  /** Most heartbeats until each idle shard was named: half of what the dispatcher waits for. */
  private static final int IDLE_TURNS = 30;

  /** What is remembered of a shard that is or was owned. Epochs are 0 as long as there is none. */
  private static final class History {
    /** The highest epoch at which the shard was owned here, however that ended. */
    long ownedEpoch;

    /** The epoch at which it was released last: an assignment that names it is out of date. */
    long releasedEpoch;

    /** A released epoch that assignments go on naming, and since when. */
    long namedEpoch;

    long namedSinceMillis;

    /**
     * The highest epoch under which nothing may begin any more: the log may still take something of
     * it at any time, or messages have begun under it that would begin again.
     */
    long spentEpoch;

    /**
     * The last owner, while handlers, calls or writes of it are under way after its end; or null.
     */
    OwnedShard lingering;
  }

  /**
   * Messages of one shard that start before the next shard gets its turn. While the breaker is
   * open, it is one: a shard with several messages that fail would keep its turn for minutes.
   */
  private static final int TURN_MESSAGES = 32;

  private final Environment environment;
  private final OwnedShard.Host host;
  private final Map<Shard, OwnedShard> shards = new HashMap<>();

  /** Shards that may have messages to hand out. They take turns. */
  private final ArrayDeque<OwnedShard> ready = new ArrayDeque<>();

  private int turn;

  private final Map<Shard, History> histories = new HashMap<>();

  /** Shards that were released or lost, for the next reports; handlers of them may still run. */
  private final ArrayDeque<OwnedShard> former = new ArrayDeque<>();

  private int workingTurn;
  private int idleTurn;
  private boolean changed;

  OwnedShards(Environment environment, OwnedShard.Host host) {
    this.environment = environment;
    this.host = host;
  }

  int count() {
    return shards.size();
  }

  /** A shard that is owned, or null. */
  OwnedShard get(Shard shard) {
    return shards.get(shard);
  }

  /** All shards now. The list does not change. */
  List<OwnedShard> all() {
    return List.copyOf(shards.values());
  }

  // ---- Turns

  void ready(OwnedShard shard) {
    if (shard.queued(true)) {
      ready.add(shard);
    }
  }

  boolean hasReady() {
    return !ready.isEmpty();
  }

  /** The next message of a shard whose turn it is, or null; see {@link ShardHandling#next}. */
  Task next(boolean forAdmission, long now) {
    OwnedShard shard;
    while ((shard = ready.peek()) != null) {
      Task task = shard.handling.next(forAdmission, now);
      if (task == null) {
        ready.poll();
        shard.queued(false);
        turn = 0;
        continue;
      }
      if (++turn >= (environment.breaker.open() ? 1 : TURN_MESSAGES)) {
        ready.add(ready.poll());
        turn = 0;
      }
      return task;
    }
    return null;
  }

  // ---- Shards come and go

  /**
   * Whether an assignment is out of date because it names a shard that was released. If assignments
   * go on naming it, the log decides: see {@link #take}.
   */
  boolean outOfDate(Assignment.Owned owned, long now) {
    History history = history(owned.shard());
    if (history.releasedEpoch < owned.epoch()) {
      history.namedEpoch = 0;
      return false;
    }
    if (history.namedEpoch != owned.epoch()) {
      history.namedEpoch = owned.epoch();
      history.namedSinceMillis = now;
    }
    boolean insists = now - history.namedSinceMillis >= INSISTS_MILLIS;
    history.namedEpoch = insists ? 0 : history.namedEpoch;
    return !insists;
  }

  private History history(Shard shard) {
    return histories.computeIfAbsent(shard, any -> new History());
  }

  /**
   * Begins to own a shard. If its epoch was released or can no longer be used, the shard is only
   * released: if the lease is ours after all, the log accepts that, and the next epoch is a new one
   * for everybody.
   */
  OwnedShard take(Assignment.Owned owned) {
    Shard id = owned.shard();
    History history = history(id);
    boolean spent = history.spentEpoch == owned.epoch() || history.releasedEpoch >= owned.epoch();
    // At a new epoch nobody can have committed yet.
    boolean isNew = history.ownedEpoch < owned.epoch();
    history.ownedEpoch = Math.max(history.ownedEpoch, owned.epoch());
    OwnedShard shard =
        new OwnedShard(
            new Ownership(owned.topic(), id, owned.epoch()),
            environment,
            host,
            new ShardTakeover.Start(
                history.lingering,
                spent,
                isNew ? owned.committed() : -1,
                owned.origin(),
                owned.crashes(),
                owned.skipped()));
    shards.put(id, shard);
    changed = true;
    return shard;
  }

  void gone(OwnedShard shard) {
    shards.remove(shard.shard(), shard);
    changed = true;
    if (former.size() == Heartbeat.MARKS_MAX) {
      former.removeFirst();
    }
    former.addLast(shard);
    History history = history(shard.shard());
    if (shard.release.isTaken()) {
      history.releasedEpoch = shard.epoch();
    } else if (shard.wouldRepeat()) {
      history.spentEpoch = Math.max(history.spentEpoch, shard.epoch());
    }
    if (!settle(shard, history)) {
      history.lingering = shard;
    }
  }

  /** Forgets former owners of which nothing is under way any more. */
  void forgetQuiet() {
    for (History history : histories.values()) {
      if (history.lingering != null && settle(history.lingering, history)) {
        history.lingering = null;
      }
    }
  }

  /** Notes what is left of a shard that is over, if nothing of it is under way any more. */
  private static boolean settle(OwnedShard shard, History history) {
    boolean settled = shard.quiet() && !shard.writes();
    if (settled && shard.inDoubt()) {
      history.spentEpoch = Math.max(history.spentEpoch, shard.epoch());
    }
    return settled;
  }

  /** Whether shards were gained or lost since the last call. */
  boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  // ---- What heartbeats report

  /**
   * What a heartbeat reports of single shards. First come those of a move: shards that were given
   * away, or fetched for the first time, within the last {@link ShardReports#RECENT_MILLIS}. Then
   * come those that work, in at most half of the marks, and then idle ones, in turns: so many that
   * {@link #IDLE_TURNS} heartbeats name all of them, and at least {@link Heartbeat#MARKS_OF_TURN}.
   */
  List<ShardProgress> progress(long now) {
    former.removeIf(shard -> shard.reports.endedLongAgo(now));
    List<ShardProgress> reports = new ArrayList<>();
    former.forEach(shard -> reports.add(shard.reports.progress(now)));
    List<OwnedShard> working = new ArrayList<>();
    List<OwnedShard> settled = new ArrayList<>();
    for (OwnedShard shard : all()) {
      if (reports.size() < Heartbeat.MARKS_MAX && shard.reports.isNew(now)) {
        reports.add(shard.reports.progress(now));
      } else {
        (shard.reports.isActive() ? working : settled).add(shard);
      }
    }
    int idle = Math.max(Heartbeat.MARKS_OF_TURN, settled.size() / IDLE_TURNS);
    workingTurn = report(working, Heartbeat.MARKS_MAX / 2, workingTurn, reports, now);
    idleTurn = report(settled, idle, idleTurn, reports, now);
    return reports;
  }

  /**
   * Adds the reports of the shards whose turn it is.
   *
   * @param most how many
   * @return whose turn it is next
   */
  private static int report(
      List<OwnedShard> shards, int most, int turn, List<ShardProgress> reports, long now) {
    int room = Math.max(0, Math.min(most, Heartbeat.MARKS_MAX - reports.size()));
    int next = turn;
    if (room < shards.size()) {
      Collections.rotate(shards, -(turn % shards.size()));
      next = turn % shards.size() + room;
    }
    shards.stream().limit(room).forEach(shard -> reports.add(shard.reports.progress(now)));
    return next;
  }
}
