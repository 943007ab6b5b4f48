package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.internal.consume.ConsumerAction.Opened;
import dev.evenkeel.client.internal.consume.PublishRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import java.nio.ByteBuffer;

/** The production calls for what handlers publish, over a cluster that a test makes up. */
public final class PublishBench {
  /** The cluster. Futures that complete without a context call back at once. */
  public interface Cluster {
    Future<Reply> submit(Shard shard, DataCommand command);

    Future<Reply> submitMeta(MetaCommand command);

    Future<ByteBuffer> append(Shard shard, Bytes body);

    int dataGroups();

    default boolean isAdded(int dataGroup) {
      return false;
    }
  }

  private final PublishCalls calls;

  public PublishBench(Cluster cluster, String group) {
    calls =
        new PublishCalls(
            new PublishLog() {
              @Override
              public boolean ownedProducers() {
                return true;
              }

              @Override
              public Future<Reply> submit(Shard shard, DataCommand command) {
                return cluster.submit(shard, command);
              }

              @Override
              public Future<Reply> submitMeta(MetaCommand command) {
                return cluster.submitMeta(command);
              }

              @Override
              public Future<Reply> submit(int dataGroup, DataCommand command) {
                return cluster.submit(of(dataGroup), command);
              }

              @Override
              public Future<ByteBuffer> append(int dataGroup, Bytes body) {
                return cluster.append(of(dataGroup), body);
              }

              /** A shard that lies in the data group. */
              private Shard of(int dataGroup) {
                return new Shard(0, dataGroup);
              }

              @Override
              public boolean isOpen(Shard shard) {
                return false;
              }

              @Override
              public int dataGroups() {
                return cluster.dataGroups();
              }

              @Override
              public int group(Shard shard) {
                return shard.dataGroup(dataGroups());
              }

              @Override
              public boolean isAdded(int dataGroup) {
                return cluster.isAdded(dataGroup);
              }
            },
            group);
  }

  public Future<Long> open(Shard input, long epoch, long producerId) {
    return calls.open(input, epoch, producerId).map(Opened::producerId);
  }

  public Future<AppendResults> publish(PublishRequest request) {
    return calls.publish(request);
  }
}
