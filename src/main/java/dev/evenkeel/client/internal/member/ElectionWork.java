package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.consume.ElectionCore;
import dev.evenkeel.client.internal.consume.ElectionCore.Call;
import dev.evenkeel.client.internal.consume.ElectionCore.Step;
import dev.evenkeel.client.internal.consume.SelfFence;
import io.vertx.core.Future;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of a candidate: calls its career as {@link ElectionCore} decides, and feeds the core
 * events. All of it happens on the candidate's context.
 */
final class ElectionWork {
  /** How often {@link #turn} is called at least. */
  static final long TICK_MILLIS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(Candidate.class);

  private final MemberRun run;
  private final ElectionCareer career;
  private final OwnContext context;
  private final ElectionCore core;
  private final Leaderships leaderships;
  private final Runnable heartbeatNow;
  private final Runnable onTurn;

  /** As the application sees it; read from any thread. */
  private volatile LeaderContext leadership;

  /** The one before, which may be lost. */
  private LeaderContext former;

  /** What the last assignment says. */
  private Assignment.Lead lead;

  private Long handedOverKnown;
  private long timer = -1;
  private boolean turning;
  private boolean ended;

  /**
   * @param heartbeatNow the dispatcher must know something before the next heartbeat is due
   * @param onTurn runs whenever something may have changed
   */
  ElectionWork(
      MemberRun run,
      ElectionCareer career,
      long pauseMillis,
      Runnable heartbeatNow,
      Runnable onTurn) {
    this.run = run;
    this.career = career;
    this.heartbeatNow = heartbeatNow;
    this.onTurn = onTurn;
    context = run.context();
    core = new ElectionCore(run.instance(), run.options().getMemberTimeoutMillis(), pauseMillis);
    leaderships =
        new Leaderships(
            run.options().getMember(),
            () -> context.run(this::resigned),
            () -> core.fence().mayStart(Clock.millis()));
  }

  SelfFence fence() {
    return core.fence();
  }

  /** The present leadership; null: none. From any thread. */
  LeaderContext leadership() {
    return leadership;
  }

  /** The last term at which it resigned, or null. */
  Long resignedTerm() {
    return leaderships.resignedTerm();
  }

  /** The last term that it has handed over, or null. */
  Long handedOverTerm() {
    return core.handedOverTerm();
  }

  /** After {@link #close}: whether nothing is to do any more. */
  boolean drained() {
    return core.drained();
  }

  /** Takes an assignment, unless it is older than the last one. */
  void assigned(Assignment assignment) {
    if (core.assigned(assignment, Clock.millis())) {
      lead = assignment.lead();
      showLead();
      turn();
    }
  }

  private void resigned() {
    if (!ended) {
      core.resign(leaderships.resignedTerm());
      showLead();
      turn();
      heartbeatNow.run();
    }
  }

  /** Hands over if it leads, and leads no more. */
  void close() {
    core.close();
    showLead();
    turn();
  }

  /** The candidate has ended: what it led and has not handed over is lost. */
  void end() {
    ended = true;
    core.end();
    lead = null;
    showLead();
    turn();
    run.vertx().cancelTimer(timer);
  }

  private void showLead() {
    Assignment.Lead shown = lead != null && core.handsOver() ? lead.asEnding() : lead;
    LeaderContext now = leaderships.changed(shown);
    if (now != leadership) {
      former = leadership;
      leadership = now;
    }
  }

  /** Does everything that can be done now. */
  void turn() {
    if (turning) {
      return;
    }
    turning = true;
    Step step;
    while ((step = core.next(Clock.millis())) != null) {
      call(step);
    }
    turning = false;
    if (ended) {
      return;
    }
    if (!Objects.equals(core.handedOverTerm(), handedOverKnown)) {
      handedOverKnown = core.handedOverTerm();
      heartbeatNow.run();
    }
    setTimer();
    onTurn.run();
  }

  /** A pause may be shorter than a tick. */
  private void setTimer() {
    run.vertx().cancelTimer(timer);
    timer = -1;
    long waitMillis = core.dueMillis() - Clock.millis();
    if (waitMillis > 0 && waitMillis < TICK_MILLIS) {
      timer = run.vertx().setTimer(waitMillis, id -> context.run(this::turn));
    }
  }

  private void call(Step step) {
    LeaderContext of = leadership != null && leadership.term() == step.term() ? leadership : former;
    if (step.call() == Call.LOST) {
      LOG.warn("{} was lost without handing over", of);
      run.safely("lost", () -> career.lost(of));
      return;
    }
    if (step.call() != Call.EXECUTE) {
      LOG.info("{} {}", of, step.call() == Call.INAUGURATE ? "begins" : "hands over");
    }
    Future<Void> result;
    try {
      result =
          switch (step.call()) {
            case INAUGURATE -> career.inaugurate(of);
            case HAND_OVER -> career.handOver(of);
            default -> career.execute(of);
          };
      if (result == null) {
        throw new NullPointerException("the leader's work returned null instead of a future");
      }
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    // Later, so that work that ends at once leaves the event loop to others in between.
    result.onComplete(done -> context.later(() -> callEnded(step, of, done.cause())));
  }

  private void callEnded(Step step, LeaderContext of, Throwable failure) {
    if (failure != null) {
      LOG.error("{} of {} failed: {}", step.call(), of, failure.toString());
      LOG.debug("Where", failure);
    }
    core.ended(failure != null, Clock.millis());
    turn();
  }
}
