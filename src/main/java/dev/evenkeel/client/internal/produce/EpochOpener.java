package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gets a producer its id and epoch from the meta group, and records an epoch in every data group.
 * Whatever may succeed later is tried again until the time is over or {@link #stop()}.
 */
public final class EpochOpener {
  private static final long REQUEST_TIMEOUT_MILLIS = 3_000;

  private final Link link;
  private final ClusterDirectory directory;
  private final String name;
  private final Retry retry;
  private volatile boolean stopped;

  /**
   * @param name of the producer; empty if it has none
   */
  public EpochOpener(Link link, ClusterDirectory directory, String name) {
    this.link = link;
    this.directory = directory;
    this.name = name;
    retry = new Retry(link.vertx(), () -> stopped, directory::refresh);
  }

  /** An epoch that every data group knows, and by shard the last sequence of the one before. */
  public record Opened(long producerId, int epoch, Map<Shard, Long> lastSequences) {}

  public void stop() {
    stopped = true;
  }

  /**
   * A fresh id, or for a name its id with the next epoch, which then is opened everywhere.
   *
   * @param timeoutMillis how long it is tried
   */
  public Future<Opened> first(long timeoutMillis) {
    long untilNanos = System.nanoTime() + timeoutMillis * 1_000_000;
    return register(untilNanos)
        .compose(
            given ->
                name.isEmpty()
                    ? Future.succeededFuture(
                        new Opened(given.producerId(), given.epoch(), Map.of()))
                    : everywhere(given.producerId(), given.epoch(), untilNanos));
  }

  /** The epoch after {@code epoch}; tried until {@link #stop()}. */
  Future<Opened> next(long producerId, int epoch) {
    return claim(producerId, epoch).compose(claimed -> open(claimed.producerId(), claimed.epoch()));
  }

  /** An epoch that no data group knows yet. */
  public record Claimed(long producerId, int epoch) {}

  /** The epoch after {@code epoch}, to be opened; tried until {@link #stop()}. */
  public Future<Claimed> claim(long producerId, int epoch) {
    if (name.isEmpty()) {
      // Nobody else knows this id, so the epochs are the producer's own to count.
      return Future.succeededFuture(new Claimed(producerId, epoch + 1));
    }
    return register(untilStopped()).map(given -> new Claimed(given.producerId(), given.epoch()));
  }

  /**
   * Opens a claimed epoch in every data group; tried until {@link #stop()}. A repeat answers as the
   * first, as long as nothing was sent in the epoch.
   */
  public Future<Opened> open(long producerId, int epoch) {
    return everywhere(producerId, epoch, untilStopped());
  }

  private static long untilStopped() {
    return System.nanoTime() + Long.MAX_VALUE / 2;
  }

  private Future<Reply.OfProducer> register(long untilNanos) {
    Bytes body = new Bytes();
    CommandCodec.write(body, new MetaCommand.RegisterProducer(name));
    return retry.until(
        untilNanos,
        () ->
            directory
                .view()
                .compose(
                    view ->
                        submit(
                                ClusterView.META,
                                view.metaLeader(),
                                Frames.request(Op.SUBMIT_META, body))
                            .onFailure(
                                failure -> {
                                  String leader = Retry.leaderNamedBy(failure);
                                  if (leader != null) {
                                    directory.metaLeaderHint(leader);
                                  }
                                }))
                .map(reply -> (Reply.OfProducer) reply));
  }

  private Future<Opened> everywhere(long producerId, int epoch, long untilNanos) {
    return retry
        .until(untilNanos, directory::view)
        .compose(
            view -> {
              List<Future<Reply.OfSequences>> groups = new ArrayList<>();
              for (int group = 0; group < view.dataLeaders().size(); group++) {
                groups.add(open(group, producerId, epoch, untilNanos));
              }
              return Future.all(groups).map(all -> merge(producerId, epoch, groups));
            });
  }

  private static Opened merge(long producerId, int epoch, List<Future<Reply.OfSequences>> groups) {
    Map<Shard, Long> last = new HashMap<>();
    groups.forEach(group -> last.putAll(group.result().lastSequences()));
    return new Opened(producerId, epoch, last);
  }

  private Future<Reply.OfSequences> open(int group, long producerId, int epoch, long untilNanos) {
    Bytes body = new Bytes().i32(group);
    CommandCodec.write(body, new DataCommand.OpenProducer(producerId, epoch));
    return retry.until(
        untilNanos,
        () -> {
          ClusterView view = directory.current();
          return submit(group, view.leader(group), Frames.request(Op.SUBMIT_DATA, body))
              .onFailure(
                  failure -> {
                    String leader = Retry.leaderNamedBy(failure);
                    if (leader != null) {
                      // Shard {@code group} of a topic 0 would lie in this group.
                      directory.leaderHint(new Shard(0, group), leader);
                    }
                  })
              .map(reply -> (Reply.OfSequences) reply);
        });
  }

  private Future<Reply> submit(int group, String leader, Buffer request) {
    if (leader == null) {
      return Future.failedFuture(
          new RefusedException(
              Refusal.UNAVAILABLE, "no leader is known: a majority of the nodes must be up"));
    }
    return directory
        .whileLeads(
            group, leader, link.request(Addresses.control(leader), request, REQUEST_TIMEOUT_MILLIS))
        .map(
            answer -> {
              Reply reply = ReplyCodec.decode(Frames.answerBody(answer));
              if (reply instanceof Reply.Refused refused) {
                throw refused.exception();
              }
              return reply;
            });
  }
}
