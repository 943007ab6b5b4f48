package dev.evenkeel.dedup;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which claims threads have taken, for programs that name only the key when they give it
 * back. Of two claims of one key, as after an eviction, a thread gives back its own. Safe for use
 * from several threads.
 *
 * @param <C> type of claims
 */
public final class ThreadClaims<C> {
  private record Taken<C>(Thread thread, C claim) {}

  /** Key → claims, the oldest first. */
  private final Map<String, ArrayDeque<Taken<C>>> byKey = new HashMap<>();

  /** The calling thread has taken a claim. */
  public synchronized void add(String key, C claim) {
    byKey
        .computeIfAbsent(key, none -> new ArrayDeque<>(1))
        .add(new Taken<>(Thread.currentThread(), claim));
  }

  /** The claim that the calling thread has taken last; null if there is none. */
  public synchronized @Nullable C ofThread(String key) {
    C found = null;
    for (Taken<C> taken : byKey.getOrDefault(key, new ArrayDeque<>(1))) {
      if (taken.thread == Thread.currentThread()) {
        found = taken.claim;
      }
    }
    return found;
  }

  /** Removes the calling thread's claim, or else the oldest one; null if there is none. */
  public synchronized @Nullable C remove(String key) {
    ArrayDeque<Taken<C>> all = byKey.get(key);
    if (all == null) {
      return null;
    }
    C removed = null;
    for (Iterator<Taken<C>> each = all.iterator(); removed == null && each.hasNext(); ) {
      Taken<C> taken = each.next();
      if (taken.thread == Thread.currentThread()) {
        each.remove();
        removed = taken.claim;
      }
    }
    if (removed == null) {
      removed = all.remove().claim;
    }
    if (all.isEmpty()) {
      byKey.remove(key);
    }
    return removed;
  }
}
