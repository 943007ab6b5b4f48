package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.RefusedException.QuotaReached;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How much one request may hold, and when to send again, as quotas said when they refused one. A
 * batch that cannot be divided is sent alone, whatever it costs: the node saves for it as long as
 * it is sent again and again, see ADR 38. Nodes save for one request of a sender at a time, so the
 * places from which such batches come take turns.
 */
public final class RequestLimits {
  /** After this time without a refusal, more is sent at once again. */
  public static final long KEPT_MILLIS = 30_000;

  /** A place that does not ask for this time has nothing more to send. */
  private static final long TURN_MILLIS_MAX = 2 * QuotaReached.PAUSE_MILLIS_MAX;

  private long limitedMillis = Long.MIN_VALUE / 2;
  private long messagesMax = Long.MAX_VALUE;
  private long bytesMax = Long.MAX_VALUE;

  /** Places with a batch that is too large, by when they last asked, in their turns. */
  private final Map<Object, Long> places = new LinkedHashMap<>();

  /** The place whose turn it is, or null. */
  private Object turn;

  private long turnMillis;

  /**
   * A quota refused a request.
   *
   * @return how long to wait before it is sent again
   */
  public long refused(QuotaReached why, long nowMillis) {
    boolean tooLarge = why.messagesMax() != Long.MAX_VALUE || why.bytesMax() != Long.MAX_VALUE;
    if (tooLarge) {
      // Of several quotas, the lowest counts.
      boolean limited = isLimited(nowMillis);
      messagesMax = limited ? Math.min(messagesMax, why.messagesMax()) : why.messagesMax();
      bytesMax = limited ? Math.min(bytesMax, why.bytesMax()) : why.bytesMax();
      limitedMillis = nowMillis;
    }
    return why.pauseMillis();
  }

  /**
   * Whether a batch that cannot be divided may be sent now.
   *
   * @param place from which it comes; {@link #over} ends its turn
   */
  public boolean admits(Object place, long messages, long bytes, long nowMillis) {
    if (!isTooLarge(messages, bytes, nowMillis)) {
      return true;
    }
    places.put(place, nowMillis);
    if (turn == null || nowMillis - turnMillis >= TURN_MILLIS_MAX) {
      places.remove(turn);
      places.values().removeIf(asked -> nowMillis - asked >= TURN_MILLIS_MAX);
      places.putIfAbsent(place, nowMillis);
      turn = places.keySet().iterator().next();
      turnMillis = nowMillis;
    }
    if (!place.equals(turn)) {
      return false;
    }
    turnMillis = nowMillis;
    return true;
  }

  /** What that place has sent was answered, and not by a quota. */
  public void over(Object place) {
    if (place.equals(turn)) {
      turn = null;
      places.remove(place);
    }
  }

  /** Whether quotas have to save for such a request. */
  public boolean isTooLarge(long messages, long bytes, long nowMillis) {
    return messages > messagesMax(nowMillis) || bytes > bytesMax(nowMillis);
  }

  /** Whether a quota refused a request lately because it was too large. */
  public boolean isLimited(long nowMillis) {
    return nowMillis - limitedMillis < KEPT_MILLIS;
  }

  /** Most messages of a request. */
  public long messagesMax(long nowMillis) {
    return isLimited(nowMillis) ? messagesMax : Long.MAX_VALUE;
  }

  /** Most bytes of a request. */
  public long bytesMax(long nowMillis) {
    return isLimited(nowMillis) ? bytesMax : Long.MAX_VALUE;
  }
}
