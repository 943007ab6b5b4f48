package dev.evenkeel.bench;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * Sends each message as a request of its own to the leader of its shard, without buffer, batches or
 * sequences. It is the baseline for the latency of a producer.
 */
final class BareSender implements Target.Sender {
  private static final long TIMEOUT_MILLIS = 30_000;
  private static final long PAUSE_MILLIS = 100;
  private static final int BATCH_BYTES = 1 << 10;

  /** The leaders change while a new cluster settles. */
  private static final LeaderClient.Retry RETRY =
      LeaderClient.Retry.within(TIMEOUT_MILLIS, PAUSE_MILLIS, () -> false);

  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final int topicId;
  private final int shards;
  private int next;

  BareSender(Link link, String topic) {
    directory = new ClusterDirectory(link);
    leaders = new LeaderClient(link, directory);
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
    leaders
        .request(shard, Addresses::data, Frames.request(Op.APPEND, body), TIMEOUT_MILLIS, RETRY)
        .map(answer -> AppendResults.decode(answer).results().get(0))
        .onComplete(
            answered ->
                done.done(
                    answered.failed() || answered.result().ok()
                        ? answered.cause()
                        : new IllegalStateException("refused: " + answered.result().refusal())));
  }

  @Override
  public void close() {
    directory.close();
  }
}
