package dev.evenkeel.log;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The reasons why this node should not lead one log group. While there is a reason, the node hands
 * the leadership to another node without one, at once; if it is elected all the same, it hands it
 * on before it serves. If no other node can lead, it leads: a leader with a fault is better than
 * none. May be used from any thread.
 */
public final class Eligibility {
  /** The names are part of the HTTP API and of the metrics. */
  public enum Reason {
    /** A file of this node's copy of the state or of the log cannot be read any more. */
    DAMAGED,
    /** The disk is nearly full. */
    DISK_FULL,
    /** This node is so far behind that it copies a snapshot from the leader. */
    FAR_BEHIND,
    /**
     * This node's state differs from the states of all other nodes, which are equal to each other.
     */
    DIVERGED,
    /** This node is not in the cluster's view of members, so that programs cannot reach it. */
    OUT_OF_VIEW,
    /** This node gives its copies away. */
    DRAINING
  }

  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** Never changed, replaced as a whole. */
  private volatile Map<Reason, String> reasons = Map.of();

  /** No reason is known. */
  public boolean eligible() {
    return reasons.isEmpty();
  }

  /** The reasons, each with a line for people. */
  public Map<Reason, String> reasons() {
    return reasons;
  }

  /**
   * Sets or removes a reason.
   *
   * @param detail a line for people; null: removes the reason
   */
  public void set(Reason reason, String detail) {
    synchronized (this) {
      if (Objects.equals(detail, reasons.get(reason))) {
        return;
      }
      Map<Reason, String> next = new EnumMap<>(Reason.class);
      next.putAll(reasons);
      if (detail == null) {
        next.remove(reason);
      } else {
        next.put(reason, detail);
      }
      reasons = Collections.unmodifiableMap(next);
    }
    listeners.forEach(Runnable::run);
  }

  /** Called after each change, on the thread that made it; it must return at once. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }
}
