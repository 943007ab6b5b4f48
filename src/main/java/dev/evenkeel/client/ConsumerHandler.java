package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * What an application does with messages. In most cases it is a lambda for {@link #handle}; the
 * other methods have defaults. To publish or to commit state with a message, be a {@link
 * ContextHandler}; to take several messages at once, a {@link BatchHandler}.
 *
 * <p>All methods are called on the consumer's context, so never two at the same time, and must not
 * block. A method that returns a future has ended when the future completes, on any thread.
 *
 * <p>Code that blocks, such as JDBC, needs {@link ConsumerOptions#setWorker} or a {@link
 * BlockingHandler}. Then the methods that return futures are called on worker threads and may
 * block, and several of them may run at the same time. The other methods stay on the consumer's
 * context.
 *
 * <p>Many messages may be at work at once, as the options order and parallel say. If a method
 * without a future throws, this is only logged, unless the method says otherwise.
 */
@FunctionalInterface
public interface ConsumerHandler {

  /**
   * Handles a message. The message is finished when the future succeeds.
   *
   * @return never null. If it fails, or if the method throws, the message is tried again as the
   *     options say ({@link ConsumerOptions#setRetryDelaysMillis}, {@link
   *     ConsumerOptions#setOnFailure}).
   */
  Future<Void> handle(Delivery delivery);

  /**
   * Called before the first message of a shard that this member gets. The shard's messages wait
   * until it succeeds.
   *
   * <p>If it fails, it is called again after 1, 2, 5, 10, 20 and then every 30 seconds, until it
   * succeeds or another member gets the shard. Meanwhile {@code group describe} shows that the
   * shard waits.
   *
   * @param state what a former owner's {@link #onRelease} or {@link MessageContext#commit} stored,
   *     or null if there is none
   */
  default Future<Void> onAssign(ShardContext shard, Buffer state) {
    return Future.succeededFuture();
  }

  /**
   * Called instead of {@link #onAssign} with the first owner of a shard that was opened when the
   * number of its topic's shards changed, if the shards from which its keys come have left state.
   * Those are consumed to their ends, and nothing changes their states any more.
   *
   * <p>The states of several shards may have to be merged, and a state may cover keys that have
   * gone to other shards: take over what {@link ShardContext#hasKey} says, and of what belongs to
   * no key only where this shard is the {@link ParentState#heir}. By default it fails, so that no
   * state is lost or counted twice: a handler that keeps state must override it before its topic's
   * number of shards changes.
   *
   * @param parents states of former shards, at least one, ordered by shard. If two have the same
   *     key, the later one counts: the other is older
   */
  default Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
    return Future.failedFuture(
        new UnsupportedOperationException(
            "shard "
                + shard.shard()
                + " of topic "
                + shard.topic()
                + " goes on with the states of former shards: the handler must override"
                + " onAssignFromParents and take them over"));
  }

  /**
   * Called in mode level, in which members own no shards, when the group's level dispatcher has
   * taken this member in. From now on messages may come. It is called again when another level
   * dispatcher takes the member in, or the same one after it had set the member aside.
   */
  default void onLevel() {}

  /**
   * Called in mode singleton when this member becomes the leader of its group, is about to hand
   * over, or does not lead any more. When it becomes the leader, this is called before {@link
   * #onAssign} of its shards, and {@link #onAssign} is not called before all shards are granted. To
   * do something at the beginning and the end of a leadership, use a {@link LeaderCareer} instead.
   *
   * @param leader the leadership with its term; null if this member does not lead
   */
  default void onLeadership(LeaderContext leader) {}

  /**
   * Called when a shard is about to go to another owner. The handover waits for messages that run.
   * So that nothing comes twice, messages below the highest finished one are still handled and
   * tried again; no others are started. All this takes the lock time at most. To give up work that
   * takes long, fail it with {@link GivenBackException}: then it is not tried again here, and goes
   * to the next owner together with everything that was finished above it.
   *
   * <p>In mode level it is called when the consumer closes, for each shard of which a message runs.
   */
  default void onDraining(ShardContext shard) {}

  /**
   * Called when a handover is called off after {@link #onDraining}: the shard stays, and its
   * messages continue to come.
   */
  default void onKept(ShardContext shard) {}

  /**
   * Called after the last message of a shard that goes to another owner, or when the consumer
   * closes. The lock time covers it. If it fails or gives more than 1 MiB, the shard is released
   * without state, and the next owner begins with the state before and the messages since then.
   *
   * @return the shard's state for the next owner, at most 1 MiB; null or empty for none, in which
   *     case the state that a former owner gave stays
   */
  default Future<Buffer> onRelease(ShardContext shard) {
    return Future.succeededFuture();
  }

  /**
   * Whether this handler uses the state of a former owner. If so, a shard that has a state begins
   * at the offset that the state stands for; otherwise it begins at the committed offset. By
   * default: whether the class overrides {@link #onAssign}.
   */
  default boolean keepsState() {
    return overrides("onAssign", ShardContext.class, Buffer.class);
  }

  /**
   * Whether this handler gives state to later owners. By default: whether the class overrides
   * {@link #onRelease}.
   *
   * <p>If this and {@link #keepsState} are true, a shard without state counts as having an empty
   * state, at the offset where the first such owner began. After a crash the next owner begins
   * there and not at the committed offset. So a class that overrides both methods and keeps no
   * state should return false.
   */
  default boolean givesState() {
    return overrides("onRelease", ShardContext.class);
  }

  /**
   * Called when the log has taken a commit or a release of a shard: everything below {@code offset}
   * is finished. It is not called for a commit whose answer was lost; a later commit covers it.
   *
   * @param topic name of the topic
   * @param shard index of the shard
   * @param offset the next offset to be consumed; it never goes back while this member owns the
   *     shard
   */
  default void onCommitted(String topic, int shard, long offset) {}

  /**
   * With dedup, the bytes that identify the work a message asks for. Of messages with equal bytes
   * the group handles one at a time and lets one wait; it declines every further one. The method is
   * called often: it must be fast, and must always return the same for the same message. All
   * members of a group must have the same function. If it throws, the message fails.
   *
   * @return null if the message is like no other, and is always handled
   */
  default byte[] dedupKey(Message message) {
    return null;
  }

  /**
   * Whether {@link #dedupKey} says which messages are the same. If not, the option dedup does (key
   * or payload). By default: whether the class overrides {@link #dedupKey}.
   */
  default boolean givesDedupKey() {
    return overrides("dedupKey", Message.class);
  }

  /**
   * With dedup, called when a message was finished without {@link #handle(Delivery)}, because
   * another message like it is being handled and a third one waits. The one that waits had not
   * begun when this one was declined.
   */
  default void onDeclined(Delivery delivery) {}

  /**
   * Called when a message was finished without {@link #handle(Delivery)}, because it was over the
   * rate of its key and {@link ConsumerOptions#setOverRate} says that such messages are dropped.
   */
  default void onDropped(Delivery delivery) {}

  private boolean overrides(String method, Class<?>... parameters) {
    try {
      return getClass().getMethod(method, parameters).getDeclaringClass() != ConsumerHandler.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Called when a shard was lost without a release: another owner may be at work already. Drop what
   * you hold for the shard. In mode level, all messages of the shard that run here were taken back,
   * and other members may get them.
   */
  default void onLost(ShardContext shard) {}
}
