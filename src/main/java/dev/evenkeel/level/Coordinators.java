package dev.evenkeel.level;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Makes coordinators. The only place of this package that knows the machine's clock and timer. */
public final class Coordinators {
  /**
   * How long a track may hold others back without a step before its claim ends, unless told
   * otherwise: as long as a member of a group may be silent.
   */
  public static final long IDLE_MILLIS = 5_000;

  private Coordinators() {}

  /**
   * A coordinator of {@code range} steps, 1 to {@link Range#STEPS_MAX}.
   *
   * @throws IllegalArgumentException if the range is out of bounds
   */
  public static Coordinator coordinator(int range) {
    return coordinator(Range.of(range));
  }

  /** A coordinator whose tracks may be idle for {@link #IDLE_MILLIS}. */
  public static Coordinator coordinator(Range range) {
    return coordinator(range, IDLE_MILLIS);
  }

  /**
   * A coordinator with the clock of this machine and the JDK's shared timer.
   *
   * @param idleMillis from 1: so long a track may hold others back without a step
   */
  public static Coordinator coordinator(Range range, long idleMillis) {
    return coordinator(
        range,
        idleMillis,
        System::nanoTime,
        (delayMillis, what) ->
            CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(what));
  }

  /**
   * A coordinator with its own time.
   *
   * @param idleMillis from 1: so long a track may hold others back without a step
   * @param nanos a clock that never goes back, like {@link System#nanoTime}
   * @param alarm looks after idle tracks while others wait by {@link Track#ready}; who polls {@link
   *     Track#move} looks itself
   */
  public static Coordinator coordinator(
      Range range, long idleMillis, LongSupplier nanos, Alarm alarm) {
    return new Coordinator(range, idleMillis, nanos, alarm);
  }
}
