package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.internal.consume.Effects;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.client.internal.tracing.SendSpans;
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
  private final Task task;
  private final SendSpans spans;
  private final Effects effects;
  private boolean ended;

  /**
   * @param commits whether the handler may keep state
   * @param spans of what it publishes; null: there are none
   */
  TaskContext(ClusterDirectory directory, boolean commits, Task task, SendSpans spans) {
    this.directory = directory;
    this.commits = commits;
    this.spans = spans;
    this.task = task;
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
      // The handler then fails for a reason that is not its message's, unless it is certain.
      throw directory.missing(topic);
    }
    for (TopicInfo.Layout former : info.former()) {
      if (task.hasPublished(shard(info.id(), former, message))) {
        // An earlier attempt has published it, before the number of shards changed.
        return;
      }
    }
    Message traced = spans == null ? message : spans.created(topic, message);
    effects.publish(shard(info.id(), info.open(), message), traced);
  }

  private Shard shard(int topicId, TopicInfo.Layout layout, Message message) {
    int place =
        message.key() == null
            ? task.shard() % layout.shards()
            : Murmur2.shard(message.key(), layout.shards());
    return new Shard(topicId, layout.first() + place);
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
