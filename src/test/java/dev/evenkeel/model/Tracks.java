package dev.evenkeel.model;

import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The tracks of a coordinator, which walkers move on, and how far they are apart. */
final class Tracks {
  private static final int TRACKS_MAX = 4;
  private static final int STEPS_WHEN_JOINED = 40;
  private static final long MEMBER_TIMEOUT_MILLIS = 3_000;
  private static final long IDLE_MILLIS = 1_000;

  /** Who has asked so short a time ago is not set aside. */
  private static final long SURE_MILLIS = 700;

  private static final long STILL_MILLIS = 2_500;
  private static final Duration TRACK_MAX = Duration.ofSeconds(65);

  private final Services in;
  private final String name;
  private final int range;
  private final Map<Connection, ClusterCoordinator> coordinators = new HashMap<>();
  private final List<Walker> walkers = new CopyOnWriteArrayList<>();
  private int made;

  /** Walkers go so far. */
  private long goal;

  /** In the end; -1: it has not come. */
  private long wanted = -1;

  Tracks(Services in, String name, int range) {
    this.in = in;
    this.name = name;
    this.range = range;
  }

  // ---- What users do

  boolean make(Connection connection) {
    if (!connection.works() || live().size() >= TRACKS_MAX) {
      return false;
    }
    // The others go on meanwhile.
    walk(STEPS_WHEN_JOINED);
    String track = "w" + made++;
    ClusterCoordinator coordinator =
        coordinators.computeIfAbsent(
            connection,
            any ->
                connection.client.coordinator(
                    new CoordinatorOptions()
                        .setName(name)
                        .setRange(range)
                        .setMemberTimeoutMillis(MEMBER_TIMEOUT_MILLIS)
                        .setIdleMillis(IDLE_MILLIS)));
    ClusterTrack made =
        in.answers.ask(
            "track " + track + " of " + name,
            TRACK_MAX,
            coordinator.track(track),
            // It had no answer for a while: machines have much to do.
            Refusal.FENCED);
    if (made == null) {
      return false;
    }
    add(new Walker(made, connection));
    return true;
  }

  boolean isThere() {
    return !live().isEmpty();
  }

  private List<Walker> live() {
    return walkers.stream().filter(each -> !each.connection.isDead()).toList();
  }

  /** All go on. */
  synchronized boolean walk(int steps) {
    for (Walker each : live()) {
      goal = Math.max(goal, each.track.steps() + steps);
    }
    return isThere();
  }

  /** One does not ask to move for longer than others wait for it. */
  boolean standStill(int which) {
    Walker stands = Sequence.any(live(), which);
    if (stands == null) {
      return false;
    }
    in.log.add(stands + " stands still");
    stands.stillUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STILL_MILLIS);
    return walk(3 * range);
  }

  boolean destroy(int which) {
    Walker ends = Sequence.any(live(), which);
    if (ends == null || !ends.connection.works()) {
      return false;
    }
    remove(ends);
    return in.answers.done("destroy " + ends, ends.track.destroy());
  }

  Future<?> close() {
    return Future.join(
            coordinators.entrySet().stream()
                .filter(each -> !each.getKey().isDead())
                .map(each -> each.getValue().close())
                .toList())
        .otherwiseEmpty();
  }

  // ---- What must be true

  private synchronized void add(Walker comes) {
    long from = comes.track.steps();
    for (Walker other : walkers) {
      long at = other.track.steps();
      // While its client hangs, the others may have gone on without it.
      boolean counts = other.isSure() && other.connection.works();
      if (counts && from > at && other.mayStep()) {
        in.model.fault(
            Promise.TRACKS_BEGIN, comes + " begins before " + other + ", at " + from + " of " + at);
      } else if (counts && at - from > range) {
        in.model.fault(
            Promise.TRACKS_LEVEL, comes + " begins at " + from + ", and " + other + " is at " + at);
      }
    }
    walkers.add(comes);
  }

  private synchronized void remove(Walker goes) {
    walkers.remove(goes);
  }

  /** Every walker that has not arrived takes some steps. */
  void look() {
    for (Walker each : walkers) {
      each.walk();
    }
  }

  /** What is not yet as it must be; null: nothing. */
  synchronized String missing() {
    if (live().isEmpty()) {
      return null;
    }
    if (wanted < 0) {
      walk(3 * range);
      wanted = goal;
    }
    return live().stream()
        .filter(each -> each.track.steps() < wanted)
        .findFirst()
        .map(each -> each + " is at " + each.track.steps() + " of " + wanted)
        .orElse(null);
  }

  /** Moves a track. */
  private final class Walker {
    private final ClusterTrack track;
    private final Connection connection;

    /** Some are faster, and have to wait for others. */
    private final int stepsAtATime = 1 + made % 3;

    private volatile long stillUntilNanos = System.nanoTime();

    /** It counts for the others: it has moved, and has asked often enough since then. */
    private boolean counts;

    private long askedNanos;

    Walker(ClusterTrack track, Connection connection) {
      this.track = track;
      this.connection = connection;
    }

    /** Whether the others wait for it in any case. */
    private boolean isSure() {
      long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - askedNanos);
      return counts && since < SURE_MILLIS && !connection.isDead();
    }

    void walk() {
      if (connection.isDead() || System.nanoTime() - stillUntilNanos < 0) {
        return;
      }
      synchronized (Tracks.this) {
        for (int i = 0; i < stepsAtATime && track.steps() < goal && move(); i++) {
          compare();
        }
        if (track.isLost()) {
          in.log.add(this + " is lost");
          walkers.remove(this);
        }
      }
    }

    private boolean move() {
      // It may have been set aside meanwhile.
      counts &= isSure();
      askedNanos = System.nanoTime();
      boolean moved = track.move();
      counts |= moved;
      return moved;
    }

    private void compare() {
      long at = track.steps();
      for (Walker other : walkers) {
        long others = other.track.steps();
        if (other != this && other.isSure() && Math.abs(at - others) > range && other.mayStep()) {
          in.model.fault(
              Promise.TRACKS_LEVEL,
              this + " is at " + at + ", and " + other + " at " + others + ": range " + range);
        }
      }
    }

    /**
     * Its client may hang, and does not know yet that the others go on without it. The slowest
     * track can step at any time, unless it has ended.
     */
    private boolean mayStep() {
      return track.move();
    }

    @Override
    public String toString() {
      return "track " + track.name() + " of " + name;
    }
  }
}
