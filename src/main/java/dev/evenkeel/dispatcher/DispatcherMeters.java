package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.Move;
import dev.evenkeel.dispatcher.core.MoveLog;
import dev.evenkeel.model.Refusal;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/** What a dispatcher counts, over all times of being the active one. On its context. */
final class DispatcherMeters {
  private static final String UNKNOWN = "unknown";

  private final LongAdder heartbeats;
  private final LongAdder activations;
  private final LongAdder plans;
  private final Map<Cause, LongAdder> moves = new EnumMap<>(Cause.class);
  private final LongAdder movesOfUnknownCause;
  private final Timer release;
  private final Timer pause;
  private final Map<Refusal, LongAdder> refusals = new EnumMap<>(Refusal.class);
  private MoveLog seenLog;
  private long seenMoves;

  /**
   * @param active whether this dispatcher is the active one; asked from any thread
   */
  DispatcherMeters(MeterScope scope, BooleanSupplier active) {
    scope.gauge(
        "evenkeel.dispatcher.active",
        "1 if this node's dispatcher is the active one",
        () -> active.getAsBoolean() ? 1 : 0);
    heartbeats = scope.counter("evenkeel.dispatcher.heartbeats", "Heartbeats that came");
    activations =
        scope.counter("evenkeel.dispatcher.activations", "Times of becoming the active one");
    plans =
        scope.counter(
            "evenkeel.dispatcher.plans", "Planning steps: targets of one group made anew");
    for (Cause cause : Cause.values()) {
      moves.put(cause, moves(scope, cause.word()));
    }
    movesOfUnknownCause = moves(scope, UNKNOWN);
    release =
        scope.timer(
            "evenkeel.handover.release", "From telling an owner to let go to its having let go");
    pause =
        scope.timer(
            "evenkeel.handover.pause",
            "From the end of the old owner's last handler to the new owner's first fetch");
    for (Refusal refusal : Refusal.values()) {
      refusals.put(
          refusal,
          scope.counter(
              "evenkeel.dispatcher.refusals",
              "Heartbeats and questions refused",
              "kind",
              refusal.name().toLowerCase(Locale.ROOT)));
    }
  }

  private static LongAdder moves(MeterScope scope, String reason) {
    return scope.counter(
        "evenkeel.dispatcher.moves", "Shards that got another owner", "reason", reason);
  }

  void heartbeatCame() {
    heartbeats.increment();
  }

  void activated() {
    activations.increment();
  }

  void refused(Refusal refusal) {
    refusals.get(refusal).increment();
  }

  void planned() {
    plans.increment();
  }

  /** Takes up the moves made since the last call; to be called a few times a second. */
  void observe(DispatcherCore core) {
    MoveLog log = core.moves();
    if (log != seenLog) {
      seenLog = log;
      seenMoves = 0;
    }
    for (Long millis : log.takePauses()) {
      pause.record(millis, TimeUnit.MILLISECONDS);
    }
    long fresh = log.made() - seenMoves;
    if (fresh == 0) {
      return;
    }
    seenMoves = log.made();
    List<Move> recent = new ArrayList<>(log.recent(null, (int) Math.min(fresh, MoveLog.MAX)));
    Collections.reverse(recent);
    for (Move move : recent) {
      (move.cause() == null ? movesOfUnknownCause : moves.get(move.cause())).increment();
      if (move.releaseMillis() != null) {
        release.record(move.releaseMillis(), TimeUnit.MILLISECONDS);
      }
    }
    // More than the log of moves holds, at once: they are counted, but nobody knows why they were.
    movesOfUnknownCause.add(fresh - recent.size());
  }
}
