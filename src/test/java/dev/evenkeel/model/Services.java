package dev.evenkeel.model;

import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What users do with elections, dedups and coordinators, over the connections of a run and over a
 * guest: a connection of its own that stands still and dies. The model's lock is not held here:
 * each of the three judges by a lock of its own.
 */
final class Services {
  private static final long LOOK_MILLIS = 20;

  /** The process of the users has stood still: their members may have been given up. */
  private static final long STALL_MILLIS = 1_200;

  /** Keys of a silent program take long to be free: it takes them with it once in so many times. */
  private static final int CLAIMS_OF = 8;

  private static final long[] STANDSTILL_MILLIS = {800, 3_000, 7_000};

  final UserModel model;
  final RunLog log;
  final Answers answers;
  private final Place place;
  private final List<Connection> connections = new ArrayList<>();
  private final List<Integer> numbers;
  private final List<Connection> dead = new ArrayList<>();
  private final Elections elections;
  private final Claims claims;
  private final Tracks tracks;
  private final AtomicInteger stalls = new AtomicInteger();

  private final io.vertx.core.Promise<Void> over = io.vertx.core.Promise.promise();

  /** Null: there is none now. */
  private Connection guest;

  private long lookedNanos;
  private Long timer;

  /**
   * @param numbers of the connections that the run has
   */
  Services(
      Place place,
      UserModel model,
      RunLog log,
      Answers answers,
      String run,
      List<Integer> numbers) {
    this.place = place;
    this.model = model;
    this.log = log;
    this.answers = answers;
    this.numbers = numbers;
    for (int number : numbers) {
      connections.add(connection(place.client(number), null));
    }
    elections = new Elections(this, run + "-e");
    claims = new Claims(this, run + "-d");
    tracks = new Tracks(this, run + "-c", 2 + Math.floorMod(run.hashCode(), 5));
  }

  private Connection connection(EvenkeelClient client, Vertx own) {
    return new Connection(client, own, () -> place.shocks() + 2 * stalls.get());
  }

  boolean keepsMaps() {
    return place.keepsMaps();
  }

  Future<?> pause(long millis) {
    return millis <= 0
        ? Future.succeededFuture()
        : place.vertx().timer(millis, TimeUnit.MILLISECONDS);
  }

  /** A connection of a run stands still, or goes on. */
  void standsStill(int number, boolean still) {
    int at = numbers.indexOf(number);
    if (at >= 0) {
      connections.get(at).standsStill(still);
    }
  }

  // ---- What users do

  boolean play(Step step, int a, int b) {
    begin();
    return switch (step) {
      case STAND_FOR_ELECTION -> elections.stand(any(a));
      case LEAVE_ELECTION -> leave(a, b);
      case HANG_LEADER -> (elections.isThere() || elections.stand(any(a))) && elections.hang(b);
      case CLAIM_KEYS ->
          b % 4 == 0
              ? claims.overdue(any(a), any(a + 1), b / 4)
              : claims.claim(any(a), any(a + 1), any(a + 2), b / 4);
      case ABANDON_KEYS -> claims.abandon(any(a), b);
      case MAKE_TRACK -> tracks.make(any(a));
      case MOVE_TRACKS -> move(a, b);
      case DESTROY_TRACK -> (tracks.isThere() || tracks.make(any(a))) && tracks.destroy(b);
      case HANG_CLIENT -> hangGuest(a, b);
      case KILL_CLIENT -> killGuest(a, b);
      default -> throw new IllegalArgumentException(step + " is for others");
    };
  }

  private boolean leave(int a, int b) {
    if (!elections.isThere() && !elections.stand(any(a))) {
      return false;
    }
    if (a % 2 == 0) {
      elections.stand(any(a + 1));
    }
    return b % 2 == 0 ? elections.resign(b / 2) : elections.withdraw(b / 2);
  }

  private boolean move(int a, int b) {
    if (!tracks.isThere() && !tracks.make(any(a))) {
      return false;
    }
    return b % 3 == 0 ? tracks.standStill(b / 3) : tracks.walk(5 + b % 30);
  }

  private void begin() {
    if (timer == null) {
      lookedNanos = System.nanoTime();
      timer = place.vertx().setPeriodic(LOOK_MILLIS, late -> look());
    }
  }

  private void look() {
    long now = System.nanoTime();
    if (TimeUnit.NANOSECONDS.toMillis(now - lookedNanos) > STALL_MILLIS) {
      stalls.incrementAndGet();
    }
    lookedNanos = now;
    elections.look();
    claims.look();
    tracks.look();
  }

  /** A connection of the run, or the guest. */
  private Connection any(int which) {
    boolean own = which % (connections.size() + 1) < connections.size();
    Connection its = own ? null : guest();
    return its == null ? connections.get(which % connections.size()) : its;
  }

  /** Null: it cannot connect now. */
  private Connection guest() {
    if (guest == null) {
      Vertx own =
          Vertx.vertx(
              new VertxOptions()
                  .setEventLoopPoolSize(2)
                  .setBlockedThreadCheckInterval(TimeUnit.HOURS.toMillis(1)));
      EvenkeelClient client = answers.ask("connect a guest", place.connect(own));
      if (client == null) {
        own.close();
      } else {
        guest = connection(client, own);
      }
    }
    return guest;
  }

  /** A guest that takes part in everything; null: there is none. */
  private Connection busyGuest() {
    Connection its = guest();
    if (its == null || !its.works()) {
      return null;
    }
    elections.stand(its);
    tracks.make(its);
    return its;
  }

  private boolean hangGuest(int a, int b) {
    Connection its = busyGuest();
    if (its == null) {
      return false;
    }
    claims.claim(its, connections.get(0), its, a);
    long millis = STANDSTILL_MILLIS[b % STANDSTILL_MILLIS.length];
    log.add("the guest stands still for " + millis + " ms");
    its.standStill(millis, place.vertx());
    return true;
  }

  private boolean killGuest(int a, int b) {
    Connection dies = busyGuest();
    if (dies == null) {
      return false;
    }
    if (b % CLAIMS_OF == 0) {
      claims.claim(dies, connections.get(0), dies, a);
    }
    log.add("the guest dies");
    claims.dies(dies);
    guest = null;
    dead.add(dies);
    dies.die(over.future());
    return true;
  }

  // ---- The end

  /** What is not yet as it must be in the end. */
  Map<Promise, String> missing() {
    Map<Promise, String> missing = new EnumMap<>(Promise.class);
    if (timer == null) {
      return missing;
    }
    add(missing, Promise.ELECTION_LEADS, elections.missing());
    add(missing, Promise.DEDUP_SERVICE_ANSWERS, claims.missing());
    add(missing, Promise.TRACKS_GO_ON, tracks.missing());
    if (missing.isEmpty()) {
      add(missing, Promise.DEDUP_SERVICE_FREES, claims.held(connections.get(0)));
    }
    return missing;
  }

  private static void add(Map<Promise, String> missing, Promise broken, String what) {
    if (what != null) {
      missing.put(broken, what);
    }
  }

  /** Takes away what is there. */
  Future<?> close() {
    Future<?> gone =
        Future.join(elections.close(), claims.close(), tracks.close())
            .eventually(() -> guest == null ? Future.succeededFuture() : guest.close())
            .onComplete(closed -> over.complete())
            .eventually(() -> Future.join(dead.stream().map(Connection::close).toList()));
    if (timer == null) {
      return gone;
    }
    return gone.onComplete(done -> place.vertx().cancelTimer(timer));
  }
}
