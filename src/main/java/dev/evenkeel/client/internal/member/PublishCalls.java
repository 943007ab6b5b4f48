package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.internal.consume.ConsumerAction.Opened;
import dev.evenkeel.client.internal.consume.PublishRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/** The requests that publish messages of handlers. Every failure is a {@link RefusedException}. */
final class PublishCalls {
  /**
   * A producer id that this run of the member has got for a lease that named none.
   *
   * @param named the lease names the id: a data group that does not know it has forgotten it
   */
  private record Fresh(long epoch, long producerId, AtomicBoolean named) {}

  private final PublishLog calls;
  private final String group;

  /**
   * The last id of each shard. All attempts of one epoch use the same id: what one attempt still
   * sends must not replace what another has opened.
   */
  private final Map<Shard, Fresh> fresh = new ConcurrentHashMap<>();

  PublishCalls(PublishLog calls, String group) {
    this.calls = calls;
    this.group = group;
  }

  /**
   * Opens the epoch of the lease in every data group, which fences all lower epochs.
   *
   * <p>The first owner of a generation gets the id from the meta group, and puts it into the lease
   * once every data group knows it. So if a lease names an id that a data group does not know, that
   * group has forgotten it.
   *
   * @param input the shard whose messages are handled
   * @param epoch of its lease
   * @param producerId as the lease has it; 0: it has none yet
   */
  Future<Opened> open(Shard input, long epoch, long producerId) {
    if (producerId > 0) {
      return everywhere(input, epoch, producerId, false)
          .map(last -> new Opened(producerId, calls::group, last));
    }
    return fresh(input, epoch)
        .compose(
            one ->
                everywhere(input, epoch, one.producerId, !one.named.get())
                    .compose(
                        last ->
                            name(input, one)
                                .map(done -> new Opened(one.producerId, calls::group, last))));
  }

  /** The id of that epoch: the one that an earlier attempt has got, or a new one. */
  private Future<Fresh> fresh(Shard input, long epoch) {
    Fresh known = fresh.get(input);
    if (known != null && known.epoch == epoch) {
      return Future.succeededFuture(known);
    }
    return calls
        .submitMeta(new MetaCommand.RegisterProducer(""))
        .map(
            reply -> {
              long given = ((Reply.OfProducer) reply).producerId();
              long id = calls.ownedProducers() ? ProducerIds.ofGroup(given, group) : given;
              // Another attempt may have got one meanwhile.
              return fresh.compute(
                  input,
                  (shard, present) ->
                      present != null && present.epoch >= epoch
                          ? present
                          : new Fresh(epoch, id, new AtomicBoolean()));
            })
        .compose(
            one ->
                one.epoch == epoch
                    ? Future.succeededFuture(one)
                    : Future.failedFuture(
                        new RefusedException(Refusal.FENCED, "the lease is at a later epoch")));
  }

  private Future<?> name(Shard input, Fresh one) {
    return calls
        .submit(input, new DataCommand.SetPublisher(group, input, one.epoch, one.producerId))
        .map(
            reply -> {
              long named = ((Reply.OfLease) reply).lease().generation().producerId();
              if (named != one.producerId) {
                throw new RefusedException(Refusal.UNAVAILABLE, "the lease names another producer");
              }
              one.named.set(true);
              return reply;
            });
  }

  /**
   * @return by shard, the last sequence that it took of the producer
   */
  private Future<Map<Shard, Long>> everywhere(Shard input, long epoch, long id, boolean isFresh) {
    int groups = calls.dataGroups();
    if (groups == 0) {
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "no leader is known: ask again"));
    }
    return Future.all(
            IntStream.range(0, groups)
                .mapToObj(
                    to -> {
                      // The producer may be older than an added data group, which then does not
                      // know it. The others tell whether it was forgotten.
                      boolean unheard = isFresh || calls.isAdded(to);
                      return calls.submit(
                          to,
                          new DataCommand.OpenPublisher(
                              id, Math.toIntExact(epoch), group, input, unheard));
                    })
                .toList())
        .map(
            replies -> {
              Map<Shard, Long> last = new HashMap<>();
              for (Reply reply : replies.<Reply>list()) {
                if (reply instanceof Reply.OfSequences of) {
                  last.putAll(of.lastSequences());
                }
              }
              return last;
            });
  }

  Future<AppendResults> publish(PublishRequest request) {
    return calls
        .append(request.group(), request.body())
        .map(AppendResults::decode)
        .map(
            answer -> {
              if (answer.results().size() != request.batches()) {
                throw new RefusedException(
                    Refusal.INDETERMINATE,
                    request.batches() + " batches, but " + answer.results().size() + " results");
              }
              for (int i = 0; i < answer.results().size(); i++) {
                boolean sealed = answer.results().get(i).refusal() == Refusal.SEALED;
                if (sealed && calls.isOpen(request.to(i))) {
                  throw new RefusedException(
                      Refusal.UNAVAILABLE, "the topic is being given other shards");
                }
              }
              return answer;
            });
  }
}
