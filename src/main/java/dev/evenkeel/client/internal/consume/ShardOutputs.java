package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * What the handlers of one owned shard publish, in the order of their inputs; see ADR 15. An input
 * is done once the log has its output. Times are monotonic milliseconds.
 */
public final class ShardOutputs {
  private final OwnedShard shard;
  private final Environment environment;
  private final ShardMessages messages;

  /** Null before {@link #open}, and if the handler does not publish. */
  private PublishQueue queue;

  ShardOutputs(OwnedShard shard) {
    this.shard = shard;
    environment = shard.environment;
    messages = shard.messages;
  }

  /**
   * Handlers may publish.
   *
   * @param producerId of the generation
   * @param groups gives the data group of a shard
   * @param last by shard, the last sequence that it took of the producer
   * @param offset of the first input
   */
  void open(long producerId, ToIntFunction<Shard> groups, Map<Shard, Long> last, long offset) {
    int epoch = Math.toIntExact(shard.epoch());
    queue = new PublishQueue(producerId, epoch, groups, PublishQueue.from(offset, last));
  }

  boolean isOpen() {
    return queue != null;
  }

  /** Whether the sealed shard has what the input at {@code offset} published to it. */
  boolean hasPublished(Shard sealed, long offset) {
    return queue != null && queue.hasPublished(sealed, offset);
  }

  /** A handler that published has ended well. */
  void add(Task task, long now) {
    queue.add(task);
    step(now);
  }

  /** How many handled messages wait with their outputs for earlier messages to be handled. */
  int held() {
    return queue == null ? 0 : queue.held();
  }

  /** Sends what may be sent now. */
  void step(long now) {
    if (queue != null && environment.linkUp()) {
      for (PublishRequest request : queue.next(messages.window(), now)) {
        environment.act(by -> by.publish(shard, request));
      }
    }
  }

  /** The log has answered what handlers published. A repeat counts as accepted. */
  public void published(PublishRequest request, List<Result> results, long now) {
    if (shard.state().over()) {
      return;
    }
    Refusal refusal = null;
    for (Result result : results) {
      if (!result.ok() && (refusal == null || refusal.retriable())) {
        refusal = result.refusal();
      }
    }
    if (refusal == null) {
      queue.taken(request).forEach(task -> shard.handling.done(task, now));
    } else {
      publishFailed(request, new RefusedException(refusal, "what handlers publish"), now);
    }
    step(now);
  }

  /** What handlers published was refused, or the answer was lost. */
  public void publishFailed(PublishRequest request, RefusedException refused, long now) {
    if (shard.state().over()) {
      return;
    }
    if (refused instanceof RefusedException.QuotaReached quota) {
      queue.again(request, quota, now);
    } else if (refused.refusal().retriable()) {
      queue.again(request, now + shard.log.pause("its outputs cannot be published", refused));
    } else {
      // It can never be published: the next owner begins at the committed offset.
      shard.lose("what its handlers publish is refused: " + refused, now);
    }
  }

  /**
   * Messages whose outputs wait for a message that will not begin go to the next owner. None of
   * these outputs was sent.
   */
  void giveUp(long now) {
    if (queue != null) {
      queue
          .giveUp(messages.window(), messages.running())
          .forEach(task -> messages.givenUp(task, now));
    }
  }

  /**
   * The shard is over: nothing more is sent.
   *
   * @param stoppedMillis since when no handler of the shard starts any more
   */
  void clear(long stoppedMillis, long now) {
    if (queue != null) {
      for (Task task : queue.clear()) {
        messages.ended(task, stoppedMillis);
        environment.removed(1, task.bytes, now);
      }
    }
  }
}
