package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;

/**
 * One walker's place among the others of its {@link ClusterCoordinator}. All methods may be called
 * from any thread, and none blocks.
 */
public interface ClusterTrack {
  /** Name of the track in its coordinator. */
  String name();

  /**
   * Takes one step if the track may. It never asks the cluster and waits: the track has an
   * allowance, and asks for more before it has used it up.
   *
   * <p>A track that was set aside comes back: until it has its new place, this returns false.
   *
   * @return false if the track has to wait, or is lost or destroyed: then {@link #ready} says which
   */
  boolean move();

  /**
   * Completes when a move may succeed: at once if one may now. It completes on the context of the
   * track. Another thread may take the step first; then ask again. Fails with {@code
   * RefusedException} if the track is or gets lost or destroyed.
   */
  Future<Void> ready();

  /**
   * Where the track stands: the steps that it has taken, on top of those that the slowest track had
   * when this one joined or came back.
   */
  long steps();

  /**
   * Whether the track has ended although nobody destroyed it: the others go on without it, and it
   * never moves again. Ask for another one.
   */
  boolean isLost();

  /**
   * Sets the handler that is called once if the track is lost. The cause is a {@code
   * RefusedException}:
   *
   * <ul>
   *   <li>MEMBER_REPLACED: another track took its name.
   *   <li>FENCED: the cluster did not answer for the member timeout less 1 s, or this program stood
   *       still for that time.
   *   <li>GROUP_MISMATCH: the coordinator runs with another range.
   * </ul>
   *
   * <p>If the track is lost already, the handler is called soon. A later handler replaces an
   * earlier one.
   */
  ClusterTrack onLost(Handler<Throwable> handler);

  /**
   * Ends the track: the others no longer wait for it. Completes when the cluster knows, or does not
   * answer; then the others wait for its member timeout. Never fails. Doing it twice has no further
   * effect.
   */
  Future<Void> destroy();
}
