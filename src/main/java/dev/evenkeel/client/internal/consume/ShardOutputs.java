package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/**
 * What the handlers of one owned shard publish, in the order of their inputs; see ADR 15. An input
 * is done once the log has its output. Times are monotonic milliseconds.
 */
final class ShardOutputs {
  private final ShardPort shard;
  private final ShardLog log;
  private final Environment environment;
  private final ShardMessages messages;
  private final ObjLongConsumer<Task> done;

  /** Null before {@link #open}, and if the handler does not publish. */
  private PublishQueue queue;

  /**
   * @param done gets a message whose outputs the log has, and the time
   */
  ShardOutputs(
      ShardPort shard,
      ShardLog log,
      Environment environment,
      ShardMessages messages,
      ObjLongConsumer<Task> done) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.messages = messages;
    this.done = done;
  }

  /**
   * Handlers may publish.
   *
   * @param offset of the first input
   */
  void open(ConsumerAction.Opened opened, long offset) {
    int epoch = Math.toIntExact(shard.epoch());
    Map<Shard, Long> last = PublishQueue.from(offset, opened.last());
    queue = new PublishQueue(opened.producerId(), epoch, opened.groups(), last);
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
        environment.act(new ConsumerAction.Publish(shard, request));
      }
    }
  }

  /** The log has answered what handlers published. A repeat counts as accepted. */
  void published(PublishRequest request, List<Result> results, long now) {
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
      queue.taken(request).forEach(task -> done.accept(task, now));
    } else {
      publishFailed(request, new RefusedException(refusal, "what handlers publish"), now);
    }
    step(now);
  }

  /** What handlers published was refused, or the answer was lost. */
  void publishFailed(PublishRequest request, RefusedException refused, long now) {
    if (shard.state().over()) {
      return;
    }
    if (refused instanceof RefusedException.QuotaReached quota) {
      queue.again(request, quota, now);
    } else if (refused.refusal().retriable()) {
      queue.again(request, now + log.pause("its outputs cannot be published", refused));
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
