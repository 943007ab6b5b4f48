package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.LeaderContext;
import java.util.function.BooleanSupplier;

/** The leaderships of one member, one after another: each has a term of its own. */
final class Leaderships {
  private final String member;
  private final Runnable onResign;
  private final BooleanSupplier mayStart;
  private volatile long resignedTerm;
  private One now;

  /**
   * @param onResign called on any thread when this member resigns
   * @param mayStart whether the cluster surely counts this member as alive now; called on any
   *     thread
   */
  Leaderships(String member, Runnable onResign, BooleanSupplier mayStart) {
    this.member = member;
    this.onResign = onResign;
    this.mayStart = mayStart;
  }

  /** The last term at which this member resigned, or null. */
  Long resignedTerm() {
    return resignedTerm == 0 ? null : (Long) resignedTerm;
  }

  /**
   * The leadership as it is now; null: there is none.
   *
   * @param lead null: this member does not lead
   */
  LeaderContext changed(Assignment.Lead lead) {
    if (now != null && (lead == null || lead.term() != now.term)) {
      now.over = true;
      now.handingOver = true;
      now = null;
    }
    if (lead != null) {
      now = now == null ? new One(lead.term()) : now;
      now.handingOver = lead.ending();
    }
    return now;
  }

  private synchronized void resign(long term) {
    if (term <= resignedTerm) {
      return;
    }
    resignedTerm = term;
    onResign.run();
  }

  private final class One implements LeaderContext {
    private final long term;
    private volatile boolean handingOver;
    private volatile boolean over;

    One(long term) {
      this.term = term;
    }

    @Override
    public long term() {
      return term;
    }

    @Override
    public String member() {
      return member;
    }

    @Override
    public boolean isHandingOver() {
      return handingOver;
    }

    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public boolean isLeading() {
      return !over && !handingOver && mayStart.getAsBoolean();
    }

    @Override
    public void resign() {
      if (!over) {
        Leaderships.this.resign(term);
      }
    }

    @Override
    public String toString() {
      return "leadership of " + member + " at term " + term;
    }
  }
}
