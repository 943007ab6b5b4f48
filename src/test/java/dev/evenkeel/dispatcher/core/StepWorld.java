package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.StepPlace;
import dev.evenkeel.bus.StepReport;
import dev.evenkeel.client.internal.level.StepClaim;
import dev.evenkeel.protocol.Limits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A coordinator and its tracks in virtual time. Messages are late, lost or doubled; tracks come,
 * go, die, stand still, and idle; dispatchers follow one another on three nodes, and requests that
 * were sent to a node before it became the dispatcher wait there.
 */
final class StepWorld {
  /** What is wrong on purpose. */
  enum Bug {
    NONE,
    /** A track goes on, however long it has had no answer. */
    NO_FENCE,
    /** The dispatcher gives a track up too early. */
    EARLY_DEATH,
    /** A new dispatcher believes that it knows all tracks. */
    HASTY_DISPATCHER,
    /** A former dispatcher goes on with giving places and limits. */
    TWO_DISPATCHERS
  }

  private static final long IDLE_MILLIS = 1_500;
  private static final long INTERVAL_MILLIS = 1_000;
  private static final long REQUEST_MILLIS_MAX = 1_500;
  private static final int LATE_MILLIS_MAX = 15_000;
  private static final int TRACKS_MAX = 6;
  private static final int NODES = 3;

  private record Event(long at, long order, Runnable what) {}

  private final class Track {
    final String name;
    final String instance;
    final StepClaim claim;
    final boolean slow = random.nextInt(3) == 0;
    boolean dead;
    boolean destroyed;
    long hungUntil;
    long idleUntil;
    long nextBeat;
    long inFlight;
    boolean again;
    long granted;

    Track(String name, String instance) {
      this.name = name;
      this.instance = instance;
      claim = new StepClaim(range, bug == Bug.NO_FENCE ? 1L << 40 : timeoutMillis, IDLE_MILLIS);
    }

    boolean runs() {
      return !dead && !destroyed && now >= hungUntil;
    }

    /** Whether it may take a step, now or when it goes on. */
    boolean mayGoOn() {
      return !dead && !destroyed && claim.isPlaced() && !claim.isLost() && now <= fence;
    }

    long fence = Long.MIN_VALUE;

    void turn() {
      if (!runs() || claim.isLost()) {
        return;
      }
      if (claim.tick(now)) {
        hurry();
      }
      if (now >= idleUntil && random.nextInt(slow ? 12 : 2) == 0) {
        step();
      }
      if (inFlight != 0 && now >= inFlight + REQUEST_MILLIS_MAX) {
        inFlight = 0;
        nextBeat = Math.min(nextBeat, now + 100);
      }
      if (inFlight == 0 && now >= nextBeat) {
        send();
      }
    }

    private void step() {
      switch (claim.move(now)) {
        case DONE -> moved();
        case DONE_REPORT -> {
          moved();
          hurry();
        }
        case WAITS_REPORT -> hurry();
        case STOPPED -> {
          if (claim.comesBack(now)) {
            hurry();
          }
        }
        case WAITS -> {}
      }
    }

    private void moved() {
      granted++;
      check(this);
    }

    void hurry() {
      nextBeat = now;
      again = inFlight != 0;
    }

    private void send() {
      inFlight = now;
      nextBeat = now + Math.min(INTERVAL_MILLIS, (timeoutMillis - 1_000) / 3);
      again = false;
      long sent = now;
      StepReport report = claim.report();
      Heartbeat.Seen seen = claim.seen();
      int to = troubled && random.nextInt(8) == 0 ? random.nextInt(NODES) : active;
      boolean doubled = troubled && random.nextInt(10) == 0;
      for (int i = 0; i < (doubled ? 2 : 1); i++) {
        deliver(
            i > 0,
            () ->
                reach(
                    to,
                    this,
                    report,
                    seen,
                    answer ->
                        deliver(
                            false,
                            () -> {
                              if (inFlight == sent) {
                                whenAwake(this, () -> answered(sent, answer));
                              }
                            })));
      }
    }

    private void answered(long sent, Assignment answer) {
      if (inFlight != sent || claim.isLost()) {
        return;
      }
      inFlight = 0;
      if (again) {
        nextBeat = now;
      }
      claim.answered(sent, now);
      if (!claim.isLost()) {
        fence = Math.max(fence, sent + (bug == Bug.NO_FENCE ? 1L << 40 : timeoutMillis) - 1_000);
      }
      take(answer);
    }

    void take(Assignment assignment) {
      if (claim.take(assignment, now)) {
        hurry();
      }
    }
  }

  /** A node, while it is the dispatcher. */
  private final class Dispatcher {
    final long term;
    final StepLimits limits;
    final Map<String, Assignment> given = new HashMap<>();
    long revision;

    Dispatcher(long term, boolean first) {
      this.term = term;
      boolean knows = first || bug == Bug.HASTY_DISPATCHER;
      limits = new StepLimits(term, knows ? Long.MIN_VALUE : now + Limits.TRACK_TIMEOUT_MILLIS_MAX);
    }

    Assignment assignment(Track track) {
      StepPlace place = limits.place(track.instance);
      Assignment former = given.get(track.instance);
      if (former == null || !place.equals(former.place())) {
        former =
            new Assignment("c", track.name, track.instance, term, ++revision, List.of(), null)
                .withPlace(place);
        given.put(track.instance, former);
      }
      return former;
    }

    void push() {
      for (String name : limits.urgent()) {
        for (Track track : tracks) {
          if (track.name.equals(name) && limits.place(track.instance) != null) {
            Assignment pushed = assignment(track);
            deliver(
                false,
                () ->
                    whenAwake(
                        track,
                        () -> {
                          if (!track.dead && !track.destroyed) {
                            track.take(pushed);
                          }
                        }));
          }
        }
      }
    }
  }

