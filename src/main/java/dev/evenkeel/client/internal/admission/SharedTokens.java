package dev.evenkeel.client.internal.admission;

import dev.evenkeel.bus.rate.OwnShare;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;

/**
 * This member's part of the rate at which all members of its group together start messages. It asks
 * the coordinator of rates for a slice of time when a message is ready and a handler is free, and
 * may then start that many messages.
 *
 * <pre>
 * no rate                                                    -> messages start at once
 * a message is ready, no token is left                       -> asks for a slice, one at a time
 * granted, starts after a delay                              -> that many messages start
 * not granted: the next 1 s belongs to others                -> asks again later
 * no answer                                                  -> goes on at its share, see {@link OwnShare}
 * a slice is not spent within {@link #UNSPENT_NANOS} of its start -> the rest is lost, the next is smaller
 * </pre>
 *
 * <p>A slice is worth {@link #SLICE_NANOS} at most, and grows from one token as slices are spent.
 * So what a member has and never spends, because it dies or its shards move, is little.
 *
 * <p>{@code now} is a monotonic clock in nanoseconds. All calls come from one thread at a time.
 */
public final class SharedTokens {
  static final long SLICE_NANOS = 50_000_000;
  static final long UNSPENT_NANOS = 150_000_000;

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int WAIT_MILLIS_MAX = 1_000;
  private static final long WAIT_NANOS_MAX = WAIT_MILLIS_MAX * NANOS_PER_MILLI;

  /** After a failure it waits this long before it states its rate again. */
  private static final long PAUSE_NANOS = 300 * NANOS_PER_MILLI;

  private final Quota.Key key;
  private final OwnShare share = new OwnShare();

  /** What the group's rate shall be; null: this member does not say, or has said. */
  private Quota stated;

  /** Whether the group has a rate, as far as this member knows. */
  private boolean limited;

  private long tokens;
  private long startNanos;
  private long used;
  private long slice = 1;

  /** A message is ready and found no token. */
  private boolean wanted;

  /** What was asked for and not answered; null: nothing. */
  private ReserveRequest asked;

  private long askAtNanos = Long.MIN_VALUE;

  /**
   * @param rate what the group's rate shall be from now on; null: as it is
   */
  public SharedTokens(String group, Rate rate) {
    key = new Quota.Key(QuotaKind.GROUP_RATE, group);
    stated =
        rate == null ? null : new Quota(key.kind(), group, 0, rate.permits(), rate.periodMillis());
    limited = rate != null;
  }

  /** The dispatcher says whether the group has a rate. */
  public void limited(boolean now) {
    if (stated == null) {
      limited = now;
    }
  }

  // For the gate

  /** Whether a message may start now. If not, it is noted that one is ready. */
  boolean available(long now) {
    if (!limited) {
      return true;
    }
    expire(now);
    boolean there = tokens > 0 && now >= startNanos;
    wanted |= !there;
    return there;
  }

  /** A message starts. */
  void take() {
    if (limited) {
      tokens--;
      used++;
      wanted = false;
    }
  }

  private void expire(long now) {
    if (tokens > 0 && now >= startNanos + UNSPENT_NANOS) {
      slice = Math.max(1, used);
      tokens = 0;
    }
  }

  /** When a message may start, or this member may ask again; {@code Long.MAX_VALUE}: unknown. */
  long dueNanos() {
    if (!limited || tokens > 0) {
      return limited ? startNanos : Long.MIN_VALUE;
    }
    return asked == null ? askAtNanos : Long.MAX_VALUE;
  }

  /** Whether no message may start before that time, as far as is known. */
  boolean isAfter(long nanos) {
    return limited && dueNanos() > nanos && dueNanos() != Long.MAX_VALUE;
  }

  // For whoever sends requests

  /**
   * What to ask the coordinator now, or null. If the coordinator does not answer, it may take some
   * tokens by itself, see {@link #dueNanos}.
   */
  public ReserveRequest ask(long now) {
    expire(now);
    boolean needed = limited && wanted && tokens <= 0;
    ReserveRequest request = null;
    if (asked == null && stated != null) {
      if (now >= askAtNanos) {
        request = new ReserveRequest(key, 0, 0, ReserveRequest.ANY_WAIT, stated);
      }
    } else if (asked == null && needed && share.lookDue(now)) {
      share.looking(now);
      request = new ReserveRequest(key, 0, 0, ReserveRequest.ANY_WAIT, null);
    } else if (asked == null && needed && !share.alone() && now >= askAtNanos) {
      grow();
      request = new ReserveRequest(key, 0, slice, WAIT_MILLIS_MAX, null);
    }
    if (needed && share.alone()) {
      grow();
      start(now, share.spendNanos(now, quota(), 0, slice));
    }
    if (request != null) {
      asked = request;
    }
    return request;
  }

  /** The last answer's rate, or else the one that this member wants. */
  private Quota quota() {
    Quota known = share.quota();
    if (known != null && !known.isNone()) {
      return known;
    }
    return stated != null ? stated : new Quota(key.kind(), key.name(), 0, 1, 1_000);
  }

  /** A slice that was spent makes the next one larger. */
  private void grow() {
    if (used >= slice) {
      slice *= 2;
    }
    slice = Math.min(slice, quota().messagesIn(SLICE_NANOS));
  }

  private void start(long now, long delayNanos) {
    tokens = slice;
    used = 0;
    startNanos = now + delayNanos;
  }

  /** The coordinator has answered. */
  public void answered(long now, Reservation given) {
    ReserveRequest request = asked;
    asked = null;
    share.heard(now, given.quota(), 0, given.granted() ? request.messages() : 0);
    limited = !given.quota().isNone();
    askAtNanos = now;
    if (request.stated() != null) {
      stated = null;
    } else if (!given.granted()) {
      // Others, who were refused too, will not all ask at the same moment.
      askAtNanos = now + Math.max(given.delayNanos() - WAIT_NANOS_MAX, given.delayNanos() / 4);
    } else if (request.messages() > 0) {
      start(now, given.delayNanos());
    }
  }

  /**
   * The coordinator has not answered, or has refused.
   *
   * @return whether asking again is of use
   */
  public boolean failed(long now, Refusal refusal) {
    asked = null;
    share.lost(now);
    askAtNanos = now + PAUSE_NANOS;
    return refusal.retriable();
  }
}
