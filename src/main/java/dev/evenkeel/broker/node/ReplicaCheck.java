package dev.evenkeel.broker.node;

import dev.evenkeel.protocol.StateDigest;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the digest of this node's state of one log group with those of the other nodes, see ADR
 * 23. Sums that began at the same entry must be equal at the same place. For other sums the
 * difference must stay what it was at the first comparison. May be used from any thread.
 */
public final class ReplicaCheck {
  /**
   * Where two states began to differ.
   *
   * @param from index of the first entry that may be the cause
   * @param to of the last one
   */
  public record Place(long from, long to) {
    @Override
    public String toString() {
      return from == to ? "entry " + from : "one of the entries " + from + " to " + to;
    }
  }

  /** The news of a comparison. */
  public enum News {
    NONE,
    DIFFERS,
    EQUAL_AGAIN
  }

  /** What is known of another node. */
  private static final class Other {
    StateDigest own;
    StateDigest its;

    /** Own sum minus the other's, constant while the states are equal; null: unknown. */
    Long offset;

    /** They were equal here; -1: they were never compared. */
    long equalAt = -1;

    /** Null: no difference is known. */
    Place differs;
  }

  private final Map<String, Other> others = new TreeMap<>();

  /** Compares with the digest of another node; the own digest is of about the same time. */
  public synchronized News heard(String node, StateDigest own, StateDigest its) {
    Other other = others.get(node);
    boolean differed = other != null && other.differs != null;
    if (other == null || !sameBeginnings(other, own, its)) {
      other = new Other();
      others.put(node, other);
      other.offset = own.since() == its.since() ? 0L : null;
    }
    other.own = own;
    other.its = its;
    compare(other);
    boolean differs = other.differs != null;
    return differs == differed ? News.NONE : differs ? News.DIFFERS : News.EQUAL_AGAIN;
  }

  /** Otherwise one state was made anew, and earlier comparisons no longer count. */
  private static boolean sameBeginnings(Other other, StateDigest own, StateDigest its) {
    return begin(other.own, own) && begin(other.its, its);
  }

  private static boolean begin(StateDigest former, StateDigest now) {
    return former.form() == now.form() && former.since() == now.since();
  }

  private static TreeSet<Long> common(StateDigest one, StateDigest two) {
    TreeSet<Long> places = new TreeSet<>(one.sums().keySet());
    places.retainAll(two.sums().keySet());
    if (one.form() != two.form()) {
      places.clear();
    }
    return places;
  }

  private static void compare(Other other) {
    TreeSet<Long> places = common(other.own, other.its);
    if (places.isEmpty()) {
      return;
    }
    if (other.offset == null) {
      other.offset = offset(other, places.first());
    }
    if (offset(other, places.last()) == other.offset) {
      other.differs = null;
      other.equalAt = places.last();
      return;
    }
    if (other.differs != null) {
      return;
    }
    long from = Math.max(other.equalAt, Math.max(other.own.since(), other.its.since()));
    for (long place : places) {
      if (offset(other, place) != other.offset) {
        other.differs = new Place(from, place - 1);
        return;
      }
      from = Math.max(from, place);
    }
  }

  private static long offset(Other other, long place) {
    return other.own.sums().get(place) - other.its.sums().get(place);
  }

  /** The nodes whose state differs from this node's, and where the difference began. */
  public synchronized Map<String, Place> differences() {
    Map<String, Place> differences = new TreeMap<>();
    others.forEach(
        (node, other) -> {
          if (other.differs != null) {
            differences.put(node, other.differs);
          }
        });
    return differences;
  }

  /**
   * Index of the last entry up to which this node's state was found equal to that of every other
   * node; -1 if one was never compared.
   */
  public synchronized long equalUpTo(Collection<String> nodes) {
    long least = Long.MAX_VALUE;
    for (String node : nodes) {
      Other other = others.get(node);
      least = Math.min(least, other == null ? -1 : other.equalAt - 1);
    }
    return nodes.isEmpty() ? -1 : Math.max(-1, least);
  }

  /**
   * Whether this node's state is the wrong one: it differs from all others, and these, at least
   * two, are equal to each other.
   */
  public synchronized boolean odd(Collection<String> nodes) {
    StateDigest former = null;
    for (String node : nodes) {
      Other other = others.get(node);
      if (other == null || other.differs == null) {
        return false;
      }
      if (former != null && !equal(former, other.its)) {
        return false;
      }
      former = other.its;
    }
    return nodes.size() > 1;
  }

  private static boolean equal(StateDigest one, StateDigest two) {
    TreeSet<Long> places = common(one, two);
    return one.since() == two.since()
        && !places.isEmpty()
        && one.sums().get(places.last()).equals(two.sums().get(places.last()));
  }
}
