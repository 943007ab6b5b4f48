package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many members died that had a message in hand, for each message. The count of a message stays
 * when it fails, and when its delivery is given back. The log gets the highest count of each shard,
 * for the dispatchers after this one.
 */
final class Deaths {
  /** Most messages whose deaths are counted. */
  private static final int MESSAGES_MAX = 100_000;

  private final MessageMap<Integer> counts = new MessageMap<>(MESSAGES_MAX);

  /** What the log knew when this dispatcher got the shard. */
  private final Map<Shard, Crashes> former = new HashMap<>();

  /** What the log knows now. */
  private final Map<Shard, Crashes> recorded = new HashMap<>();

  /**
   * The dispatcher has got the shard.
   *
   * @param crashes what the log knows; null: nothing
   */
  void assigned(Shard shard, @Nullable Crashes crashes) {
    forget(shard);
    if (crashes != null) {
      former.put(shard, crashes);
      recorded.put(shard, crashes);
    }
  }

  /** The shard has another owner. */
  void forget(Shard shard) {
    counts.dropBelow(shard, Long.MAX_VALUE);
    former.remove(shard);
    recorded.remove(shard);
  }

  /** The group has committed {@code offset} of the shard. */
  void committed(Shard shard, long offset) {
    former.computeIfPresent(shard, (any, of) -> of.until() <= offset ? null : of);
    recorded.computeIfPresent(shard, (any, of) -> of.until() <= offset ? null : of);
  }

  /** How many members died that had the message in hand. */
  int of(MessageId id) {
    Integer counted = counts.get(id);
    return counted == null ? before(id) : counted;
  }

  /** Under former dispatchers. */
  private int before(MessageId id) {
    Crashes of = former.isEmpty() ? null : former.get(id.shard());
    if (of == null || id.offset() < of.offset() || id.offset() >= of.until()) {
      return 0;
    }
    // Only one message can have been in hand at the later deaths.
    return id.offset() == of.offset() ? of.count() : Math.min(of.count(), Crashes.CAREFUL_FROM);
  }

  /** Whether the log names this message itself. */
  private boolean isFirst(MessageId id) {
    Crashes of = former.get(id.shard());
    return of != null && of.offset() == id.offset();
  }

  /** A member has died that had the message in hand. Returns how many have. */
  int died(MessageId id) {
    // The first death that names it alone: those before may all be due to others.
    boolean named = counts.get(id) == null && !isFirst(id) && of(id) == Crashes.CAREFUL_FROM;
    int deaths = named ? Crashes.CAREFUL_FROM : of(id) + 1;
    counts.remove(id);
    counts.add(id, deaths);
    return deaths;
  }

  /** The message is over: if it comes again, it is counted anew. */
  void over(MessageId id) {
    counts.remove(id);
    Shard shard = id.shard();
    former.computeIfPresent(shard, (any, of) -> of.offset() == id.offset() ? behind(of) : of);
    Crashes known = recorded.get(shard);
    if (known != null
        && !former.containsKey(shard)
        && counts.of(shard, known.offset(), known.until()).isEmpty()) {
      recorded.remove(shard);
    }
  }

  /** What is left if the first of them is over; null: nothing. */
  private static @Nullable Crashes behind(Crashes of) {
    long next = of.offset() + 1;
    int count = Math.min(of.count(), Crashes.CAREFUL_FROM);
    return next < of.until() ? new Crashes(next, count, of.until(), -1) : null;
  }

  /** What the log is to know of the shard now; null: it does already, or knows of more deaths. */
  Outcome.@Nullable Died toRecord(Shard shard) {
    long first = -1;
    long last = -1;
    int most = 0;
    for (Map.Entry<MessageId, Integer> each : counts.of(shard, 0, Long.MAX_VALUE).entrySet()) {
      if (each.getValue() > most) {
        most = each.getValue();
        first = each.getKey().offset();
      }
      if (each.getValue() == most) {
        last = each.getKey().offset();
      }
    }
    Crashes known = recorded.get(shard);
    if (most == 0 || known != null && known.count() > most) {
      return null;
    }
    // With more deaths than that, a message was in hand alone.
    long until = (most > Crashes.CAREFUL_FROM ? first : last) + 1;
    Crashes now = new Crashes(first, most, until, -1);
    recorded.put(shard, now);
    return now.equals(known) ? null : new Outcome.Died(first, most, until);
  }
}
