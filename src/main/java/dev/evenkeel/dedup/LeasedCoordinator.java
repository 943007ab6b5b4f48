package dev.evenkeel.dedup;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a program, which relies on them. Over a guarded {@link ClusteredCoordinator}, it
 * knows at each moment which claims it may still rely on: those whose automaton counts them as the
 * head, while the {@link Lease} of the process holds, and for less than the time after which a head
 * is evicted. It does not see that the cluster lost its map.
 *
 * <pre>
 * asked  --ACCEPT, to a question sent a short time ago----------> at work
 * asked  --DECLINE, or no answer for a while--------------------> over
 * at work --the lease has ended, the time of a head is over,
 *           or the process has another name in the cluster------> lost
 * any    --giveBack()-------------------------------------------> over
 * </pre>
 *
 * <p>A lost claim keeps its place, if it has one: its work may still go on.
 *
 * <p>Safe for use from any thread.
 */
public final class LeasedCoordinator {
  private static final long TICK_MILLIS = 1_000;

  /** A head counts itself out so much before the others do, because clocks differ a little. */
  private static final long SPARE_MILLIS_MAX = 500;

  /** The lease of this process under one name. */
  private record Seat(SharedAutomata automata, Lease lease) {
    boolean holds(long number, long nowMillis) {
      return lease.holds(number, nowMillis, automata.silentMillisMax());
    }

    long answered(long questionSentMillis) {
      return lease.answered(questionSentMillis, automata.silentMillisMax());
    }
  }

  private final LongSupplier clock;
  private final long headMillisMax;
  private final ClusteredCoordinator coordinator;
  private final Set<LeasedClaim> claims = ConcurrentHashMap.newKeySet();
  private final LongAdder lost = new LongAdder();
  private final AtomicInteger leaving = new AtomicInteger();
  private volatile Seat seat;
  private volatile long tickedMillis;
  private volatile @Nullable RefusedException closed;

  /**
   * @param clock monotonic, in milliseconds
   */
  public LeasedCoordinator(
      SharedAutomata automata, ClusteredCoordinator.Settings settings, LongSupplier clock) {
    if (!settings.guarded()) {
      throw new IllegalArgumentException("the settings must be guarded");
    }
    this.clock = clock;
    headMillisMax = settings.headMillisMax();
    coordinator = new ClusteredCoordinator(automata, settings, clock);
    seat = new Seat(automata, new Lease());
  }

  /** Goes on under another name: claims at work are lost, those that wait ask again. */
  public void use(SharedAutomata automata) {
    seat = new Seat(automata, new Lease());
    coordinator.use(automata, clock.getAsLong());
    dropLost(clock.getAsLong());
  }

  /**
   * Asks for a key.
   *
   * @param work number of the claim that no other one has, not 0
   */
  public LeasedClaim claim(DedupKey key, long work) {
    SharedTicket ticket =
        (SharedTicket)
            coordinator.enQueue(key, new Worker("", Worker.SERVICE, work), clock.getAsLong());
    LeasedClaim claim = new LeasedClaim(ticket);
    claims.add(claim);
    ticket.turn().whenComplete((answer, failure) -> turned(claim, answer, failure));
    ticket
        .answered()
        .thenAccept(
            answer -> {
              if (answer == Answer.BLOCK) {
                claim.answered.complete(answer);
              }
            });
    if (closed != null) {
      giveBack(claim);
    }
    return claim;
  }

  private void turned(LeasedClaim claim, @Nullable Answer answer, @Nullable Throwable failure) {
    if (closed != null) {
      giveBack(claim);
    } else if (answer == Answer.ACCEPT) {
      Seat now = seat;
      if (isOf(claim, now)) {
        claim.lease = now.answered(claim.ticket.askedMillis);
      }
      if (claim.become(LeasedClaim.Stage.AT_WORK) == LeasedClaim.Stage.OVER) {
        return;
      }
    } else {
      claims.remove(claim);
      claim.become(LeasedClaim.Stage.OVER);
    }
    end(claim, answer, failure);
  }

  /** After the claim was given back, that is its end. */
  private static void end(LeasedClaim claim, @Nullable Answer answer, @Nullable Throwable failure) {
    // The turn first: whoever has the first answer may look whether the turn has come with it.
    if (answer != null) {
      claim.turn.complete(answer);
      claim.answered.complete(answer);
    } else {
      claim.turn.completeExceptionally(failure);
      claim.answered.completeExceptionally(failure);
    }
  }

  private static boolean isOf(LeasedClaim claim, Seat seat) {
    return claim.ticket.claim.worker().member().equals(seat.automata.member());
  }

