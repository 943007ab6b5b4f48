package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.maps.DedupKeyEntry;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the keys of processes that have ended in the shared dedup map, and keys that are overdue:
 * once a second while any group deduplicates or any claim was found by the last sweep, else every
 * {@value #IDLE_SWEEP_MILLIS} ms; one sweep at a time. It also keeps the view of keys that are held
 * for long.
 *
 * <p>The owner of a claim has ended if it is no member of the cluster and {@link SessionEnds} finds
 * no connection of it. That no heartbeat came from it lately says nothing: it may have connected
 * just now.
 */
final class DedupSweeper {
  private static final Logger LOG = LoggerFactory.getLogger(DedupSweeper.class);
  private static final long SWEEP_MILLIS = 1_000;

  /** Programs may claim keys without a group. A sweep of an empty map is a message to each node. */
  static final long IDLE_SWEEP_MILLIS = 3_000;

  /** A key that is held for this time is in the view. Most keys are free much sooner. */
  private static final long HELD_MILLIS_MIN = 1_000;

  /**
   * A program may still rely on its claims of services, although all its connections broke: for up
   * to 5 s after it sent the last question that was answered.
   */
  static final long SERVICE_MILLIS = 6_500;

  private final ClusterMember cluster;
  private final Context context;
  private final SessionEnds sessions;
  private final DispatcherMeters meters;
  private long sweptMillis = Long.MIN_VALUE / 2;

  private final EndedOwners endedOwners = new EndedOwners(SERVICE_MILLIS);

  /** Whether the last sweep found claims. */
  private boolean foundAny;

  private final SharedMapMirror view;
  private boolean sweeping;

  /**
   * @param context on which all of it happens
   */
  DedupSweeper(
      ClusterMember cluster, Context context, SessionEnds sessions, DispatcherMeters meters) {
    this.cluster = cluster;
    this.context = context;
    this.sessions = sessions;
    this.meters = meters;
    view = new SharedMapMirror(cluster.dedupKeys(), context);
  }

  void tick(DispatcherCore core, long nowMillis) {
    boolean busy = foundAny || anyDeduplicates(core);
    if (sweeping || nowMillis - sweptMillis < (busy ? SWEEP_MILLIS : IDLE_SWEEP_MILLIS)) {
      return;
    }
    sweptMillis = nowMillis;
    long placedMillisMax = cluster.dedup().nowMillis() - SERVICE_MILLIS;
    sweeping = true;
    Set<String> alive = core.heardFrom();
    alive.addAll(cluster.members());
    sweep(alive, Set.of(), Set.of(), 0)
        .compose(unknown -> ended(core, unknown))
        .compose(
            ended -> {
              Set<String> services =
                  endedOwners.endedForLong(
                      ended, sessions::reportedAgoMillis, MonotonicClock.millis());
              Set<String> unsure = new HashSet<>(services);
              unsure.removeIf(each -> !core.hasLeft(each));
              services.removeAll(unsure);
              return (ended.isEmpty()
                      ? Future.succeededFuture()
                      : sweep(alive, ended, services, placedMillisMax))
                  .compose(swept -> nowhere(unsure))
                  .compose(
                      gone ->
                          gone.isEmpty()
                              ? Future.succeededFuture()
                              : sweep(alive, gone, gone, placedMillisMax));
            })
        .compose(swept -> show(core.featureLevel()))
        .onComplete(
            done -> {
              sweeping = false;
              if (done.failed()) {
                endedOwners.unknown();
                LOG.debug("the dedup map could not be swept", done.cause());
              }
            });
  }

  private Future<Void> show(int featureLevel) {
    if (featureLevel < FeatureLevel.DEDUP_KEYS) {
      return Future.succeededFuture();
    }
    if (!foundAny) {
      view.putAll(Map.of());
      return Future.succeededFuture();
    }
    return Future.fromCompletionStage(cluster.dedup().heldFor(HELD_MILLIS_MIN), context)
        .map(
            held -> {
              Map<String, JsonObject> entries = new HashMap<>();
              held.forEach(each -> entries.put(each.key().toString(), entry(each)));
              view.putAll(entries);
              return null;
            });
  }

  private static JsonObject entry(KeyInFlight key) {
    KeyInFlight.Place tail = key.tail();
    return new DedupKeyEntry(
            DedupKeyEntry.VERSION,
            key.state().name(),
            key.head().member(),
            key.head().sinceMillis(),
            key.overdueMillis(),
            tail == null ? null : tail.member(),
            tail == null ? null : (Long) tail.sinceMillis())
        .json();
  }

  /** Repairs the view. */
  void reconcile() {
    view.reconcile();
  }

  /** Writes nothing from now on: another dispatcher does. */
  void close() {
    view.close();
  }

  /** Completes with the owners of claims that are neither alive nor ended. */
  private Future<Set<String>> sweep(
      Set<String> alive, Set<String> ended, Set<String> services, long placedMillisMax) {
    return Future.fromCompletionStage(
            cluster.dedup().sweep(alive, ended, services, placedMillisMax), context)
        .map(
            sweep -> {
              meters.swept.add(sweep.evicted());
              foundAny = sweep.any();
              return sweep.unknown();
            });
  }

  /**
   * Those of them that no node has. A session that ended, as the core knows, may be back if its
   * client did not notice: only the heartbeats of its members tell that to the core.
   */
  private Future<Set<String>> nowhere(Set<String> owners) {
    Set<String> gone = new HashSet<>();
    List<Future<Boolean>> checks = new ArrayList<>();
    for (String each : owners) {
      if (checks.size() == SessionEnds.CHECKS_MAX) {
        break;
      }
      checks.add(
          sessions
              .endedUnreported(each)
              .onSuccess(
                  yes -> {
                    if (yes && !cluster.members().contains(each)) {
                      gone.add(each);
                    } else {
                      endedOwners.back(each);
                    }
                  }));
    }
    return Future.all(checks).map(gone);
  }

  /** Those of them that have ended. */
  private Future<Set<String>> ended(DispatcherCore core, Set<String> unknown) {
    Set<String> ended = new HashSet<>();
    List<Future<Boolean>> checks = new ArrayList<>();
    for (String each : unknown) {
      if (core.hasLeft(each)) {
        ended.add(each);
      } else if (checks.size() < SessionEnds.CHECKS_MAX) {
        checks.add(
            sessions
                .endedUnreported(each)
                .onSuccess(
                    yes -> {
                      // It may be a member of the cluster that has joined meanwhile.
                      if (yes && !cluster.members().contains(each)) {
                        ended.add(each);
                      }
                    }));
      }
    }
    return Future.all(checks).map(ended);
  }

  private static boolean anyDeduplicates(DispatcherCore core) {
    for (GroupState group : core.all()) {
      if (group.info() != null && !GroupPolicy.DEDUP_OFF.equals(group.info().policy().dedup())) {
        return true;
      }
    }
    return false;
  }
}
