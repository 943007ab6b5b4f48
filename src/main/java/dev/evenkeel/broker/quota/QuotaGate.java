package dev.evenkeel.broker.quota;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;

import dev.evenkeel.bus.rate.OwnShare;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Makes appends wait for their quotas. Each quota has a line, in which each sender has a queue of
 * its own. A request passes when its sender has paid for it. The gate asks the coordinator of rates
 * for {@link #SLICE_NANOS} worth at a time, divides that among all senders that have something to
 * pay, and has one question under way for each line. So nobody waits for what another sender owes,
 * an idle quota costs a request one question, and a busy one about ten questions per second and
 * node.
 *
 * <pre>
 * no quota                                      -> passes at once
 * more than the quota of {@link #WAIT_NANOS_MAX}, not paid yet
 *                                               -> refused OVERLOADED; its sender saves for it
 * the sender's queue is too long, the coordinator has no time soon
 *                                               -> refused OVERLOADED, nothing spent
 * else waits in the queue until it is paid      -> passes
 * the coordinator does not answer               -> goes on at this node's share, see {@link OwnShare}
 * </pre>
 *
 * <p>A sender that was refused a large request divides it, or sends it again until it has saved
 * enough. When the first part comes, what has been saved pays for the parts. Savings that nobody
 * asks for within {@link #SAVED_NANOS} pay for the sender's other requests. What a sender that went
 * has paid is lost.
 *
 * <p>Once a queue is too long, it takes nothing until it is half as long: a producer that was
 * refused then sends again in order, and not behind its own later requests.
 *
 * <p>Runs on one context.
 */
public final class QuotaGate {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The coordinator grants nothing that starts later, and no queue is longer. */
  public static final long WAIT_NANOS_MAX = 1_000_000_000;

  /** Most that one question asks for, except for a single message. */
  static final long SLICE_NANOS = 100_000_000;

  /** If a request is too large, its refusal suggests sending this much at once. */
  static final long PIECE_NANOS = 250_000_000;

  /** What waits for longer is refused, well before its sender stops waiting for an answer. */
  static final long OVERDUE_NANOS = 2_000_000_000;

  /** A sender that has paid a part tries again after this time at the latest. */
  static final long LOOK_AGAIN_NANOS =
      RefusedException.QuotaReached.PAUSE_MILLIS_MAX * NANOS_PER_MILLI;

  /** Savings are kept from one question for them to the next for this long. */
  static final long SAVED_NANOS = 2 * LOOK_AGAIN_NANOS;

  /** Who asks for a large request again after this time has not divided it. */
  private static final long AGAIN_NANOS = 500_000_000;

  /** Most senders of a line with queues of their own; the others share one. */
  static final int SENDERS_MAX = 1_000;

  private static final Object OTHERS = new Object();

  /** A node counts on this part of a quota for a line that has just begun. */
  private static final double SHARE_EXPECTED = 0.5;

  private static final int WAIT_MILLIS_MAX = (int) (WAIT_NANOS_MAX / NANOS_PER_MILLI);

  /**
   * @param paid from savings
   */
  private record Demand(
      long bytes, long messages, boolean paid, long sinceNanos, Promise<Void> promise) {}

  /** A sender's share of a slice. */
  private record Part(Purse purse, long bytes, long messages) {}

  /** What is to be paid, and what was paid of it; or more, if there is something left over. */
  private static final class Purse {
    final Sender owner;
    long bytes;
    long messages;
    long paidBytes;
    long paidMessages;

    /** Has its turn, or waits for it. */
    boolean listed;

    Purse(Sender owner) {
      this.owner = owner;
    }

    long dueBytes() {
      return Math.max(0, bytes - paidBytes);
    }

    long dueMessages() {
      return Math.max(0, messages - paidMessages);
    }

    boolean isDue() {
      return paidBytes < bytes || paidMessages < messages;
    }

    boolean covers(long someBytes, long someMessages) {
      return paidBytes >= someBytes && paidMessages >= someMessages;
    }

    void pay(long moreBytes, long moreMessages) {
      paidBytes += moreBytes;
      paidMessages += moreMessages;
    }

    boolean isEmpty() {
      return bytes == 0 && messages == 0 && paidBytes == 0 && paidMessages == 0;
    }
  }

  private static final class Sender {
    final Deque<Demand> waiting = new ArrayDeque<>();

    /** For what waits. */
    final Purse queue = new Purse(this);

    /** For a large request that was refused. */
    final Purse savings = new Purse(this);

    long askedNanos;
    long savingsAskedNanos;
    boolean full;

    /** It has asked again for what it saves for. */
    boolean cannotDivide;

    boolean isIdle() {
      return waiting.isEmpty() && queue.isEmpty() && savings.isEmpty();
    }

    /** Its other requests get what it has saved. */
    void stopSaving() {
      cannotDivide = false;
      queue.pay(savings.paidBytes, savings.paidMessages);
      savings.bytes = 0;
      savings.messages = 0;
      savings.paidBytes = 0;
      savings.paidMessages = 0;
    }
  }

  private final QuotaPort port;
  private final QuotaMeters meters;
  private final long bytesWaitingMax;
  private final Map<Quota.Key, Line> lines = new HashMap<>();
  private long bytesWaiting;

  /**
   * @param bytesWaitingMax most bytes that wait in all lines
   */
  public QuotaGate(QuotaPort port, QuotaMeters meters, long bytesWaitingMax) {
    this.port = port;
    this.meters = meters;
    this.bytesWaitingMax = bytesWaitingMax;
  }

  /** Whether somebody may have to wait for that quota. */
  public boolean holds(Quota.Key key) {
    return port.quota(key) != null || lines.containsKey(key);
  }

  /**
   * Waits until so much may be spent. The requests of one sender pass in their order.
   *
   * @param sender equal for all requests of a sender
   * @return fails with {@link RefusedException} OVERLOADED if that takes too long
   */
  public Future<Void> pass(Quota.Key key, Object sender, long bytes, long messages) {
    if (!holds(key)) {
      return Future.succeededFuture();
    }
    return lines.computeIfAbsent(key, Line::new).pass(sender, bytes, messages);
  }

  /** What has passed was not spent: the sender has it for its next request. */
  public void giveBack(Quota.Key key, Object sender, long bytes, long messages) {
    Line line = lines.get(key);
    Quota quota = port.quota(key);
    if (line != null && quota != null) {
      line.giveBack(quota, sender, bytes, messages);
    }
  }

  private static long cost(Quota quota, long bytes, long messages) {
    return Math.max(quota.bytesNanos(bytes), quota.messagesNanos(messages));
  }

  private static boolean carries(Quota quota, long bytes, long messages) {
    return bytes <= quota.bytesIn(WAIT_NANOS_MAX) && messages <= quota.messagesIn(WAIT_NANOS_MAX);
  }

  private final class Line {
    private final Quota.Key key;
    private final Map<Object, Sender> senders = new HashMap<>();

    /** Those that have something to pay, except those of the slice under way, in their turns. */
    private final Deque<Purse> turns = new ArrayDeque<>();

    private final OwnShare share = new OwnShare();

    /** A slice is asked for, or waits for its start. */
    private boolean busy;

    private boolean sweeping;

    Line(Quota.Key key) {
      this.key = key;
    }

    private Sender sender(Object name) {
      Object known = senders.size() < SENDERS_MAX || senders.containsKey(name) ? name : OTHERS;
      Sender sender = senders.computeIfAbsent(known, any -> new Sender());
      sender.askedNanos = port.nanos();
      if (!sweeping) {
        sweeping = true;
        port.after(SAVED_NANOS, this::sweep);
      }
      return sender;
    }

    Future<Void> pass(Object name, long bytes, long messages) {
      Quota quota = port.quota(key);
      Sender sender = sender(name);
      boolean paid = false;
      if (quota != null) {
        long line = expectedNanos(quota, sender.queue);
        sender.full =
            !sender.waiting.isEmpty() && line > (sender.full ? WAIT_NANOS_MAX / 2 : WAIT_NANOS_MAX);
        paid = !carries(quota, bytes, messages);
        if (paid) {
          long since = port.nanos() - sender.savingsAskedNanos;
          sender.savingsAskedNanos = port.nanos();
          if (!sender.savings.covers(bytes, messages)) {
            sender.cannotDivide = !sender.savings.isEmpty() && since >= AGAIN_NANOS;
            return save(quota, sender, bytes, messages);
          }
        } else if (!sender.cannotDivide) {
          sender.stopSaving();
        }
        if (isCrowded(sender, bytes) && !(paid && sender.waiting.isEmpty())) {
          meters.refused(key.kind());
          return Future.failedFuture(
              OVERLOADED.error("%s bytes wait for quotas on this node: try again", bytesWaiting));
        }
        if (paid) {
          // What is left is for its next large request.
          sender.savings.pay(-bytes, -messages);
          sender.savings.bytes = 0;
          sender.savings.messages = 0;
        } else if (sender.full) {
          return refused(quota, line, false);
        }
      }
      Demand demand = new Demand(bytes, messages, paid, port.nanos(), Promise.promise());
      sender.waiting.add(demand);
      bytesWaiting += bytes;
      if (!paid) {
        sender.queue.bytes += bytes;
        sender.queue.messages += messages;
      }
      passPaid(sender);
      turn(sender.queue);
      return demand.promise().future();
    }

    /** Half of the room is for senders of which nothing waits yet. */
    private boolean isCrowded(Sender sender, long bytes) {
      long max = sender.waiting.isEmpty() ? bytesWaitingMax : bytesWaitingMax / 2;
      return bytesWaiting > 0 && bytesWaiting + bytes > max;
    }

    /** Has the sender pay for a request that it sends again later. */
    private Future<Void> save(Quota quota, Sender sender, long bytes, long messages) {
      Purse savings = sender.savings;
      savings.bytes = Math.max(savings.bytes, bytes);
      savings.messages = Math.max(savings.messages, messages);
      Future<Void> refused = refused(quota, expectedNanos(quota, savings), true);
      turn(savings);
      return refused;
    }

    void giveBack(Quota quota, Object name, long bytes, long messages) {
      Sender sender = sender(name);
      if (carries(quota, bytes, messages)) {
        sender.queue.pay(bytes, messages);
        passPaid(sender);
      } else {
        sender.savingsAskedNanos = port.nanos();
        sender.savings.pay(bytes, messages);
      }
    }

    /** The purse gets its turn if there is something to pay. */
    private void turn(Purse purse) {
      if (!purse.listed && purse.isDue()) {
        purse.listed = true;
        turns.add(purse);
      }
      if (!busy && (!turns.isEmpty() || port.quota(key) == null)) {
        next();
      }
    }

    /**
     * How long it takes to pay that, as far as this node can tell. No longer than until the sender
     * has to come again, so that it keeps what it has paid.
     */
    private long expectedNanos(Quota quota, Purse purse) {
      double alone = cost(quota, purse.dueBytes(), purse.dueMessages());
      int others = turns.size() + (purse.listed ? 0 : 1);
      double expected =
          alone * Math.max(1, others) / Math.max(SHARE_EXPECTED, share.share(port.nanos()));
      return (long) Math.min(LOOK_AGAIN_NANOS, expected);
    }

    private Future<Void> refused(Quota quota, long afterNanos, boolean tooLarge) {
      meters.refused(key.kind());
      return Future.failedFuture(
          RefusedException.QuotaReached.of(
              "the quota of " + key + " is used up (" + quota.limits() + ")",
              afterNanos / NANOS_PER_MILLI,
              tooLarge ? quota.messagesIn(PIECE_NANOS) : Long.MAX_VALUE,
              tooLarge ? quota.bytesIn(PIECE_NANOS) : Long.MAX_VALUE));
    }

    /** Divides the next slice among those who have something to pay, and asks for it. */
    private void next() {
      Quota quota = port.quota(key);
      if (quota == null) {
        end();
        return;
      }
      busy = true;
      refuseOverdue(quota);
      long bytesLeft = Math.min(ReserveRequest.AMOUNT_MAX, quota.bytesIn(SLICE_NANOS));
      long messagesLeft = Math.min(ReserveRequest.AMOUNT_MAX, quota.messagesIn(SLICE_NANOS));
      long bytes = 0;
      long messages = 0;
      List<Part> parts = new ArrayList<>();
      for (int n = turns.size(); n > 0 && bytesLeft > 0 && messagesLeft > 0; n--) {
        Purse purse = turns.remove();
        Part part =
            new Part(
                purse,
                Math.min(purse.dueBytes(), Math.max(1, bytesLeft / n)),
                Math.min(purse.dueMessages(), Math.max(1, messagesLeft / n)));
        parts.add(part);
        bytes += part.bytes();
        messages += part.messages();
        bytesLeft -= part.bytes();
        messagesLeft -= part.messages();
      }
      if (parts.isEmpty()) {
        busy = false;
        return;
      }
      if (share.alone()) {
        look();
        releaseAfter(share.spendNanos(port.nanos(), quota, bytes, messages), parts);
      } else {
        ask(quota, bytes, messages, parts);
      }
    }

    private void ask(Quota quota, long bytes, long messages, List<Part> parts) {
      port.reserve(new ReserveRequest(key, bytes, messages, WAIT_MILLIS_MAX, null))
          .onComplete(
              answer -> {
                long now = port.nanos();
                if (answer.failed()) {
                  meters.unheard();
                  share.lost(now);
                  releaseAfter(share.spendNanos(now, quota, bytes, messages), parts);
                  return;
                }
                Reservation given = answer.result();
                if (given.granted()) {
                  share.heard(now, given.quota(), bytes, messages);
                  releaseAfter(given.delayNanos(), parts);
                } else {
                  share.heard(now, given.quota(), 0, 0);
                  notNow(given, parts);
                }
              });
    }

    /** Finds out whether the coordinator is there again. */
    private void look() {
      if (share.lookDue(port.nanos())) {
        share.looking(port.nanos());
        port.reserve(new ReserveRequest(key, 0, 0, ReserveRequest.ANY_WAIT, null))
            .onSuccess(found -> share.heard(port.nanos(), found.quota(), 0, 0));
      }
    }

    private void releaseAfter(long nanos, List<Part> parts) {
      if (nanos <= 0) {
        release(parts);
      } else {
        port.after(nanos, () -> release(parts));
      }
    }

    private void release(List<Part> parts) {
      for (Part part : parts) {
        part.purse().pay(part.bytes(), part.messages());
        passPaid(part.purse().owner);
      }
      goOn(parts);
    }

    /**
     * The coordinator gives nothing within a second. Those who save go on, the others come later.
     */
    private void notNow(Reservation given, List<Part> parts) {
      senders.values().forEach(sender -> refuseAll(sender, given.quota(), given.delayNanos()));
      if (parts.stream().noneMatch(part -> part.purse().isDue())
          && turns.stream().noneMatch(Purse::isDue)) {
        goOn(parts);
      } else {
        port.after(Math.min(given.delayNanos(), WAIT_NANOS_MAX), () -> goOn(parts));
      }
    }

    private void goOn(List<Part> parts) {
      for (Part part : parts) {
        part.purse().listed = part.purse().isDue();
        if (part.purse().listed) {
          turns.add(part.purse());
        }
      }
      busy = false;
      next();
    }

    private void passPaid(Sender sender) {
      Demand front = sender.waiting.peek();
      while (front != null
          && (front.paid() || sender.queue.covers(front.bytes(), front.messages()))) {
        take(sender);
        if (!front.paid()) {
          sender.queue.pay(-front.bytes(), -front.messages());
        }
        meters.waited(key.kind(), port.nanos() - front.sinceNanos());
        front.promise().complete();
        front = sender.waiting.peek();
      }
    }

    private void refuseOverdue(Quota quota) {
      long since = port.nanos() - OVERDUE_NANOS;
      for (Purse purse : List.copyOf(turns)) {
        Demand front = purse.owner.waiting.peek();
        if (front != null && front.sinceNanos() <= since) {
          refuseAll(purse.owner, quota, expectedNanos(quota, purse.owner.queue));
          purse.listed = purse.isDue();
          if (!purse.listed) {
            turns.remove(purse);
          }
        }
      }
    }

    /** What the sender has paid of it counts when it comes again. */
    private void refuseAll(Sender sender, Quota quota, long afterNanos) {
      List<Promise<Void>> refused = new ArrayList<>();
      while (!sender.waiting.isEmpty()) {
        Demand each = take(sender);
        if (each.paid()) {
          sender.savingsAskedNanos = port.nanos();
          sender.savings.pay(each.bytes(), each.messages());
        }
        refused.add(each.promise());
      }
      refused.forEach(promise -> promise.handle(refused(quota, afterNanos, false)));
    }

    private Demand take(Sender sender) {
      Demand first = sender.waiting.remove();
      bytesWaiting -= first.bytes();
      if (!first.paid()) {
        sender.queue.bytes -= first.bytes();
        sender.queue.messages -= first.messages();
      }
      return first;
    }

    /** The quota has gone. */
    private void end() {
      lines.remove(key);
      turns.clear();
      for (Sender sender : List.copyOf(senders.values())) {
        while (!sender.waiting.isEmpty()) {
          Demand each = take(sender);
          meters.waited(key.kind(), port.nanos() - each.sinceNanos());
          each.promise().complete();
        }
      }
      senders.clear();
    }

    /** Forgets senders that do not come any more. */
    private void sweep() {
      long since = port.nanos() - SAVED_NANOS;
      for (Iterator<Sender> all = senders.values().iterator(); all.hasNext(); ) {
        Sender sender = all.next();
        if (sender.savingsAskedNanos <= since && !sender.savings.isEmpty()) {
          sender.stopSaving();
          passPaid(sender);
        }
        if (sender.waiting.isEmpty() && (sender.isIdle() || sender.askedNanos <= since)) {
          all.remove();
        }
      }
      sweeping = !senders.isEmpty();
      if (sweeping) {
        port.after(SAVED_NANOS / 2, this::sweep);
      }
    }
  }
}
