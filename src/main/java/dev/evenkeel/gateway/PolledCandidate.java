package dev.evenkeel.gateway;

import dev.evenkeel.api.CandidateView;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Objects;

/**
 * A candidate of an election that is asked whether it leads, request by request. It leaves the
 * election when no request has waited or come for some time: then its caller has died. Runs on one
 * context.
 */
final class PolledCandidate implements OwnedByGateway.Owned {
  /** How often it is looked whether the cluster still counts the leader as one. */
  private static final long LOOK_MILLIS = 200;

  /** A pause that the caller never sees: the work is the caller's. */
  static final long PAUSE_MILLIS = 86_400_000;

  /** What the candidate does: it waits for what its caller says. On a context of its own. */
  static final class Career implements ElectionCareer {
    /** The last term that has begun. */
    private volatile long begunTerm;

    /** The last term at which the caller has resigned: it hears of its handover at once. */
    private volatile long resignedTerm;

    /** The last term of which the caller has said that its work has ended. */
    private long handedOverTerm;

    /** The handover that waits for the caller; null: none. */
    private Promise<Void> handover;

    private volatile Runnable changed = () -> {};

    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      begunTerm = context.term();
      changed.run();
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> execute(LeaderContext context) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      Future<Void> awaited = awaited(context.term());
      changed.run();
      return awaited;
    }

    private synchronized Future<Void> awaited(long term) {
      if (handedOverTerm >= term) {
        return Future.succeededFuture();
      }
      handover = Promise.promise();
      return handover.future();
    }

    @Override
    public void lost(LeaderContext context) {
      handedOver(context.term());
      changed.run();
    }

    /** The caller's work at that term has ended, or nobody waits for it any more. */
    void handedOver(long term) {
      Promise<Void> waits;
      synchronized (this) {
        handedOverTerm = Math.max(handedOverTerm, term);
        waits = handover;
        handover = null;
      }
      if (waits != null) {
        waits.tryComplete();
      }
    }

    private synchronized boolean hasHandedOver(long term) {
      return handedOverTerm >= term;
    }

    /** The answer to a caller, who may rely on what it says of the lead. */
    CandidateView view(LeaderContext now) {
      boolean mine =
          now != null && !now.isOver() && begunTerm == now.term() && !hasHandedOver(now.term());
      boolean handingOver = mine && (now.isHandingOver() || resignedTerm >= now.term());
      boolean leads = mine && !handingOver && now.isLeading();
      return leads || handingOver
          ? new CandidateView(leads, now.term(), handingOver)
          : new CandidateView(false, null, false);
    }
  }

  /** The request that waits, and what its caller knows. */
  private record Waiting(
      String poll, CandidateView known, Promise<CandidateView> promise, long timer, long look) {}

  private final Vertx vertx;
  private final String election;
  private final Candidate candidate;
  private final Career career;
  private final Expiry expiry;
  private final Runnable onEnd;

  /** Null: none. */
  private Waiting waiting;

  /**
   * @param career with which the candidate was made
   * @param user who opened it; null: nobody is asked for
   * @param expiresMillis how long it stays after the end of the last request
   * @param onEnd runs once, when it has ended
   */
  PolledCandidate(
      Vertx vertx,
      String election,
      Candidate candidate,
      Career career,
      String user,
      int expiresMillis,
      Runnable onEnd) {
    this.vertx = vertx;
    this.election = election;
    this.candidate = candidate;
    this.career = career;
    this.onEnd = onEnd;
    Context context = vertx.getOrCreateContext();
    career.changed = () -> context.runOnContext(none -> look());
    candidate.onEnd(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    expiry = new Expiry(vertx, "candidate", user, expiresMillis, this::expire);
  }

  String member() {
    return candidate.member();
  }

  String election() {
    return election;
  }

  /** Refuses a caller who is not the one who opened it, and counts as a sign of life. */
  void use(String caller) {
    expiry.use(caller);
  }

  /** Whether it leads, as far as is known here. */
  CandidateView view() {
    return career.view(candidate.leadership());
  }

  /**
   * Completes when {@link #view} is not what the caller knows, or when the time is over. A request
   * that waited before is answered at once.
   *
   * @param poll a name for {@link #abandon}; null: it has none
   */
  Future<CandidateView> watch(String poll, CandidateView known, long waitMillis) {
    answer();
    CandidateView now = view();
    if (!now.equals(known) || waitMillis == 0) {
      return Future.succeededFuture(now);
    }
    Promise<CandidateView> promise = Promise.promise();
    waiting =
        new Waiting(
            poll,
            known,
            promise,
            vertx.setTimer(waitMillis, fired -> answer()),
            vertx.setPeriodic(LOOK_MILLIS, fired -> look()));
    expiry.waits();
    return promise.future();
  }

  private void look() {
    if (waiting != null && !view().equals(waiting.known())) {
      answer();
    }
  }

  private void answer() {
    if (waiting != null) {
      taken().complete(view());
    }
  }

  private Promise<CandidateView> taken() {
    Waiting answered = waiting;
    waiting = null;
    vertx.cancelTimer(answered.timer());
    vertx.cancelTimer(answered.look());
    expiry.answered();
    return answered.promise();
  }

  /** The caller of a request has gone: it waits no longer. */
  void abandon(String poll) {
    if (waiting != null && Objects.equals(poll, waiting.poll())) {
      answer();
    }
  }

  /** Has it hand over if it leads at that term. */
  CandidateView resign(long term) {
    LeaderContext now = leadership(term);
    career.resignedTerm = term;
    now.resign();
    look();
    return view();
  }

  /** The caller's work at that term has ended. If it was not asked to end, it resigns. */
  CandidateView handedOver(long term) {
    LeaderContext now = leadership(term);
    career.handedOver(term);
    now.resign();
    look();
    return view();
  }

  private LeaderContext leadership(long term) {
    LeaderContext now = candidate.leadership();
    if (now == null || now.term() != term) {
      throw Refusal.FENCED.error(
          "candidate '%s' does not lead election %s at term %d%s",
          member(), election, term, now == null ? "" : ", but at term " + now.term());
    }
    return now;
  }

  private void expire() {
    leave(expiry.timeout());
  }

  @Override
  public Future<Void> close() {
    return leave(Refusal.UNKNOWN_SESSION.error("the candidate was closed"));
  }

  private Future<Void> leave(RefusedException why) {
    end(why);
    return candidate.close();
  }

  private void end(RefusedException why) {
    if (expiry.end(why)) {
      career.handedOver(Long.MAX_VALUE);
      if (waiting != null) {
        taken().fail(why);
      }
      onEnd.run();
    }
  }
}
