package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.internal.consume.Effects;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Murmur2;
import io.vertx.core.buffer.Buffer;

/** The context of one attempt at a message: collects what the handler publishes and keeps. */
final class TaskContext implements MessageContext {
  private final ClusterDirectory directory;
  private final boolean commits;
  private final int inputShard;
  private final Effects effects;
  private boolean ended;

  /**
   * @param commits whether the handler may keep state
   */
  TaskContext(ClusterDirectory directory, boolean commits, Task task) {
    this.directory = directory;
    this.commits = commits;
    inputShard = task.shard();
    effects = task.newEffects();
  }

  @Override
  public void publish(String topic, String key, Buffer payload) {
    publish(topic, Message.of(key, System.currentTimeMillis(), payload.getBytes()));
  }

  @Override
  public synchronized void publish(String topic, Message message) {
    requireOpen();
    ClusterView view = directory.current();
    TopicInfo info = view == null ? null : view.topic(topic);
    if (info == null) {
      directory.refresh();
      throw view == null
          ? new RefusedException(Refusal.UNAVAILABLE, "the topics are not known yet: try again")
          : view.missing(topic);
    }
    int shard =
        message.key() == null
            ? inputShard % info.shards()
            : Murmur2.shard(message.key(), info.shards());
    effects.publish(new Shard(info.id(), shard), message);
  }

  @Override
  public synchronized void commit(Buffer state) {
    requireOpen();
    if (!commits) {
      throw new RefusedException(
          Refusal.INVALID,
          "to keep state, use delivery effectively-once and a handler that overrides onAssign");
    }
    effects.commit(state.getBytes());
  }

  private void requireOpen() {
    if (ended) {
      throw new IllegalStateException("the handler of this message has ended");
    }
  }

  /** The handler has ended. */
  synchronized void end() {
    ended = true;
  }
}
