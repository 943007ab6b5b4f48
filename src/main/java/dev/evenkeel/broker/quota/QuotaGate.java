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
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes appends wait for their quotas. Each quota has a line of its own, first come, first served.
 * For the front of the line the gate asks the coordinator of rates, for at most {@link
 * #SLICE_NANOS} worth at a time, and has one request under way for each line. So an idle quota
 * costs a request one question to the coordinator, and a busy one about ten questions per second
 * and node.
 *
 * <pre>
 * no quota                                                         -> passes at once
 * the line is too long, or the coordinator has no time soon        -> refused OVERLOADED, nothing spent
 * else waits in line -> asked for -> granted, starts after a delay -> passes
 * the coordinator does not answer -> goes on at this node's share, see {@link OwnShare}
 * </pre>
 *
 * <p>Once a line is too long, it takes nobody until it is half as long: a producer that was refused
 * then sends again in order, and not behind requests that came later.
 *
 * <p>Runs on one context.
 */
public final class QuotaGate {
  /** The coordinator grants nothing that starts later, and no line takes longer. */
  public static final long WAIT_NANOS_MAX = 1_000_000_000;

  /** Most that one question asks for, except for a single request. */
  static final long SLICE_NANOS = 100_000_000;

  /** A node counts on this part of a quota for a line that has just begun. */
  private static final double SHARE_EXPECTED = 0.5;

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int WAIT_MILLIS_MAX = (int) (WAIT_NANOS_MAX / NANOS_PER_MILLI);

  private record Demand(long bytes, long messages, long sinceNanos, Promise<Void> promise) {}

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
   * Waits until so much may be spent. Those who ask for the same quota pass in their order.
   *
   * @return fails with {@link RefusedException} OVERLOADED if that takes too long
   */
  public Future<Void> pass(Quota.Key key, long bytes, long messages) {
    if (!holds(key)) {
      return Future.succeededFuture();
    }
    return lines.computeIfAbsent(key, Line::new).pass(bytes, messages);
  }

  private final class Line {
    private final Quota.Key key;
    private final Deque<Demand> waiting = new ArrayDeque<>();
    private final OwnShare share = new OwnShare();
    private long bytes;
    private long messages;

    /** A part of the line is asked for, or waits for its start. */
    private boolean busy;

    private boolean full;

    Line(Quota.Key key) {
      this.key = key;
    }

    Future<Void> pass(long moreBytes, long moreMessages) {
      Quota quota = port.quota(key);
      if (quota != null && !waiting.isEmpty()) {
        long expected = expectedNanos(quota);
        full = expected > (full ? WAIT_NANOS_MAX / 2 : WAIT_NANOS_MAX);
        if (full) {
          return refused(quota, expected);
        }
        if (bytesWaiting + moreBytes > bytesWaitingMax) {
          meters.refused(key.kind());
          return Future.failedFuture(
              OVERLOADED.error("%s bytes wait for quotas on this node: try again", bytesWaiting));
        }
      }
      Demand demand = new Demand(moreBytes, moreMessages, port.nanos(), Promise.promise());
      waiting.add(demand);
      bytes += moreBytes;
      messages += moreMessages;
      bytesWaiting += moreBytes;
      if (!busy) {
        next();
      }
      return demand.promise().future();
    }

    /** How long the line takes, as far as this node can tell. */
    private long expectedNanos(Quota quota) {
      long alone = Math.max(quota.bytesNanos(bytes), quota.messagesNanos(messages));
      return (long) (alone / Math.max(SHARE_EXPECTED, share.share(port.nanos())));
    }

    private Future<Void> refused(Quota quota, long afterNanos) {
      meters.refused(key.kind());
      return Future.failedFuture(
          OVERLOADED.error(
              "the quota of %s is used up (%s): try again after %s ms",
              key, quota.limits(), Math.max(1, afterNanos / NANOS_PER_MILLI)));
    }

    /** Asks for the front of the line. */
    private void next() {
      Quota quota = port.quota(key);
      if (waiting.isEmpty()) {
        if (quota == null) {
          lines.remove(key);
        }
        return;
      }
      busy = true;
      if (quota == null) {
        release(waiting.size());
        return;
      }
      int count = 0;
      long sliceBytes = 0;
      long sliceMessages = 0;
      for (Demand each : waiting) {
        if (count > 0
            && (sliceBytes + each.bytes() > quota.bytesIn(SLICE_NANOS)
                || sliceMessages + each.messages() > quota.messagesIn(SLICE_NANOS))) {
          break;
        }
        count++;
        sliceBytes += each.bytes();
        sliceMessages += each.messages();
      }
      if (share.alone()) {
        look();
        spendOwn(quota, count, sliceBytes, sliceMessages);
      } else {
        ask(quota, count, sliceBytes, sliceMessages);
      }
    }

    private void ask(Quota quota, int count, long sliceBytes, long sliceMessages) {
      port.reserve(new ReserveRequest(key, sliceBytes, sliceMessages, WAIT_MILLIS_MAX, null))
          .onComplete(
              answer -> {
                if (answer.failed()) {
                  meters.unheard();
                  share.lost(port.nanos());
                  spendOwn(quota, count, sliceBytes, sliceMessages);
                  return;
                }
                Reservation given = answer.result();
                if (given.granted()) {
                  share.heard(port.nanos(), given.quota(), sliceBytes, sliceMessages);
                  releaseAfter(given.delayNanos(), count);
                } else {
                  share.heard(port.nanos(), given.quota(), 0, 0);
                  refuseAll(given.quota(), given.delayNanos());
                }
              });
    }

    private void spendOwn(Quota quota, int count, long sliceBytes, long sliceMessages) {
      long delay = share.spendNanos(port.nanos(), quota, sliceBytes, sliceMessages);
      releaseAfter(delay, count);
    }

    /** Finds out whether the coordinator is there again. */
    private void look() {
      if (share.lookDue(port.nanos())) {
        share.looking(port.nanos());
        port.reserve(new ReserveRequest(key, 0, 0, ReserveRequest.ANY_WAIT, null))
            .onSuccess(found -> share.heard(port.nanos(), found.quota(), 0, 0));
      }
    }

    private void releaseAfter(long nanos, int count) {
      if (nanos <= 0) {
        release(count);
      } else {
        port.after(nanos, () -> release(count));
      }
    }

    private void release(int count) {
      long now = port.nanos();
      for (int i = 0; i < count; i++) {
        Demand each = take();
        meters.waited(key.kind(), now - each.sinceNanos());
        each.promise().complete();
      }
      busy = false;
      next();
    }

    private void refuseAll(Quota quota, long afterNanos) {
      while (!waiting.isEmpty()) {
        take().promise().handle(refused(quota, afterNanos));
      }
      busy = false;
      next();
    }

    private Demand take() {
      Demand first = waiting.remove();
      bytes -= first.bytes();
      messages -= first.messages();
      bytesWaiting -= first.bytes();
      return first;
    }
  }
}
