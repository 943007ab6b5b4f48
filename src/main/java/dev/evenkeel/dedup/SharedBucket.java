package dev.evenkeel.dedup;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The automata of some of the keys, as a member of the cluster keeps them: one entry of the shared
 * map. An automaton back in INIT leaves it at once. Steps that are repeated change nothing; the
 * same steps in the same order leave the same bucket, which is how its backups follow. Not safe for
 * threads.
 */
public final class SharedBucket {
  /**
   * What steps did.
   *
   * @param replies one for each, in their order
   * @param overflowed keys that were dropped because there were too many
   */
  public record Replies(List<StepReply> replies, int overflowed) {}

  /**
   * A key that lost claims.
   *
   * @param head who works on it now, or null
   * @param evicted how many it lost
   */
  public record Swept(DedupKey key, SharedClaim head, int evicted) {}

  /** By last use. */
  private final LinkedHashMap<DedupKey, Automaton<SharedClaim>> automata =
      new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Does {@code steps}, one after another.
   *
   * @param nowMillis of the clock that all times of this bucket are from
   * @param keysMax past it the key that was not used for longest is dropped
   */
  public Replies apply(List<KeyedStep> steps, long nowMillis, int keysMax) {
    List<StepReply> replies = new ArrayList<>(steps.size());
    int overflowed = 0;
    for (KeyedStep step : steps) {
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

  private StepReply apply(KeyedStep step, long nowMillis) {
    Automaton<SharedClaim> kept = automata.get(step.key());
    Automaton<SharedClaim> automaton = kept == null ? new Automaton<>() : kept;
    StepReply reply = SharedStep.apply(automaton, step.request(), nowMillis);
    if (automaton.head() == null) {
      automata.remove(step.key());
    } else if (kept == null) {
      automata.put(step.key(), automaton);
    }
    return reply;
  }

  /** Takes away the claims of the dead, and heads whose time is up. */
  public List<Swept> sweep(Predicate<String> alive, long nowMillis) {
    List<Swept> swept = new ArrayList<>();
    Iterator<Map.Entry<DedupKey, Automaton<SharedClaim>>> entries = automata.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<DedupKey, Automaton<SharedClaim>> each = entries.next();
      int evicted = SharedStep.sweep(each.getValue(), alive, nowMillis);
      if (evicted > 0) {
        swept.add(new Swept(each.getKey(), each.getValue().head(), evicted));
        if (each.getValue().head() == null) {
          entries.remove();
        }
      }
    }
    return swept;
  }

  public int keys() {
    return automata.size();
  }

  /** All of it, in an order that {@link #ofBytes} keeps. */
  public byte[] bytes() {
    List<byte[]> parts = new ArrayList<>(automata.size());
    int size = 0;
    for (Automaton<SharedClaim> each : automata.values()) {
      byte[] part = SharedCodec.bytes(each);
      parts.add(part);
      size += DedupKey.BYTES + Integer.BYTES + part.length;
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    int i = 0;
    for (DedupKey key : automata.keySet()) {
      byte[] part = parts.get(i++);
      out.putLong(key.high()).putLong(key.low()).putInt(part.length).put(part);
    }
    return out.array();
  }

  /** Of {@link #bytes}. Automata of another version are left out. */
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
