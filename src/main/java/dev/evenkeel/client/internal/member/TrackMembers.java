package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The tracks of one coordinator that a client has. */
public final class TrackMembers implements ClusterCoordinator, Ending {
  private final Link link;
  private final ClusterDirectory directory;
  private final CoordinatorOptions options;
  private final Set<TrackMember> tracks = new HashSet<>();
  private final Promise<Void> over = Promise.promise();
  private boolean closed;

  /**
   * @throws RefusedException INVALID for a wrong name, or options out of their bounds
   */
  public TrackMembers(Link link, ClusterDirectory directory, CoordinatorOptions given) {
    this.link = link;
    this.directory = directory;
    options = new CoordinatorOptions(given.toJson());
    Names.check("coordinator", options.getName());
    options.check();
  }

  @Override
  public String name() {
    return options.getName();
  }

  @Override
  public int range() {
    return options.getRange();
  }

  @Override
  public Future<ClusterTrack> track(String name) {
    String instance = UUID.randomUUID().toString();
    TrackMember track;
    try {
      if (name != null) {
        Names.check("track", name);
      }
      track =
          new TrackMember(
              link,
              directory,
              options,
              name == null ? Consumers.madeName(instance) : name,
              instance,
              Consumers.HOST);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(
            Refusal.UNAVAILABLE.error("coordinator %s is closed", options.getName()));
      }
      tracks.add(track);
    }
    track.over().onComplete(ended -> forget(track));
    return track.start();
  }

  private synchronized void forget(TrackMember track) {
    tracks.remove(track);
  }

  @Override
  public Future<Void> close() {
    List<TrackMember> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(tracks);
    }
    Future.join(all.stream().map(TrackMember::destroy).toList())
        .onComplete(done -> over.tryComplete());
    return over.future();
  }

  @Override
  public Future<Void> over() {
    return over.future();
  }
}
