package dev.evenkeel.model;

import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The candidates of an election, and whether one leads at a time. */
final class Elections {
  private static final int CANDIDATES_MAX = 3;
  private static final long LOCK_MILLIS = 4_000;

  /** The dispatcher counts the lock time from when it hears of the handover, by another clock. */
  private static final long SPARE_MILLIS = 300;

  private static final long PAUSE_MILLIS = 50;
  private static final long HANG_MILLIS = 1_500;

  /** Longer than the next leader waits. */
  private static final long LONG_MILLIS = LOCK_MILLIS + 1_000;

  private static final Duration STAND_MAX = Duration.ofSeconds(65);
  private static final Duration LEAVE_MAX = Duration.ofSeconds(60);

  private final Services in;
  private final String name;
  private final List<Candidacy> candidacies = new CopyOnWriteArrayList<>();
  private int made;

  // What is known of the election, guarded by this.

  /** Who was inaugurated last; null: nobody was. */
  private Candidacy leader;

  private long term;

  /** The highest term of those that took themselves for the leader. */
  private long believed;

  private long executes;
  private long wanted = -1;

  /** So long the next execute takes; 0: as usual. */
  private long hangMillis;

  Elections(Services in, String name) {
    this.in = in;
    this.name = name;
  }

  // ---- What users do

  boolean stand(Connection connection) {
    if (!connection.works() || live().size() >= CANDIDATES_MAX) {
      return false;
    }
    Candidacy stands = new Candidacy("c" + made++, connection);
    Candidate candidate =
        in.answers.ask(
            "stand for " + name + " as " + stands.name,
            STAND_MAX,
            connection.client.election(
                new ElectionOptions()
                    .setName(name)
                    .setMember(stands.name)
                    .setLockTimeMillis(LOCK_MILLIS)
                    .setPauseMillis(PAUSE_MILLIS),
                stands));
    if (candidate == null) {
      return false;
    }
    stands.candidate = candidate;
    candidate.onEnd(stands::hasEnded);
    candidacies.add(stands);
    return true;
  }

  boolean isThere() {
    return !live().isEmpty();
  }

  private List<Candidacy> live() {
    return candidacies.stream().filter(each -> !each.connection.isDead()).toList();
  }

  /** The leader as far as that is known, or any candidate; null: there is none. */
  private synchronized Candidacy leaderOrAny(int which) {
    List<Candidacy> live = live();
    return leader != null && live.contains(leader) ? leader : Sequence.any(live, which);
  }

  boolean resign(int which) {
    Candidacy resigns = leaderOrAny(which);
    if (resigns == null) {
      return false;
    }
    in.log.add(resigns + " resigns");
    resigns.leaves();
    resigns.candidate.resign();
    // A term may have begun in between.
    resigns.leaves();
    return true;
  }

  boolean withdraw(int which) {
    Candidacy goes = which % 2 == 0 ? leaderOrAny(which) : Sequence.any(live(), which / 2);
    if (goes == null || !goes.connection.works()) {
      return false;
    }
    boolean done = in.answers.done(goes + " withdraws", LEAVE_MAX, close(goes));
    if (done && candidacies.isEmpty() && which % 4 < 2) {
      // What comes after it has higher terms all the same.
      in.answers.done(
          "delete " + name,
          goes.connection.client.admin().deleteGroup(name, false),
          Refusal.UNKNOWN_GROUP,
          Refusal.GROUP_ACTIVE);
    }
    return done;
  }

  private Future<Void> close(Candidacy goes) {
    candidacies.remove(goes);
    goes.leaves();
    return goes.candidate.close().onSuccess(none -> goes.closed());
  }

  /** The next execute takes long. */
  synchronized boolean hang(int which) {
    hangMillis = which % 2 == 0 ? HANG_MILLIS : LONG_MILLIS;
    in.log.add("the leader of " + name + " hangs for " + hangMillis + " ms");
    return isThere();
  }

  Future<?> close() {
    return Future.join(live().stream().map(this::close).toList()).otherwiseEmpty();
  }

  // ---- What must be true

  /** Sees who takes itself for the leader. */
  void look() {
    for (Candidacy each : live()) {
      LeaderContext now = each.candidate.leadership();
      if (now != null) {
        believes(each, now);
      }
    }
  }

  /** Called one after another: what was true in a former call was so before this one. */
  private synchronized void believes(Candidacy who, LeaderContext context) {
    if (context.isLeading()) {
      if (context.term() < believed) {
        in.model.fault(
            Promise.ELECTION_STOPS,
            who + " is sure to lead at term " + context.term() + ", after one at " + believed);
      }
      believed = Math.max(believed, context.term());
    }
  }

  /** What is not yet as it must be; null: nothing. */
  synchronized String missing() {
    if (live().isEmpty()) {
      return null;
    }
    if (wanted < 0) {
      wanted = executes + 2;
    }
    boolean leads = leader != null && leader.leads && live().contains(leader);
    return leads && executes >= wanted ? null : "nobody works as the leader of " + name;
  }

