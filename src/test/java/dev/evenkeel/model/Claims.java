package dev.evenkeel.model;

import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.DedupOptions;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Claims of the keys of a dedup, and whether one works at a time. */
final class Claims {
  /** Longer than any work, and shorter than some. */
  private static final long LONG_MILLIS = 60_000;

  private static final long SHORT_MILLIS = 1_000;
  private static final long OVERDUE_MILLIS = 2_500;

  /** It stops to be sure of its key a while before its time is over. */
  private static final long SPARE_MILLIS = 700;

  /** How long one works until it sees that another one is declined. */
  private static final long DECLINED_MILLIS_MAX = 12_000;

  private static final int KEYS = 3;

  /** Of a key, so many that have ended are compared with others. */
  private static final int ENDED_MAX = 40;

  private record Use(Connection connection, long timeoutMillis) {}

  private final Services in;
  private final String name;
  private final Map<Use, Dedup> dedups = new HashMap<>();
  private final Map<String, Key> keys = new LinkedHashMap<>();
  private boolean probed;

  /** What is known of a key. */
  private static final class Key {
    /** Claims that have no answer. */
    private final List<Claim> pending = new ArrayList<>();

    /** Claims that work, or have worked. */
    private final List<Claim> worked = new ArrayList<>();

    /** The one that was declined last. */
    private Claim declined;

    /** When a claim began to work last, and when one that may have waited was gone. */
    private long begunAt = -1;

    private long goneAt = -1;
  }

  /** A claim. Moments are those of the model. */
  private final class Claim {
    private final String key;
    private final Use use;
    private final long workMillis;
    private final long askedAt = in.model.moment();
    private final int calmSince;
    private final int quietSince;
    private final int movesSince;

    /** Of these, one is declined while it works. */
    private final List<Claim> others = new ArrayList<>();

    private DedupClaim granted;
    private long begunAt;
    private long begunNanos;

    /** When it was last sure to have its key. */
    private long heldAt = -1;

    private boolean declined;
    private boolean over;

    Claim(String key, Use use, long workMillis) {
      this.key = key;
      this.use = use;
      this.workMillis = workMillis;
      calmSince = use.connection.calm();
      quietSince = use.connection.quiet();
      movesSince = use.connection.moves();
    }

    /** Whether one of the others is over: they need not be declined any more. */
    private boolean hasSeenEnd() {
      return others.stream().anyMatch(each -> each.declined || each.over);
    }

    private boolean isCalm() {
      return use.connection.isCalmSince(calmSince);
    }

    /**
     * Whether it relies on its key: the map may have been lost since it asked, or its connection
     * may have broken while it stood still.
     */
    private boolean relies() {
      return use.connection.isQuietSince(quietSince)
          || in.keepsMaps() && use.connection.movesSince(movesSince);
    }

    /** Whether it had its key at the same time as another one. */
    private boolean overlaps(Claim other) {
      return Math.max(begunAt, other.begunAt) < Math.min(heldAt, other.heldAt);
    }

    @Override
    public String toString() {
      return "claim " + askedAt + " of " + key + " of " + name;
    }
  }

  Claims(Services in, String name) {
    this.in = in;
    this.name = name;
  }

  // ---- What users do

  /** One works until it sees that one of two others is declined. */
  boolean claim(Connection one, Connection two, Connection three, int which) {
    if (!one.works() || !two.works() || !three.works()) {
      return false;
    }
    String key = "k" + which % KEYS;
    in.log.add("claim " + key + " of " + name + " three times");
    Use works = new Use(one, LONG_MILLIS);
    Claim first = ask(key, works, DECLINED_MILLIS_MAX);
    for (Connection each : List.of(two, three)) {
      Claim other = ask(key, new Use(each, LONG_MILLIS), which / KEYS % 40);
      synchronized (this) {
        first.others.add(other);
      }
    }
    endWhenDeclined(first);
    return true;
  }

  private void endWhenDeclined(Claim first) {
    in.pause(10)
        .onSuccess(
            passed -> {
              if (goesOn(first)) {
                endWhenDeclined(first);
              }
            });
  }

  /**
   * Ends a claim that works if it has seen another one declined. Returns whether it is not over.
   */
  private synchronized boolean goesOn(Claim first) {
    if (first.granted == null) {
      return keys.get(first.key).pending.contains(first);
    }
    if (first.hasSeenEnd()) {
      end(first);
    }
    return !first.over;
  }

  /** One works for longer than it may. */
  boolean overdue(Connection one, Connection two, int which) {
    if (!one.works() || !two.works()) {
      return false;
    }
    String key = "k" + which % KEYS;
    in.log.add("claim " + key + " of " + name + " for too long");
    ask(key, new Use(one, SHORT_MILLIS), OVERDUE_MILLIS);
    ask(key, new Use(two, LONG_MILLIS), 100);
    return true;
  }

  /** Its claims are given back, whether they work or wait. */
  boolean abandon(Connection connection, int which) {
    if (!connection.works()) {
      return false;
    }
    Use use = new Use(connection, LONG_MILLIS);
    ask("k" + which % KEYS, use, DECLINED_MILLIS_MAX);
    ask("k" + which % KEYS, use, DECLINED_MILLIS_MAX);
    Dedup closes;
    synchronized (this) {
      closes = dedups.remove(use);
      gone(use);
    }
    return in.answers.done("close dedup " + name, closes.close());
  }

  /** A connection is about to die. */
  synchronized void dies(Connection connection) {
    for (long each : new long[] {LONG_MILLIS, SHORT_MILLIS}) {
      Use use = new Use(connection, each);
      dedups.remove(use);
      gone(use);
    }
  }

