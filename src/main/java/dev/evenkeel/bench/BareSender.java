package dev.evenkeel.bench;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.concurrent.TimeUnit;

/**
 * Sends each message as a request of its own to the leader of its shard, without buffer, batches or
 * sequences. It is the baseline for the latency of a producer.
 */
final class BareSender implements Target.Sender {
  private static final long TIMEOUT_MILLIS = 30_000;
  private static final int BATCH_BYTES = 1 << 10;

  private final Link link;
  private final ClusterDirectory directory;
  private final int topicId;
  private final int shards;
  private int next;

  BareSender(Link link, String topic) {
    this.link = link;
    directory = new ClusterDirectory(link);
    ClusterView view = ClientConnection.await(directory.view());
    if (view.topic(topic) == null) {
      throw CommandFailure.failed(view.missing(topic).getMessage());
    }
    topicId = view.topic(topic).id();
    shards = view.topic(topic).shards();
  }

  @Override
  public void send(byte[] key, byte[] payload, Target.Done done) {
    Shard shard = new Shard(topicId, next++ % shards);
    BatchBuilder batch = new BatchBuilder(BATCH_BYTES);
    batch.add(new Message(key, null, System.currentTimeMillis(), payload));
    Bytes body = new Bytes(BATCH_BYTES);
    AppendBody.write(body, shard, batch.build(0, 0, 0));
    send(shard, body, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS), done);
  }

  /** The leaders change while a new cluster settles: then it finds out who leads now. */
  private void send(Shard shard, Bytes body, long deadlineNanos, Target.Done done) {
    link.request(
            Addresses.data(directory.leaderOf(shard)),
            Frames.request(Op.APPEND, body),
            TIMEOUT_MILLIS)
        .map(answer -> AppendResults.decode(Frames.answerBody(answer)).results().get(0))
        .onComplete(
            answered -> {
              if (answered.cause() instanceof RefusedException refused
                  && refused.refusal().retriable()
                  && System.nanoTime() < deadlineNanos) {
                directory.refresh().onComplete(any -> send(shard, body, deadlineNanos, done));
              } else if (answered.failed() || answered.result().ok()) {
                done.done(answered.cause());
              } else {
                done.done(new IllegalStateException("refused: " + answered.result().refusal()));
              }
            });
  }

  @Override
  public void close() {
    directory.close();
  }
}