  /** Whether the program may rely on the claim now. Once false, it stays false. */
  public boolean isHeld(LeasedClaim claim) {
    return claim.stage() == LeasedClaim.Stage.AT_WORK && !dropIfLost(claim, clock.getAsLong());
  }

  private boolean holds(LeasedClaim claim, long nowMillis) {
    Seat now = seat;
    long spare = Math.min(SPARE_MILLIS_MAX, headMillisMax / 10);
    return now.holds(claim.lease, nowMillis)
        && isOf(claim, now)
        && nowMillis - claim.ticket.sinceMillis < headMillisMax - spare;
  }

  /**
   * Gives a key back. Completes with {@link Departure#NOT_HEAD} if the claim was lost before. A
   * second call does nothing, and completes with the same.
   */
  public CompletionStage<Departure> giveBack(LeasedClaim claim) {
    boolean held = isHeld(claim);
    LeasedClaim.Stage last = claim.become(LeasedClaim.Stage.OVER);
    claims.remove(claim);
    if (last != LeasedClaim.Stage.OVER) {
      boolean gone = last != LeasedClaim.Stage.ASKED && !held;
      leaving.incrementAndGet();
      coordinator
          .deQueue(claim.ticket, clock.getAsLong())
          .whenComplete(
              (departure, failure) -> {
                leaving.decrementAndGet();
                if (last == LeasedClaim.Stage.AT_WORK
                    && (!held || departure == Departure.NOT_HEAD)) {
                  lost.increment();
                }
                claim.left.complete(gone ? Departure.NOT_HEAD : departure);
              });
    }
    RefusedException why = closed;
    end(
        claim,
        null,
        why != null ? why : Refusal.UNAVAILABLE.error("the claim was given back before its turn"));
    return claim.left;
  }

  /**
   * Asks the cluster whether this process is still alive, and finds lost claims. Call it a few
   * times a second until it is {@link #idle}.
   */
  public void tick() {
    long nowMillis = clock.getAsLong();
    if (nowMillis - tickedMillis >= TICK_MILLIS) {
      tickedMillis = nowMillis;
      coordinator.tick(nowMillis);
    }
    dropLost(nowMillis);
    Seat now = seat;
    long silentMillisMax = now.automata.silentMillisMax();
    boolean works = claims.stream().anyMatch(claim -> claim.stage() == LeasedClaim.Stage.AT_WORK);
    if (works && silentMillisMax > 0 && now.lease.asks(nowMillis, silentMillisMax)) {
      now.automata.heard().thenRun(() -> now.answered(nowMillis));
    }
  }

  private void dropLost(long nowMillis) {
    for (LeasedClaim claim : claims) {
      if (claim.stage() == LeasedClaim.Stage.AT_WORK) {
        dropIfLost(claim, nowMillis);
      }
    }
  }

  private boolean dropIfLost(LeasedClaim claim, long nowMillis) {
    if (holds(claim, nowMillis)) {
      return false;
    }
    if (claim.become(LeasedClaim.Stage.LOST) == LeasedClaim.Stage.AT_WORK) {
      lost.increment();
      claim.lost.complete(null);
    }
    return true;
  }

  /** Whether there is nothing to do for {@link #tick}. */
  public boolean idle() {
    return leaving.get() == 0
        && claims.stream().allMatch(claim -> claim.stage() == LeasedClaim.Stage.LOST);
  }

  /** Claims that were not given back, and not declined. */
  public int claims() {
    return claims.size();
  }

  /** Claims that count as lost are not among those that work. */
  public DedupFigures figures() {
    DedupFigures of = coordinator.figures();
    long working =
        claims.stream().filter(claim -> claim.stage() == LeasedClaim.Stage.AT_WORK).count();
    return new DedupFigures(
        of.accepted(),
        of.blocked(),
        of.declined(),
        of.evicted(),
        lost.sum(),
        of.overflowed(),
        0,
        working,
        of.waiting(),
        of.keys());
  }

  /** Ends all claims that await their turn. */
  public void refuse(RefusedException why) {
    for (LeasedClaim claim : claims) {
      if (claim.stage() == LeasedClaim.Stage.ASKED) {
        end(claim, null, why);
        giveBack(claim);
      }
    }
  }

  /**
   * Gives back all claims, and those that are asked for later. All that wait fail.
   *
   * @param why their failure
   * @return completes when they are given back; that may take several calls of {@link #tick}
   */
  public CompletableFuture<Void> close(RefusedException why) {
    closed = why;
    CompletableFuture<?>[] left =
        claims.stream()
            .map(claim -> giveBack(claim).toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    coordinator.close(clock.getAsLong());
    return CompletableFuture.allOf(left);
  }
}
