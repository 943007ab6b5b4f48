package dev.evenkeel.dedup;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The automata of a cluster, as one process uses them. What it asks may be lost, done twice, or
 * forgotten by the cluster; so:
 *
 * <ul>
 *   <li>Who waits is woken by a message, and asks again every {@link Settings#askAgainMillis}
 *       besides. The same request again answers the same, and ACCEPT if the place ahead is empty by
 *       now.
 *   <li>Where nothing answers for {@link Settings#unguardedMillis}, the request goes ahead without.
 *       Nobody may be declined for its sake then: so each request says until when it surely waits,
 *       and none is sent shortly before it goes ahead.
 *   <li>A process that is told that a claim is the head which it does not know (a step that ran
 *       late, or whose giving back was lost) gives it back.
 * </ul>
 *
 * <p>It does not bound how many tickets there are: that is the caller's number of messages in hand.
 */
public final class ClusteredCoordinator implements QueueCoordinator<DedupKey> {
  /** Tries of one giving back; after them others find the place empty by asking. */
  private static final int LEAVE_TRIES_MAX = 10;

  private static final int NUMBER_SHIFT = 48;

  /**
   * Times.
   *
   * @param headMillisMax a head that has not finished for so long is evicted
   * @param askAgainMillis a waiter asks again after so long
   * @param unguardedMillis a request goes ahead when nothing was heard for so long
   */
  public record Settings(long headMillisMax, long askAgainMillis, long unguardedMillis) {
    /** Asks again after 2 s, goes ahead after 10. */
    public static Settings of(long headMillisMax) {
      return new Settings(headMillisMax, 2_000, 10_000);
    }

    /** So long after it asked last, a waiter surely waits: longer than until it asks again. */
    long waitsMillis() {
      return unguardedMillis * 2 / 5;
    }

    /** It goes ahead so much later, for the clocks of processes differ a little. */
    long spareMillis() {
      return unguardedMillis / 10;
    }

    /** When nothing was heard for so long, it asks no more. */
    long asksMillis() {
      return unguardedMillis - waitsMillis() - spareMillis();
    }
  }

  /** An attachment to the cluster; another after each join. */
  private record Seat(SharedAutomata automata, int number, String member) {}

  private final Settings settings;
  private final AtomicLong sequence = new AtomicLong();

  /** Tickets that have or want a place, by the lower bits of their tokens. */
  private final Map<Long, SharedTicket> tickets = new ConcurrentHashMap<>();

  /** Those whose giving back has failed. */
  private final ConcurrentLinkedQueue<SharedTicket> unleft = new ConcurrentLinkedQueue<>();

  private final LongAdder accepted = new LongAdder();
  private final LongAdder blocked = new LongAdder();
  private final LongAdder declined = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder unguarded = new LongAdder();
  private volatile Seat seat;

  /** The time of the last call, for answers that come between. */
  private volatile long lastMillis;

  public ClusteredCoordinator(SharedAutomata automata, Settings settings, long nowMillis) {
    this.settings = settings;
    lastMillis = nowMillis;
    seat = seat(automata);
  }

  private Seat seat(SharedAutomata automata) {
    return new Seat(automata, automata.listen(this::head), automata.member());
  }

  /** Goes on with another attachment, after this process has joined the cluster afresh. */
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
    // No two requests for a ticket have the same.
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
        .whenComplete((reply, failure) -> answered(ticket, claim, reply));
  }

  /**
   * @param reply null: none came
   */
  private void answered(SharedTicket ticket, SharedClaim claim, StepReply reply) {
    Answer outcome = null;
    boolean leave;
    boolean remind = false;
    boolean again = false;
    synchronized (ticket) {
      if (ticket.claim != claim) {
        // Another request is under way, of a later attachment.
        return;
      }
      ticket.asking = false;
      leave = ticket.leaving != null;
      if (reply != null && !leave) {
        ticket.heardMillis = lastMillis;
        outcome = apply(ticket, reply.answer());
        remind = ticket.stage == SharedTicket.Stage.WAITING;
        again = remind && ticket.told;
      }
      ticket.told = false;
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
      ask(ticket, lastMillis);
      return;
    }
    // Once for each time it is asked: a head that its own process does not know is found so.
    if (remind && reply.head() != null && (ticket.asks > 1 || reply.evicted() > 0)) {
      tell(ticket.key(), reply.head());
    }
  }

  /** Returns the ticket's outcome if it is clear now, else null. */
  private Answer apply(SharedTicket ticket, Answer answer) {
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
   * The cluster says that a claim of ours is the head. That may be long ago, and the map lost since
   * then: if a request is under way, or was answered after the one that made it the head, it may
   * wait again. Then the answer counts, or that of another request.
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
      begins = turn && !ticket.asking && ticket.claim.waitsUntilMillis() == waitsUntilMillis;
      asks = turn && !ticket.asking && !begins;
      ticket.told |= turn && ticket.asking;
      if (begins) {
        ticket.stage = SharedTicket.Stage.AT_WORK;
      }
    }
    if (begins) {
      ticket.complete(Answer.ACCEPT);
    } else if (asks) {
      ask(ticket, lastMillis);
    }
  }

  private void giveBackUnknown(DedupKey key, long token) {
    Seat now = seat;
    SharedClaim unknown =
        new SharedClaim(new Worker(now.member, 0), token, settings.headMillisMax, 0);
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
      // It must not overtake the request for the place.
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
    synchronized (ticket) {
      claim = ticket.claim;
      worked = ticket.stage == SharedTicket.Stage.AT_WORK;
      tries = ++ticket.leaveTries;
    }
    seat.automata
        .step(new Step(Step.Kind.DEQUEUE, ticket.key(), claim))
        .whenComplete(
            (reply, failure) -> {
              if (failure != null) {
                if (tries < LEAVE_TRIES_MAX) {
                  unleft.add(ticket);
                } else {
                  ticket.leaving.complete(Departure.NOT_HEAD);
                }
                return;
              }
              // One that was tried before may have been done then.
              if (worked && tries == 1 && reply.departure() == Departure.NOT_HEAD) {
                lost.increment();
              }
              tellNext(ticket.key(), reply);
              ticket.leaving.complete(reply.departure());
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
              && asked >= settings.waitsMillis() + settings.spareMillis();
      ask =
          pending
              && silent < settings.asksMillis()
              && !ticket.asking
              && asked >= settings.askAgainMillis;
      if (goesAhead) {
        ticket.stage = SharedTicket.Stage.AT_WORK;
      }
    }
    if (goesAhead) {
      unguarded.increment();
      ticket.complete(Answer.ACCEPT);
    } else if (ask) {
      ask(ticket, nowMillis);
    }
  }

  @Override
  public CompletionStage<Integer> sweep(long nowMillis, Set<String> alive) {
    lastMillis = nowMillis;
    return seat.automata
        .sweep(alive)
        .thenApply(
            count -> {
              evicted.add(count);
              return count;
            });
  }

  /** Gives back every place; for the end of its user. */
  public void close(long nowMillis) {
    for (SharedTicket ticket : tickets.values()) {
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