  /** A candidate, and what it is called for. */
  private final class Candidacy implements ElectionCareer {
    private final String name;
    private final Connection connection;
    private volatile Candidate candidate;

    // Guarded by the election.
    private int running;
    private boolean closed;

    /** It was inaugurated, and has neither handed over nor lost. */
    private boolean leads;

    private long ownTerm;
    private int calmSince;

    /** Since when it is to hand over at its own wish; 0: it is not. */
    private long leavingNanos;

    private int inaugurations;

    Candidacy(String name, Connection connection) {
      this.name = name;
      this.connection = connection;
    }

    private void fault(Promise broken, String what) {
      in.model.fault(broken, this + " " + what);
    }

    void leaves() {
      synchronized (Elections.this) {
        leavingNanos = leavingNanos == 0 ? System.nanoTime() : leavingNanos;
      }
    }

    void closed() {
      synchronized (Elections.this) {
        closed = true;
        boolean calm = connection.isCalmSince(calmSince) && !isLockOver();
        if (calm && (running > 0 || leads)) {
          fault(Promise.ELECTION_CLOSE, "has left while it leads at term " + ownTerm);
        }
      }
    }

    void hasEnded(Throwable why) {
      if (!connection.isDead()) {
        fault(Promise.ANSWERS, "has ended: " + why);
      }
    }

    private boolean isLockOver() {
      long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - leavingNanos);
      return leavingNanos != 0 && waited > LOCK_MILLIS - SPARE_MILLIS;
    }

    /** Another one, or another term, begins. */
    private void mustHaveEnded(Candidacy next, long at) {
      if (leads && connection.isCalmSince(calmSince) && !isLockOver()) {
        fault(
            leavingNanos == 0 ? Promise.ELECTION_STAYS : Promise.ELECTION_ENDS_FIRST,
            "leads at term " + ownTerm + ", and " + next + " begins at term " + at);
      }
    }

    /** A call begins. */
    private void begins(LeaderContext context) {
      running++;
      if (running > 1) {
        fault(Promise.ELECTION_SERIAL, "has " + running + " calls at a time");
      }
      if (closed) {
        fault(Promise.ELECTION_CLOSE, "is called after it was closed");
      }
      if (!context.member().equals(name)) {
        fault(Promise.ELECTION_TERMS, "is called as " + context.member());
      }
    }

    private void mustLead(LeaderContext context) {
      if (context.term() != term || leader != this) {
        fault(
            Promise.ELECTION_STOPS,
            "works at term " + context.term() + " after " + leader + " began at " + term);
      }
    }

    /** Takes a while; then it is over. */
    private Future<Void> during(long millis, Runnable over) {
      return in.pause(millis)
          .map(
              passed -> {
                synchronized (Elections.this) {
                  running--;
                  over.run();
                }
                return null;
              });
    }

    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      long at = context.term();
      boolean fails;
      synchronized (Elections.this) {
        begins(context);
        boolean again = leader == this && term == at;
        if (at < term || at == term && !again) {
          fault(Promise.ELECTION_TERMS, "begins term " + at + " after " + leader + " at " + term);
        }
        if (leader != null && !again) {
          leader.mustHaveEnded(this, at);
        }
        inaugurations = again ? inaugurations + 1 : 1;
        leader = this;
        term = at;
        ownTerm = at;
        leads = true;
        calmSince = connection.calm();
        leavingNanos = again ? leavingNanos : 0;
        fails = at % 5 == 3 && inaugurations == 1;
      }
      believes(this, context);
      return during(
              at % 3 * 30,
              () -> {
                if (fails && ownTerm == at) {
                  leads = false;
                }
              })
          .compose(
              done -> fails ? Future.failedFuture(Handlers.MEANT) : Future.<Void>succeededFuture());
    }

    @Override
    public Future<Void> execute(LeaderContext context) {
      long millis;
      synchronized (Elections.this) {
        begins(context);
        mustLead(context);
        millis = hangMillis > 0 ? hangMillis : executes % 7 * 5;
        hangMillis = 0;
        executes++;
      }
      believes(this, context);
      return during(millis, () -> {}).onSuccess(done -> believes(this, context));
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      synchronized (Elections.this) {
        begins(context);
      }
      return during(
          (1 + context.term() % 3) * 80,
          () -> {
            if (ownTerm == context.term()) {
              leads = false;
            }
          });
    }

    @Override
    public void lost(LeaderContext context) {
      in.log.add(this + " has lost term " + context.term());
      synchronized (Elections.this) {
        if (ownTerm == context.term()) {
          leads = false;
        }
      }
    }

    @Override
    public String toString() {
      return name + " of " + Elections.this.name;
    }
  }
}
