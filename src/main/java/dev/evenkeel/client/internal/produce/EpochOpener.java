package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gets a producer's id and epoch from the meta log group, and records the epoch in every data log
 * group. It retries what may succeed later until the time is over or {@link #stop()}.
 */
public final class EpochOpener {
  private static final long REQUEST_TIMEOUT_MILLIS = 3_000;

  private static final long PAUSE_MILLIS = 100;

  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final String name;

  /** Whether this program is a member of the cluster. */
  private final boolean member;

  private volatile boolean stopped;

  /**
   * @param name of the producer; empty if it has none
   */
  public EpochOpener(Link link, ClusterDirectory directory, String name) {
    this.directory = directory;
    this.name = name;
    member = link instanceof VertxLink;
    leaders = new LeaderClient(link, directory);
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
    long sinceNanos = System.nanoTime();
    return register(timeoutMillis)
        .compose(
            given ->
                name.isEmpty()
                    ? Future.succeededFuture(
                        new Opened(given.producerId(), given.epoch(), Map.of()))
                    : everywhere(
                        given.producerId(), given.epoch(), leftMillis(sinceNanos, timeoutMillis)));
  }

  /** The epoch after {@code epoch}, see {@link #claim}; tried until {@link #stop()}. */
  Future<Opened> next(long producerId, int epoch) {
    return claim(producerId, epoch).compose(claimed -> open(claimed.producerId(), claimed.epoch()));
  }

  /**
   * The epoch after {@code epoch}, in which this program may have sent; tried until {@link
   * #stop()}. {@link #open} opens it. Fails with PRODUCER_FENCED if another program has registered
   * the name since: what it has sent must not count as sent by this one. A name that the cluster
   * has forgotten is registered again.
   */
  public Future<Reply.OfProducer> claim(long producerId, int epoch) {
    if (name.isEmpty()) {
      return counted(producerId, epoch);
    }
    Retry retry = within(LeaderClient.NO_LIMIT_MILLIS);
    return leaders
        .repeat(retry, directory::refresh)
        .compose(
            view ->
                view.featureLevel() < FeatureLevel.CONTINUED_PRODUCERS
                    ? register(LeaderClient.NO_LIMIT_MILLIS)
                    : epoch(new MetaCommand.ContinueProducer(name, epoch), retry)
                        .recover(this::afresh));
  }

  /**
   * After long silence the cluster has forgotten the name. Nobody has taken it since, or that was
   * long ago, too.
   */
  private Future<Reply.OfProducer> afresh(Throwable failure) {
    return RefusedException.of(failure).refusal() == Refusal.UNKNOWN_PRODUCER
        ? register(LeaderClient.NO_LIMIT_MILLIS)
        : Future.failedFuture(failure);
  }

  /** As {@link #claim} for a program that has sent nothing yet: it takes over the name. */
  public Future<Reply.OfProducer> takeOver(long producerId, int epoch) {
    return name.isEmpty() ? counted(producerId, epoch) : register(LeaderClient.NO_LIMIT_MILLIS);
  }

  /** Nobody else knows the id of a producer without a name, so it counts its epochs itself. */
  private static Future<Reply.OfProducer> counted(long producerId, int epoch) {
    return Future.succeededFuture(new Reply.OfProducer(producerId, epoch + 1));
  }

  /**
   * Opens a claimed epoch in every data group; tried until {@link #stop()}. A repeat answers as the
   * first, as long as nothing was sent in the epoch.
   */
  public Future<Opened> open(long producerId, int epoch) {
    return everywhere(producerId, epoch, LeaderClient.NO_LIMIT_MILLIS);
  }

  private Retry within(long millis) {
    return Retry.within(millis, PAUSE_MILLIS, () -> stopped);
  }

  private static long leftMillis(long sinceNanos, long timeoutMillis) {
    return timeoutMillis == LeaderClient.NO_LIMIT_MILLIS
        ? timeoutMillis
        : timeoutMillis - (System.nanoTime() - sinceNanos) / 1_000_000;
  }

  private Future<Reply.OfProducer> register(long timeoutMillis) {
    Future<Reply.OfProducer> given =
        epoch(new MetaCommand.RegisterProducer(name), within(timeoutMillis));
    return member ? given.map(this::ofMember) : given;
  }

  /** No session may use the id of a member of the cluster. */
  private Reply.OfProducer ofMember(Reply.OfProducer given) {
    ClusterView view = directory.current();
    return name.isEmpty() && view != null && view.featureLevel() >= FeatureLevel.PRODUCER_OWNERS
        ? new Reply.OfProducer(ProducerIds.ofMember(given.producerId()), given.epoch())
        : given;
  }

  private Future<Reply.OfProducer> epoch(MetaCommand command, Retry retry) {
    return leaders
        .submit(command, REQUEST_TIMEOUT_MILLIS, retry)
        .map(reply -> (Reply.OfProducer) reply);
  }

  private Future<Opened> everywhere(long producerId, int epoch, long timeoutMillis) {
    long sinceNanos = System.nanoTime();
    return leaders
        .repeat(within(timeoutMillis), directory::view)
        .compose(
            view -> {
              Retry retry = within(leftMillis(sinceNanos, timeoutMillis));
              DataCommand command = new DataCommand.OpenProducer(producerId, epoch);
              List<Future<Reply>> groups = new ArrayList<>();
              for (int group = 0; group < view.dataLeaders().size(); group++) {
                groups.add(leaders.submit(group, command, REQUEST_TIMEOUT_MILLIS, retry));
              }
              return Future.all(groups).map(all -> merge(producerId, epoch, groups));
            });
  }

  private static Opened merge(long producerId, int epoch, List<Future<Reply>> groups) {
    Map<Shard, Long> last = new HashMap<>();
    groups.forEach(group -> last.putAll(((Reply.OfSequences) group.result()).lastSequences()));
    return new Opened(producerId, epoch, last);
  }
}
