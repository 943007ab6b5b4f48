package dev.evenkeel.dedup;

import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The automata of some keys, as one entry of the shared map. Automata in state INIT are dropped at
 * once. Repeated steps change nothing, and the same steps in the same order give the same bucket,
 * so that backups can apply them too. Not safe for use from several threads.
 */
public final class SharedBucket {
  /**
   * The results of steps.
   *
   * @param replies one per step, in the order of the steps
   * @param overflowed how many keys were dropped because there were too many
   */
  public record Replies(List<StepReply> replies, int overflowed) {}

  /**
   * A key that lost claims.
   *
   * @param evicted how many it lost
   * @param head the claim that works on it now
   */
  public record Swept(DedupKey key, int evicted, @Nullable SharedClaim head) {}

  static final int LOOKED_AT_MAX = 1_000;
  static final int HELD_MAX = 64;

  /** In the order of their last use. */
  private final LinkedHashMap<DedupKey, Automaton<SharedClaim>> automata =
      new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Applies {@code steps}, one after another.
   *
   * @param nowMillis time of the clock that this bucket uses for all times
   * @param keysMax most keys; beyond it the least recently used one is dropped
   */
  public Replies apply(List<Step> steps, long nowMillis, int keysMax) {
    List<StepReply> replies = new ArrayList<>(steps.size());
    int overflowed = 0;
    for (Step step : steps) {
      replies.add(apply(step, nowMillis));
      if (automata.size() > keysMax) {
        Iterator<DedupKey> eldest = automata.keySet().iterator();
        eldest.next();
        eldest.remove();
        overflowed++;
      }
    }
    return new Replies(replies, overflowed);
  }

  private StepReply apply(Step step, long nowMillis) {
    Automaton<SharedClaim> kept = automata.get(step.key());
    Automaton<SharedClaim> automaton = kept == null ? new Automaton<>() : kept;
    StepReply reply =
        switch (step.kind()) {
          case ENQUEUE -> enQueue(automaton, step.claim(), nowMillis);
          case DEQUEUE -> {
            Departure departure = automaton.deQueue(step.claim(), nowMillis);
            yield new StepReply(null, departure, 0, automaton.head());
          }
        };
    if (automaton.head() == null) {
      automata.remove(step.key());
    } else if (kept == null) {
      automata.put(step.key(), automaton);
    }
    return reply;
  }

  /** Evicts an overdue head first, unless that one asks again itself. */
  private static StepReply enQueue(
      Automaton<SharedClaim> automaton, SharedClaim claim, long nowMillis) {
    int evicted = claim.same(automaton.head()) ? 0 : evictOverdue(automaton, nowMillis);
    Answer answer = automaton.enQueue(claim, nowMillis);
    return new StepReply(answer, null, evicted, automaton.head());
  }

  private static int evictOverdue(Automaton<SharedClaim> automaton, long nowMillis) {
    SharedClaim head = automaton.head();
    if (head == null || !automaton.overdue(nowMillis, head.headMillisMax)) {
      return 0;
    }
    automaton.evict(nowMillis);
    return 1;
  }

  /** Removes the claims of members that are not alive, and heads that took too long. */
  public List<Swept> sweep(Predicate<String> alive, long nowMillis) {
    return drop(claim -> !alive.test(claim.worker().member()), nowMillis);
  }

  /** As {@link #sweep}, for claims that are dead. */
  public List<Swept> drop(Predicate<SharedClaim> dead, long nowMillis) {
    List<Swept> swept = new ArrayList<>();
    automata.forEach(
        (key, automaton) -> {
          int evicted = automaton.drop(dead, nowMillis) + evictOverdue(automaton, nowMillis);
          if (evicted > 0) {
            swept.add(new Swept(key, evicted, automaton.head()));
          }
        });
    automata.values().removeIf(automaton -> automaton.head() == null);
    return swept;
  }

  /**
   * Keys whose head works since {@code sinceMillisMax} or longer. Looks at {@link #LOOKED_AT_MAX}
   * keys at most, those that were used least recently, and gives {@link #HELD_MAX} of them at most:
   * so it takes no longer if many are in flight.
   */
  public List<KeyInFlight> heldSince(long sinceMillisMax) {
    List<KeyInFlight> held = new ArrayList<>();
    int looked = 0;
    for (Map.Entry<DedupKey, Automaton<SharedClaim>> each : automata.entrySet()) {
      SharedClaim head = Objects.requireNonNull(each.getValue().head());
      if (head.sinceMillis <= sinceMillisMax) {
        held.add(KeyInFlight.of(each.getKey(), head, each.getValue().tail()));
      }
      if (++looked == LOOKED_AT_MAX || held.size() == HELD_MAX) {
        break;
      }
    }
    return held;
  }

  /** All members that have claims. */
  public Set<String> members() {
    Set<String> members = new TreeSet<>();
    for (Automaton<SharedClaim> automaton : automata.values()) {
      members.add(Objects.requireNonNull(automaton.head()).worker().member());
      if (automaton.tail() != null) {
        members.add(automaton.tail().worker().member());
      }
    }
    return members;
  }

  public int keys() {
    return automata.size();
  }

  /** The bucket as bytes, which keep the order of the keys. */
  public byte[] bytes() {
    Bytes out = new Bytes();
    automata.forEach(
        (key, automaton) -> {
          SharedCodec.put(out, key);
          int begin = out.i32(0).size();
          SharedCodec.put(out, automaton);
          out.setI32(begin - Integer.BYTES, out.size() - begin);
        });
    return out.toArray();
  }

  /** Reads {@link #bytes}, without automata of another version. */
  public static SharedBucket ofBytes(byte[] bytes) {
    SharedBucket bucket = new SharedBucket();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.hasRemaining()) {
      DedupKey key = new DedupKey(in.getLong(), in.getLong());
      byte[] part = new byte[in.getInt()];
      in.get(part);
      Automaton<SharedClaim> automaton = SharedCodec.automaton(part);
      if (automaton.head() != null) {
        bucket.automata.put(key, automaton);
      }
    }
    return bucket;
  }
}
