package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.MoveTally;
import dev.evenkeel.protocol.Refusal;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/**
 * The metrics of a dispatcher, over all its activations. To be used on its context, except where it
 * says otherwise.
 */
final class DispatcherMeters {
  private static final String UNKNOWN = "unknown";

  final LongAdder heartbeats;
  final LongAdder activations;
  final LongAdder plans;
  private final Map<Cause, LongAdder> moves = new EnumMap<>(Cause.class);
  private final LongAdder movesOfUnknownCause;
  private final Timer release;
  private final Timer pause;
  private final Map<Refusal, LongAdder> refusals;
  private final LongAdder redelivered;
  private final LongAdder capped;
  private final LongAdder unrecorded;
  final LongAdder swept;
  private volatile int unwritten;

  /**
   * @param active whether this dispatcher is the active one; asked from any thread
   */
  DispatcherMeters(MeterScope scope, BooleanSupplier active) {
    scope.gauge(
        "evenkeel.dispatcher.active",
        "1 if this node's dispatcher is the active one",
        () -> active.getAsBoolean() ? 1 : 0);
    heartbeats = scope.counter("evenkeel.dispatcher.heartbeats", "Heartbeats received");
    activations =
        scope.counter(
            "evenkeel.dispatcher.activations", "How often this dispatcher became the active one");
    plans = scope.counter("evenkeel.dispatcher.plans", "Assignment plans made, each for one group");
    for (Cause cause : Cause.values()) {
      moves.put(cause, moves(scope, cause.word()));
    }
    movesOfUnknownCause = moves(scope, UNKNOWN);
    release =
        scope.timer(
            "evenkeel.handover.release",
            "Time from asking an owner to release a shard until the release");
    pause =
        scope.timer(
            "evenkeel.handover.pause",
            "Time from the end of the old owner's last handler to the new owner's first fetch");
    redelivered =
        scope.counter(
            "evenkeel.handover.redelivered",
            "Messages that a new owner received again, as far as known");
    capped =
        scope.counter(
            "evenkeel.handover.capped", "Moves whose old owner did not release the shard in time");
    scope.gauge(
        "evenkeel.dispatcher.moves.unwritten",
        "Moves, or figures of moves, waiting to be recorded",
        () -> active.getAsBoolean() ? unwritten : 0);
    unrecorded =
        scope.counter(
            "evenkeel.dispatcher.moves.unrecorded",
            "Moves, or figures of moves, that could not be recorded");
    swept =
        scope.counter(
            "evenkeel.dispatcher.dedup.swept",
            "Keys in the dedup map freed because their member died or was overdue");
    refusals =
        scope.counters(
            "evenkeel.dispatcher.refusals",
            "Heartbeats and queries refused",
            "kind",
            Refusal.class);
  }

  private static LongAdder moves(MeterScope scope, String reason) {
    return scope.counter(
        "evenkeel.dispatcher.moves", "Shards that got another owner", "reason", reason);
  }

  void refused(Refusal refusal) {
    refusals.get(refusal).increment();
  }

  /** Adds what happened since the last call. To be called a few times a second. */
  void observe(DispatcherCore core) {
    MoveTally tally = core.moves().takeTally();
    tally
        .moves()
        .forEach((cause, n) -> (cause == null ? movesOfUnknownCause : moves.get(cause)).add(n));
    tally.pausesMillis().forEach(millis -> pause.record(millis, TimeUnit.MILLISECONDS));
    tally.releasesMillis().forEach(millis -> release.record(millis, TimeUnit.MILLISECONDS));
    redelivered.add(tally.redelivered());
    capped.add(tally.capped());
    unrecorded.add(tally.unrecorded());
    unwritten = core.moves().unwritten();
  }
}
