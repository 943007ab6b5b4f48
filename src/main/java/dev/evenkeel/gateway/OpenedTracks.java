package dev.evenkeel.gateway;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.DestroyTrack.DestroyedTrack;
import dev.evenkeel.api.InTrack;
import dev.evenkeel.api.MoveTrack.MovedTrack;
import dev.evenkeel.api.OpenTrack;
import dev.evenkeel.api.OpenTrack.OpenedTrack;
import dev.evenkeel.api.Operations;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers {@code evenkeel.api.coordinators}: tracks for programs that do not use the client
 * library. A track lives in the gateway that opened it; the others pass its requests on.
 */
final class OpenedTracks {
  /** Most tracks of a gateway. */
  static final int TRACKS_MAX = 1_000;

  /** Most requests that wait for steps of one track. */
  private static final int WAITING_MAX = 16;

  private final Vertx vertx;
  private final EvenkeelClient client;
  private final OwnedByGateway<Opened> tracks;

  OpenedTracks(Vertx vertx, EvenkeelClient client) {
    this.vertx = vertx;
    this.client = client;
    tracks =
        new OwnedByGateway<>(
            vertx, "track", Scarce.TRACKS, TRACKS_MAX, (asked, poll) -> answerHere(asked));
  }

  /** A request that waits for up to so many steps. */
  private record Waiter(int steps, Promise<MovedTrack> answer) {}

  /** A track of a caller. Everything of it happens on the context of the gateway. */
  private final class Opened implements OwnedByGateway.Owned {
    final String id;
    final ClusterCoordinator coordinator;
    final ClusterTrack track;
    final Context context = vertx.getOrCreateContext();
    final Expiry expiry;

    /** Those who wait for steps. */
    final List<Waiter> waiting = new ArrayList<>();

    /** Whether the track is asked to say when it may move. It keeps each such question. */
    boolean asked;

    Opened(String id, OpenTrack asked, ClusterCoordinator coordinator, ClusterTrack track) {
      this.id = id;
      this.coordinator = coordinator;
      this.track = track;
      expiry = new Expiry(vertx, "track", asked.user(), asked.expiresMs(), this::expire);
      track.onLost(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    }

    private void expire() {
      end(expiry.timeout());
      track.destroy();
    }

    Future<MovedTrack> move(int steps, int waitMillis) {
      int moved = take(steps);
      if (moved > 0 || waitMillis == 0) {
        return Future.succeededFuture(moved(moved));
      }
      if (waiting.size() >= WAITING_MAX) {
        throw Refusal.OVERLOADED.error(
            "%s requests wait for this track: send one after another", WAITING_MAX);
      }
      Waiter waiter = new Waiter(steps, Promise.promise());
      waiting.add(waiter);
      expiry.waits();
      long timer = vertx.setTimer(waitMillis, late -> waiter.answer.tryComplete(moved(0)));
      awaitSteps();
      return waiter
          .answer
          .future()
          .onComplete(
              done -> {
                vertx.cancelTimer(timer);
                waiting.remove(waiter);
                expiry.answered();
              });
    }

    private void awaitSteps() {
      if (asked) {
        return;
      }
      asked = true;
      track
          .ready()
          .onComplete(
              ready ->
                  context.runOnContext(
                      none -> {
                        asked = false;
                        List.copyOf(waiting).forEach(each -> give(each, ready.cause()));
                        if (!waiting.isEmpty()) {
                          awaitSteps();
                        }
                      }));
    }

    private void give(Waiter waiter, Throwable lost) {
      if (lost != null) {
        waiter.answer.tryFail(lost);
        return;
      }
      int moved = take(waiter.steps);
      if (moved > 0) {
        waiter.answer.tryComplete(moved(moved));
      }
    }

    private int take(int steps) {
      int moved = 0;
      while (moved < steps && track.move()) {
        moved++;
      }
      return moved;
    }

    private MovedTrack moved(int steps) {
      return new MovedTrack(steps, track.steps());
    }

    private void end(RefusedException why) {
      if (expiry.end(why)) {
        List.copyOf(waiting).forEach(each -> each.answer.tryFail(why));
        tracks.ended(id);
        coordinator.close();
      }
    }

    @Override
    public Future<Void> close() {
      end(Refusal.UNKNOWN_SESSION.error("the track was destroyed"));
      return track.destroy();
    }
  }

  Future<Void> start() {
    return tracks.start();
  }

  /** Destroys all tracks. Those that are being opened end at once. */
  Future<Void> stop() {
    return tracks.stop();
  }

  Future<Object> answer(JsonObject request, String poll) {
    return tracks.answer(request, poll);
  }

  private Future<Object> answerHere(JsonObject request) {
    return new ApiAnswers()
        .on(Operations.OPEN_TRACK, this::open)
        .on(Operations.MOVE_TRACK, asked -> track(asked.in()).move(asked.steps(), asked.waitMs()))
        .on(
            Operations.DESTROY_TRACK,
            asked -> track(asked.in()).close().map(ended -> new DestroyedTrack(asked.in().track())))
        .answer(ApiAddresses.COORDINATORS, request);
  }

  private Opened track(InTrack in) {
    Opened track = tracks.get(in.track(), each -> each.coordinator.name().equals(in.coordinator()));
    track.expiry.use(in.user());
    return track;
  }

  /** A track, and the coordinator that was made for it alone. */
  private record Begun(ClusterCoordinator coordinator, ClusterTrack track) {}

  private Future<Begun> begin(CoordinatorOptions options, String name, String user) {
    ClusterCoordinator coordinator =
        EvenkeelClientImpl.onBehalfOf(client, user).coordinator(options);
    return coordinator
        .track(name)
        .map(track -> new Begun(coordinator, track))
        .onFailure(refused -> coordinator.close());
  }

  private Future<OpenedTrack> open(OpenTrack asked) {
    CoordinatorOptions options =
        new CoordinatorOptions()
            .setName(asked.coordinator())
            .setRange(asked.range())
            .setIdleMillis(asked.idleMs());
    return tracks
        .open(
            asked.user(),
            () -> begin(options, asked.name(), asked.user()),
            (begun, id) -> new Opened(id, asked, begun.coordinator(), begun.track()))
        .map(
            opened -> {
              ClusterTrack track = opened.owned().track;
              return new OpenedTrack(opened.id(), track.name(), track.steps(), asked.expiresMs());
            });
  }
}
