package dev.evenkeel.dedup;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator over automata that all processes of a cluster share. Its requests may be lost or
 * run twice, and the cluster may forget them. Therefore:
 *
 * <ul>
 *   <li>A message wakes a waiter, which also asks again every {@link Settings#askAgainMillis}. A
 *       repeated request gets the same answer, or ACCEPT if the head has left.
 *   <li>If nothing answers for {@link Settings#unguardedMillis}, the message is processed without a
 *       guard. Nobody may be declined in favour of it then: so each request says until when it
 *       surely waits, and no request is sent shortly before it goes ahead.
 *   <li>If its settings say that it is guarded, a request never goes ahead like that: it fails with
 *       UNAVAILABLE. It also takes no ACCEPT that it asked for too long ago, and no message: the
 *       process may have hung meanwhile, and the key may be with another. It asks once more.
 *   <li>A process that hears that an unknown claim of its own is the head gives it back. That
 *       happens when a step ran late, or when giving back was lost.
 * </ul>
 *
 * <p>It does not limit the number of tickets: the caller limits its messages in hand.
 */
public final class ClusteredCoordinator implements QueueCoordinator<DedupKey> {
  /** How often it tries to give a place back. After that, others evict the claim when they ask. */
  private static final int LEAVE_TRIES_MAX = 10;

  private static final int NUMBER_SHIFT = 48;

  /**
   * The times of a coordinator.
   *
   * @param headMillisMax a head that works for longer is evicted
   * @param askAgainMillis time after which a waiter asks again
   * @param unguardedMillis a request goes ahead, or fails, if it heard nothing for this time
   * @param guarded whether it fails
   */
  public record Settings(
      long headMillisMax, long askAgainMillis, long unguardedMillis, boolean guarded) {
    /** Not guarded. */
    public Settings(long headMillisMax, long askAgainMillis, long unguardedMillis) {
      this(headMillisMax, askAgainMillis, unguardedMillis, false);
    }

    /** Asks again after 2 s, and goes ahead after 10 s. */
    public static Settings of(long headMillisMax) {
      return new Settings(headMillisMax, 2_000, 10_000, false);
    }

    /** Asks again after 1 s, and fails after 10 s. */
    public static Settings guarded(long headMillisMax) {
      return new Settings(headMillisMax, 1_000, 10_000, true);
    }

    /** How long a waiter surely waits after it asked last: longer than until it asks again. */
    long waitsMillis() {
      return unguardedMillis * 2 / 5;
    }

    /** Spare time before it goes ahead, because the clocks of processes differ a little. */
    long spareMillis() {
      return unguardedMillis / 10;
    }

    /** After hearing nothing for this time, it stops asking. */
    long asksMillis() {
      return guarded ? unguardedMillis : unguardedMillis - waitsMillis() - spareMillis();
    }
  }

  /** A connection to the cluster; another one after each join. */
  private record Seat(SharedAutomata automata, int number, String member) {}

  private final Settings settings;
  private final LongSupplier clock;
  private final AtomicLong sequence = new AtomicLong();

  /** Tickets with a place, or that wait for one, by the lower bits of their tokens. */
  private final Map<Long, SharedTicket> tickets = new ConcurrentHashMap<>();

  /** Tickets that could not be given back yet. */
  private final ConcurrentLinkedQueue<SharedTicket> unleft = new ConcurrentLinkedQueue<>();

  private final LongAdder accepted = new LongAdder();
  private final LongAdder blocked = new LongAdder();
  private final LongAdder declined = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder unguarded = new LongAdder();
  private volatile Seat seat;

  /** The time of the last call, used for answers that come between calls. */
  private volatile long lastMillis;

  public ClusteredCoordinator(SharedAutomata automata, Settings settings, long nowMillis) {
    this.settings = settings;
    clock = () -> lastMillis;
    lastMillis = nowMillis;
    seat = seat(automata);
  }

  /**
   * @param clock the clock of all calls. If it is guarded, it must know how late an answer is
   */
  ClusteredCoordinator(SharedAutomata automata, Settings settings, LongSupplier clock) {
    this.settings = settings;
    this.clock = clock;
    lastMillis = clock.getAsLong();
    seat = seat(automata);
  }

  private Seat seat(SharedAutomata automata) {
    return new Seat(automata, automata.listen(this::head), automata.member());
  }

  /** Goes on with other automata after this process has joined the cluster again. */
  public void use(SharedAutomata automata, long nowMillis) {
    lastMillis = nowMillis;
    Seat old = seat;
    seat = seat(automata);
    old.automata.forget(old.number);
    for (SharedTicket ticket : tickets.values()) {
      if (ticket.awaitsItsTurn()) {
        ask(ticket, nowMillis);
      }
    }
  }

  private SharedClaim claim(Seat at, Worker worker, long token, long after) {
    long own = (long) at.number << NUMBER_SHIFT | plain(token);
    Worker there = new Worker(at.member, worker.shard(), worker.work());
    // No two requests for one ticket have the same time.
    long waitsUntil = Math.max(after + 1, at.automata.nowMillis() + settings.waitsMillis());
    return new SharedClaim(there, own, settings.headMillisMax, waitsUntil);
  }

  private static long plain(long token) {
    return token & (1L << NUMBER_SHIFT) - 1;
  }

  @Override
  public Ticket<DedupKey> enQueue(DedupKey key, Worker worker, long nowMillis) {
    lastMillis = nowMillis;
    long token = sequence.incrementAndGet();
    SharedTicket ticket = new SharedTicket(key, worker, claim(seat, worker, token, 0), nowMillis);
    tickets.put(plain(token), ticket);
    ask(ticket, nowMillis);
    return ticket;
  }

  private void ask(SharedTicket ticket, long nowMillis) {
    Seat at = seat;
    SharedClaim claim;
    synchronized (ticket) {
      claim = claim(at, ticket.worker(), ticket.token(), ticket.claim.waitsUntilMillis());
      ticket.asking = true;
      ticket.asks++;
      ticket.askedMillis = nowMillis;
      ticket.claim = claim;
    }
    at.automata
        .step(new Step(Step.Kind.ENQUEUE, ticket.key(), claim))
        .whenComplete((reply, failure) -> answered(at, ticket, claim, reply, failure));
  }

  /**
   * @param reply null if none came
   */
  private void answered(
      Seat at,
      SharedTicket ticket,
      SharedClaim claim,
      @Nullable StepReply reply,
      @Nullable Throwable failure) {
    long nowMillis = clock.getAsLong();
    long since =
        reply == null ? 0 : since(at, reply, settings.guarded ? ticket.askedMillis : nowMillis);
    Answer outcome = null;
    boolean leave;
    boolean remind = false;
    boolean again = false;
    synchronized (ticket) {
      if (ticket.claim != claim) {
        // Another request is under way, over a later connection.
        return;
      }
      ticket.asking = false;
      leave = ticket.leaving != null;
      if (reply != null && !leave) {
        ticket.heardMillis = nowMillis;
        boolean late =
            settings.guarded
                && reply.answer() == Answer.ACCEPT
                && nowMillis - ticket.askedMillis >= at.automata.silentMillisMax();
        if (late) {
          again = at == seat;
        } else {
          ticket.sinceMillis = since;
          outcome = apply(ticket, Objects.requireNonNull(reply.answer()));
          remind = ticket.stage == SharedTicket.Stage.WAITING;
          again = remind && ticket.headMessage;
        }
      }
      ticket.headMessage = false;
    }
    if (reply != null) {
      evicted.add(reply.evicted());
    }
    if (leave) {
      leave(ticket);
    } else if (outcome != null) {
      ticket.complete(outcome);
    } else if (remind) {
      ticket.blocked();
    }
    if (again) {
      ask(ticket, nowMillis);
      return;
    }
    if (settings.guarded
        && failure instanceof RefusedException refused
        && refused.refusal() == Refusal.FORBIDDEN) {
      fail(ticket, refused);
      return;
    }
    // Tells the head at each repeated request: so its process finds a claim that it does not know.
    if (reply != null
        && remind
        && reply.head() != null
        && (ticket.asks > 1 || reply.evicted() > 0)) {
      tell(ticket.key(), reply.head());
    }
  }

  /**
   * Since when the head has worked, by the clock of this process.
   *
   * @param nowMillis now; or when the question was sent, for a time that is surely not too late:
   *     this process may know the time of the cluster late, by as long as answers took
   */
  private static long since(Seat at, StepReply reply, long nowMillis) {
    return reply.head() == null
        ? nowMillis
        : nowMillis - Math.max(0, at.automata.nowMillis() - reply.head().sinceMillis);
  }

  /** Ends a request that awaits its turn, and gives back the place that it may have. */
  private void fail(SharedTicket ticket, RefusedException why) {
    boolean leave;
    synchronized (ticket) {
      if (ticket.leaving != null || !ticket.awaitsItsTurn()) {
        return;
      }
      ticket.stage = SharedTicket.Stage.OVER;
      ticket.leaving = new CompletableFuture<>();
      leave = !ticket.asking;
    }
    tickets.remove(plain(ticket.token()));
    ticket.fail(why);
    if (leave) {
      leave(ticket);
    }
  }

  /** Notes an answer. Returns the outcome of the ticket if it is decided now, otherwise null. */
  private @Nullable Answer apply(SharedTicket ticket, Answer answer) {
    boolean first = ticket.answer() == null;
    if (first) {
      ticket.answer = answer;
      (answer == Answer.ACCEPT ? accepted : answer == Answer.BLOCK ? blocked : declined)
          .increment();
    }
    if (!ticket.awaitsItsTurn()) {
      return null;
    }
    return switch (answer) {
      case ACCEPT -> {
        ticket.stage = SharedTicket.Stage.AT_WORK;
        yield answer;
      }
      case BLOCK -> {
        ticket.stage = SharedTicket.Stage.WAITING;
        yield null;
      }
      case DECLINE -> {
        ticket.stage = SharedTicket.Stage.OVER;
        tickets.remove(plain(ticket.token()));
        evicted.add(first ? 0 : 1);
        yield answer;
      }
    };
  }

  /**
   * The cluster says that a claim of this process is the head. The message may be old, and the map
   * lost since then: if a request is under way, or was answered after the one that made it the
   * head, the claim may wait again. Then the answer to that request or another one decides.
   */
  private void head(DedupKey key, long token, long waitsUntilMillis) {
    SharedTicket ticket = tickets.get(plain(token));
    if (ticket == null) {
      giveBackUnknown(key, token);
      return;
    }
    boolean begins;
    boolean asks;
    synchronized (ticket) {
      boolean turn =
          ticket.claim.token == token && ticket.leaving == null && ticket.awaitsItsTurn();
      begins =
          turn
              && !settings.guarded
              && !ticket.asking
              && ticket.claim.waitsUntilMillis() == waitsUntilMillis;
      asks = turn && !ticket.asking && !begins;
      ticket.headMessage |= turn && ticket.asking;
      if (begins) {
        ticket.stage = SharedTicket.Stage.AT_WORK;
      }
    }
    if (begins) {
      ticket.complete(Answer.ACCEPT);
    } else if (asks) {
      ask(ticket, clock.getAsLong());
    }
  }

  private void giveBackUnknown(DedupKey key, long token) {
    Seat now = seat;
    SharedClaim unknown =
        new SharedClaim(
            new Worker(now.member, settings.guarded ? Worker.SERVICE : 0, 0),
            token,
            settings.headMillisMax,
            0);
    now.automata
        .step(new Step(Step.Kind.DEQUEUE, key, unknown))
        .thenAccept(reply -> tellNext(key, reply));
  }

  @Override
  public CompletionStage<Departure> deQueue(Ticket<DedupKey> given, long nowMillis) {
    lastMillis = nowMillis;
    SharedTicket ticket = (SharedTicket) given;
    boolean leave;
    synchronized (ticket) {
      if (ticket.leaving != null) {
        return ticket.leaving;
      }
      ticket.leaving = new CompletableFuture<>();
      if (ticket.stage == SharedTicket.Stage.OVER) {
        ticket.leaving.complete(Departure.NOT_HEAD);
        return ticket.leaving;
      }
      // Giving back must not overtake the request for the place.
      leave = !ticket.asking;
    }
    tickets.remove(plain(ticket.token()));
    if (leave) {
      leave(ticket);
    }
    return ticket.leaving;
  }

  private void leave(SharedTicket ticket) {
    SharedClaim claim;
    boolean worked;
    int tries;
    CompletableFuture<Departure> leaving;
    synchronized (ticket) {
      claim = ticket.claim;
      worked = ticket.stage == SharedTicket.Stage.AT_WORK;
      tries = ++ticket.leaveTries;
      leaving = Objects.requireNonNull(ticket.leaving);
    }
    seat.automata
        .step(new Step(Step.Kind.DEQUEUE, ticket.key(), claim))
        .whenComplete(
            (reply, failure) -> {
              if (failure != null) {
                if (tries < LEAVE_TRIES_MAX) {
                  unleft.add(ticket);
                } else {
                  leaving.complete(Departure.UNKNOWN);
                }
                return;
              }
              Departure departure = reply.departure();
              if (worked && departure == Departure.NOT_HEAD) {
                if (tries == 1) {
                  lost.increment();
                } else {
                  // A former attempt may have given it back.
                  departure = Departure.UNKNOWN;
                }
              }
              tellNext(ticket.key(), reply);
              leaving.complete(departure);
            });
  }

  private void tellNext(DedupKey key, StepReply reply) {
    if (reply.head() != null && reply.departure() != Departure.LEFT_QUEUE) {
      tell(key, reply.head());
    }
  }

  private void tell(DedupKey key, SharedClaim head) {
    Seat now = seat;
    boolean ours =
        head.worker.member().equals(now.member) && head.token >>> NUMBER_SHIFT == now.number;
    if (ours) {
      head(key, head.token, head.waitsUntilMillis());
    } else {
      now.automata.tell(key, head);
    }
  }

  @Override
  public void tick(long nowMillis) {
    lastMillis = nowMillis;
    for (int i = unleft.size(); i > 0; i--) {
      SharedTicket ticket = unleft.poll();
      if (ticket != null) {
        leave(ticket);
      }
    }
    for (SharedTicket ticket : tickets.values()) {
      look(ticket, nowMillis);
    }
  }

  private void look(SharedTicket ticket, long nowMillis) {
    boolean ask;
    boolean goesAhead;
    synchronized (ticket) {
      boolean pending = ticket.leaving == null && ticket.awaitsItsTurn();
      long silent = nowMillis - ticket.heardMillis;
      long asked = nowMillis - ticket.askedMillis;
      goesAhead =
          pending
              && silent >= settings.unguardedMillis
              && (settings.guarded || asked >= settings.waitsMillis() + settings.spareMillis());
      ask =
          pending
              && silent < settings.asksMillis()
              && !ticket.asking
              && asked >= settings.askAgainMillis;
      if (goesAhead && !settings.guarded) {
        ticket.stage = SharedTicket.Stage.AT_WORK;
      }
    }
    if (goesAhead && settings.guarded) {
      fail(
          ticket,
          Refusal.UNAVAILABLE.error(
              "the cluster has not answered for %s ms", settings.unguardedMillis));
    } else if (goesAhead) {
      unguarded.increment();
      ticket.complete(Answer.ACCEPT);
    } else if (ask) {
      ask(ticket, nowMillis);
    }
  }

  /** Gives back every place. Call it when the user of the coordinator ends. */
  public void close(long nowMillis) {
    for (SharedTicket ticket : tickets.values()) {
      if (settings.guarded) {
        fail(ticket, Refusal.UNAVAILABLE.error("it was closed"));
      }
      deQueue(ticket, nowMillis);
    }
    seat.automata.forget(seat.number);
  }

  @Override
  public DedupFigures figures() {
    long processing = 0;
    long waiting = 0;
    for (SharedTicket ticket : tickets.values()) {
      synchronized (ticket) {
        processing += ticket.stage == SharedTicket.Stage.AT_WORK ? 1 : 0;
        waiting += ticket.stage == SharedTicket.Stage.WAITING ? 1 : 0;
      }
    }
    return new DedupFigures(
        accepted.sum(),
        blocked.sum(),
        declined.sum(),
        evicted.sum(),
        lost.sum(),
        seat.automata.overflowed(),
        unguarded.sum(),
        processing,
        waiting,
        processing);
  }
}