  final Random random;
  final int range;
  private final long timeoutMillis;
  private final Bug bug;
  private final List<Track> tracks = new ArrayList<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.at() != b.at() ? Long.compare(a.at(), b.at()) : Long.compare(a.order(), b.order()));
  private final Dispatcher[] nodes = new Dispatcher[NODES];
  private int active;
  private long terms = 1;
  private long now = 1_000;
  private long order;
  private int instances;
  private boolean troubled = true;
  private String broken;

  StepWorld(long seed, Bug bug) {
    random = new Random(seed);
    range = 1 + random.nextInt(20);
    timeoutMillis = List.of(2_000L, 5_000L, 10_000L).get(random.nextInt(3));
    this.bug = bug;
    nodes[0] = new Dispatcher(terms, true);
  }

  private void deliver(boolean late, Runnable what) {
    int luck = random.nextInt(100);
    if (troubled && luck < 10) {
      return;
    }
    long delay = 1 + random.nextInt(10);
    if (troubled && (late || luck < 25)) {
      delay = 1 + random.nextInt(LATE_MILLIS_MAX);
    }
    events.add(new Event(now + delay, order++, what));
  }

  private void whenAwake(Track track, Runnable what) {
    if (now < track.hungUntil) {
      events.add(new Event(track.hungUntil, order++, what));
    } else {
      what.run();
    }
  }

  private void reach(
      int node,
      Track track,
      StepReport report,
      Heartbeat.Seen seen,
      java.util.function.Consumer<Assignment> answer) {
    Dispatcher there = nodes[node];
    if (there == null) {
      return;
    }
    boolean fresh = seen != null && seen.term() == there.term;
    long timeout = bug == Bug.EARLY_DEATH ? timeoutMillis / 4 : timeoutMillis;
    if (there.limits.heard(track.name, track.instance, report, fresh, range, timeout, now)) {
      Assignment assignment = there.assignment(track);
      answer.accept(assignment);
      there.push();
    }
  }

  private void check(Track moved) {
    for (Track other : tracks) {
      if (other != moved && other.mayGoOn()) {
        long apart = Math.abs(moved.claim.steps() - other.claim.steps());
        if (apart > range && broken == null) {
          broken =
              "at %d %s is at %d and %s at %d: range %d"
                  .formatted(
                      now,
                      moved.instance,
                      moved.claim.steps(),
                      other.instance,
                      other.claim.steps(),
                      range);
        }
      }
    }
  }

  private void trouble() {
    int what = random.nextInt(400);
    List<Track> living = tracks.stream().filter(track -> track.runs()).toList();
    if (what < 3 || living.isEmpty() && what < 40) {
      if (living.size() < TRACKS_MAX) {
        join("t" + random.nextInt(TRACKS_MAX));
      }
    } else if (what == 3) {
      nextDispatcher();
    } else if (!living.isEmpty() && what < 10) {
      Track one = living.get(random.nextInt(living.size()));
      switch (what) {
        case 4 -> one.dead = true;
        case 5 -> destroy(one);
        case 6, 7 -> one.hungUntil = now + random.nextInt(12_000);
        default -> one.idleUntil = now + random.nextInt(8_000);
      }
    }
  }

  private void join(String name) {
    tracks.add(new Track(name, "i" + instances++));
  }

  private void destroy(Track track) {
    track.destroyed = true;
    track.claim.stop();
    int to = active;
    deliver(
        false,
        () -> {
          if (nodes[to] != null) {
            nodes[to].limits.left(track.instance, now);
            nodes[to].push();
          }
        });
  }

  private void nextDispatcher() {
    if (bug != Bug.TWO_DISPATCHERS) {
      nodes[active] = null;
    }
    active = (active + 1 + random.nextInt(NODES - 1)) % NODES;
    nodes[active] = new Dispatcher(++terms, false);
  }

  private void run(long millis) {
    long until = now + millis;
    while (now < until && broken == null) {
      while (!events.isEmpty() && events.peek().at() <= now) {
        events.poll().what().run();
      }
      if (troubled) {
        trouble();
      }
      List.copyOf(tracks).forEach(Track::turn);
      if (now % 100 == 0) {
        for (Dispatcher each : nodes) {
          if (each != null) {
            each.limits.tick(now);
            each.push();
          }
        }
      }
      now += 10;
    }
  }

  /** Runs troubled for a while; returns what broke the bound, or null. */
  String trouble(long millis) {
    run(millis);
    return broken;
  }

  /** Ends all trouble; returns who does not get on after that, or null. */
  String calm() {
    troubled = false;
    for (Track track : tracks) {
      track.hungUntil = Math.min(track.hungUntil, now);
      track.idleUntil = Math.min(track.idleUntil, now);
    }
    join("last");
    run(2 * Limits.TRACK_TIMEOUT_MILLIS_MAX);
    Map<Track, Long> before = new HashMap<>();
    List<Track> living =
        tracks.stream().filter(track -> track.runs() && !track.claim.isLost()).toList();
    living.forEach(track -> before.put(track, track.granted));
    run(60_000);
    if (broken != null) {
      return broken;
    }
    for (Track track : living) {
      if (track.claim.isLost()) {
        return track.instance + " is lost";
      }
      if (track.granted - before.get(track) < 3L * range) {
        return "%s (%s) took %d steps, at %d of range %d, in stay %s"
            .formatted(
                track.instance,
                track.name,
                track.granted - before.get(track),
                track.claim.steps(),
                range,
                track.claim.report());
      }
    }
    return living.isEmpty() ? "nobody is left" : null;
  }
}
