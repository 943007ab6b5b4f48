package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ElectionCareer;

/**
 * Decides what a candidate of an election does next. It has no clock, no I/O and no threads; all
 * calls come from one thread at a time. {@code now} is a monotonic clock in milliseconds.
 *
 * <p>The caller feeds events, then takes {@link #next steps} until there are none. Each call of the
 * application but LOST must {@link #ended end} before the next step.
 *
 * <pre>
 * term granted ---> INAUGURATE ---> EXECUTE, EXECUTE ... ---> HAND_OVER ---> handed over
 *                   (again if it                              (if INAUGURATE has succeeded)
 *                    failed)
 * another term, or none, before all is handed over: LOST
 * </pre>
 */
public final class ElectionCore {
  /** A call of the {@link ElectionCareer}. */
  public enum Call {
    INAUGURATE,
    EXECUTE,
    HAND_OVER,
    LOST
  }

  /**
   * What to call.
   *
   * @param term of the leadership that the call is about
   */
  public record Step(Call call, long term) {}

  /** Pause after an execute that failed, at least. */
  static final long FAILED_MILLIS = 1_000;

  private static final long[] AGAIN_MILLIS = {1_000, 2_000, 5_000, 10_000, 20_000, 30_000};

  private final SelfFence fence;
  private final LastAssignment last;
  private final long pauseMillis;

  /** The term at which this candidate leads; 0: it does not. */
  private long term;

  /** It must hand over the term. */
  private boolean ending;

  /** The term is inaugurated, and not handed over. */
  private boolean begun;

  /** The last term that was handed over; 0: none. */
  private long handedOverTerm;

  private long resignedTerm;
  private boolean closing;

  /** The call that has not ended; null: none. */
  private Step running;

  /** A term that was lost, of which the application does not know yet; 0: none. */
  private long lost;

  /** No INAUGURATE or EXECUTE begins before. */
  private long nextMillis = Long.MIN_VALUE;

  /** How often the inauguration of this term has failed. */
  private int failures;

  /**
   * @param instance this run of the member
   */
  public ElectionCore(String instance, long memberTimeoutMillis, long pauseMillis) {
    fence = new SelfFence(memberTimeoutMillis);
    last = new LastAssignment(instance);
    this.pauseMillis = pauseMillis;
  }

  /** Whether a call may begin, as far as that depends on time and the connection. */
  public SelfFence fence() {
    return fence;
  }

  /**
   * Takes an assignment.
   *
   * @return whether it counts: it is not older than the last one
   */
  public boolean assigned(Assignment assignment, long now) {
    boolean counts = last.takes(assignment, now);
    if (counts) {
      lead(assignment.lead());
    }
    return counts;
  }

  private void lead(Assignment.Lead given) {
    long granted = given == null ? 0 : given.term();
    if (granted != term) {
      boolean begins =
          running != null && running.term() == term && running.call() == Call.INAUGURATE;
      if (begun || begins) {
        lost = term;
      }
      term = granted;
      begun = false;
      failures = 0;
      nextMillis = Long.MIN_VALUE;
    }
    ending = given != null && given.ending();
  }

  /** This candidate wants another one to lead instead of it at that term. */
  public void resign(long at) {
    resignedTerm = Math.max(resignedTerm, at);
  }

  /** It leaves the election: it hands over if it leads, and leads no more. */
  public void close() {
    closing = true;
  }

  /** It has ended against its will: what it led is lost. */
  public void end() {
    closing = true;
    lead(null);
  }

  /** Whether it leads and is to hand over. */
  public boolean handsOver() {
    return term != 0 && (ending || closing || resignedTerm >= term);
  }

  /** The last term that was handed over; null: none. */
  public Long handedOverTerm() {
    return handedOverTerm == 0 ? null : (Long) handedOverTerm;
  }

  /** After {@link #close}: whether nothing is to do any more. */
  public boolean drained() {
    return closing && running == null && lost == 0 && (term == 0 || handedOverTerm >= term);
  }

  /** When {@link #next} has something to do if nothing else comes; MAX_VALUE: never. */
  public long dueMillis() {
    boolean waits = running == null && term != 0 && handedOverTerm < term && !handsOver();
    return waits ? nextMillis : Long.MAX_VALUE;
  }

  /** What to call now; null: nothing. */
  public Step next(long now) {
    if (lost != 0) {
      Step step = new Step(Call.LOST, lost);
      lost = 0;
      return step;
    }
    if (running != null || term == 0 || handedOverTerm >= term) {
      return null;
    }
    if (handsOver()) {
      if (!begun) {
        handedOverTerm = term;
        return null;
      }
      return fence.mayStart(now) ? begin(Call.HAND_OVER) : null;
    }
    if (now < nextMillis || !fence.mayStart(now)) {
      return null;
    }
    return begin(begun ? Call.EXECUTE : Call.INAUGURATE);
  }

  private Step begin(Call call) {
    running = new Step(call, term);
    return running;
  }

  /**
   * The call that was begun last, and was not LOST, has ended.
   *
   * @param failed whether it failed
   */
  public void ended(boolean failed, long now) {
    Step was = running;
    running = null;
    if (was.term() != term) {
      return;
    }
    switch (was.call()) {
      case INAUGURATE -> {
        begun = !failed;
        nextMillis = failed ? now + AGAIN_MILLIS[failures] : now;
        failures = failed ? Math.min(failures + 1, AGAIN_MILLIS.length - 1) : 0;
      }
      case EXECUTE ->
          nextMillis = now + (failed ? Math.max(FAILED_MILLIS, pauseMillis) : pauseMillis);
      default -> {
        begun = false;
        handedOverTerm = term;
      }
    }
  }
}
