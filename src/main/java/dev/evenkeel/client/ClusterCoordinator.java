package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * Keeps tracks in many programs level: no track is ever more than the range ahead of another one.
 * Made by {@link EvenkeelClient#coordinator(CoordinatorOptions)}. Programs that name the same
 * coordinator share it. All methods may be called from any thread.
 *
 * <pre>{@code
 * ClusterCoordinator coordinator = client.coordinator("walk", 10);
 * coordinator.track("walker-1").onSuccess(track -> {
 *   if (track.move()) {
 *     // one step
 *   } else {
 *     track.ready().onSuccess(room -> again());
 *   }
 * });
 * }</pre>
 *
 * <p>For the threads of one JVM, {@code dev.evenkeel.level.Coordinators} does the same without a
 * cluster.
 */
public interface ClusterCoordinator {
  /** Name of the coordinator. */
  String name();

  /** The largest difference between two tracks in steps. */
  int range();

  /**
   * Takes part. Completes when the track has its place, which is where the slowest track stands.
   * Its steps are called for on the caller's event-loop context, or on one of its own.
   *
   * <p>Fails with {@code RefusedException}: INVALID for a wrong name or options out of their
   * bounds, GROUP_MISMATCH if the coordinator runs with another range or the name is that of a
   * consumer group, FORBIDDEN without the permission {@code group:NAME}, MEMBER_REPLACED if another
   * track has taken the name meanwhile, UNAVAILABLE if no place was to be had within 60 s, or if
   * the coordinator is closed.
   *
   * @param name of the track, unique in the coordinator: a second track of the same name replaces
   *     the first one, which is then lost; null: a name is made up
   */
  Future<ClusterTrack> track(String name);

  /** Destroys the tracks that were made here. Never fails. Closing twice has no further effect. */
  Future<Void> close();
}