  private void gone(Use use) {
    for (Key key : keys.values()) {
      List<Claim> waited = key.pending.stream().filter(each -> each.use.equals(use)).toList();
      waited.forEach(each -> each.over = true);
      key.pending.removeAll(waited);
      key.worked.stream().filter(each -> each.use.equals(use)).forEach(this::ended);
      key.goneAt = in.model.moment();
    }
  }

  Future<?> close() {
    List<Dedup> all;
    synchronized (this) {
      all = List.copyOf(dedups.values());
    }
    return Future.join(all.stream().map(Dedup::close).toList()).otherwiseEmpty();
  }

  private Claim ask(String key, Use use, long workMillis) {
    Claim claim = new Claim(key, use, workMillis);
    Dedup dedup;
    synchronized (this) {
      keys.computeIfAbsent(key, any -> new Key()).pending.add(claim);
      dedup =
          dedups.computeIfAbsent(
              use,
              any ->
                  use.connection.client.dedup(
                      new DedupOptions().setName(name).setTimeoutMillis(use.timeoutMillis)));
    }
    dedup
        .claim(key)
        .onSuccess(turn -> answered(claim, turn))
        .onFailure(failure -> failed(claim, failure));
    return claim;
  }

  // ---- What must be true

  private synchronized void answered(Claim claim, Optional<DedupClaim> turn) {
    Key key = keys.get(claim.key);
    if (!key.pending.remove(claim)) {
      // It was given up meanwhile.
      turn.ifPresent(DedupClaim::giveBack);
    } else if (turn.isEmpty()) {
      claim.declined = true;
      key.declined = claim;
    } else {
      claim.granted = turn.get();
      claim.begunAt = in.model.moment();
      claim.begunNanos = System.nanoTime();
      key.begunAt = claim.begunAt;
      key.worked.add(claim);
      look(key, claim);
      in.pause(claim.workMillis).onSuccess(passed -> end(claim));
    }
  }

  private synchronized void failed(Claim claim, Throwable failure) {
    Key key = keys.get(claim.key);
    claim.over = true;
    key.goneAt = in.model.moment();
    if (key.pending.remove(claim) && !Answers.passes(failure)) {
      in.model.fault(Promise.ANSWERS, claim + ": " + failure);
    }
  }

  private synchronized void end(Claim claim) {
    if (claim.over) {
      return;
    }
    look(keys.get(claim.key), claim);
    if (!claim.others.isEmpty()
        && !claim.hasSeenEnd()
        && claim.isCalm()
        && claim.granted.isHeld()) {
      in.model.fault(
          Promise.DEDUP_SERVICE_DECLINES, "nobody is declined while " + claim + " works");
    }
    boolean held = claim.granted.isHeld() && age(claim) < claim.use.timeoutMillis - SPARE_MILLIS;
    ended(claim);
    claim
        .granted
        .giveBack()
        .onSuccess(had -> gaveBack(claim, held, had))
        .onFailure(
            failure -> {
              if (!Answers.passes(failure)) {
                in.model.fault(Promise.ANSWERS, claim + ": " + failure);
              }
            });
  }

  private static long age(Claim claim) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - claim.begunNanos);
  }

  private void gaveBack(Claim claim, boolean held, boolean had) {
    if (held && !had && claim.isCalm()) {
      in.model.fault(Promise.DEDUP_SERVICE_HELD, claim + " is held, and then was not");
    }
  }

  private void ended(Claim claim) {
    claim.over = true;
    List<Claim> worked = keys.get(claim.key).worked;
    if (worked.size() > ENDED_MAX && worked.get(0).over) {
      worked.remove(0);
    }
  }

  /** Sees who is sure to have its key. */
  synchronized void look() {
    for (Key key : keys.values()) {
      key.worked.stream().filter(each -> !each.over).toList().forEach(each -> look(key, each));
    }
  }

  private void look(Key key, Claim claim) {
    if (claim.use.connection.isDead() || !claim.granted.isHeld()) {
      return;
    }
    claim.heldAt = in.model.moment();
    for (Claim other : key.worked) {
      if (other != claim && claim.overlaps(other) && claim.relies() && other.relies()) {
        in.model.fault(Promise.DEDUP_SERVICE_ONE, claim + " and " + other + " work at a time");
      }
    }
  }

  /** What is not yet as it must be; null: nothing. */
  synchronized String missing() {
    for (Map.Entry<String, Key> each : keys.entrySet()) {
      Key key = each.getValue();
      if (!key.pending.isEmpty()) {
        return key.pending.get(0) + " has no answer";
      }
      if (key.worked.stream().anyMatch(claim -> !claim.over)) {
        return "somebody works on " + each.getKey();
      }
      Claim declined = key.declined;
      if (declined != null && Math.max(key.begunAt, key.goneAt) < declined.askedAt) {
        return declined + " was declined, and nobody has worked since";
      }
    }
    return null;
  }

  /** Whether every key can be had again; asks for them as long as one cannot. */
  synchronized String held(Connection connection) {
    if (missing() != null) {
      return missing();
    }
    boolean all =
        probed
            && keys.values().stream()
                .allMatch(key -> key.declined == null && key.goneAt < key.begunAt);
    if (!all) {
      probed = true;
      keys.forEach(
          (key, known) -> {
            known.declined = null;
            ask(key, new Use(connection, LONG_MILLIS), 0);
          });
      return keys.isEmpty() ? null : "keys of " + name + " are asked for";
    }
    return null;
  }
}
