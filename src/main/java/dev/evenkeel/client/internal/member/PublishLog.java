package dev.evenkeel.client.internal.member;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import java.nio.ByteBuffer;

/**
 * The requests to the cluster that publishing for handlers needs. Every failure is a {@code
 * RefusedException}.
 */
interface PublishLog {
  /** To the leader of {@code shard}'s data group. */
  Future<Reply> submit(Shard shard, DataCommand command);

  /** To the leader of the meta group. */
  Future<Reply> submitMeta(MetaCommand command);

  /** To the leader of a data group. */
  Future<Reply> submit(int dataGroup, DataCommand command);

  /** Appends batches at the leader of their data group. */
  Future<ByteBuffer> append(int dataGroup, Bytes body);

  /**
   * Whether producers write to the shard, as far as this client has heard. If so, it asks again.
   */
  boolean isOpen(Shard shard);

  /** How many data groups there are; 0 if that is not known yet. */
  int dataGroups();

  /** The data group of a shard. */
  int group(Shard shard);

  /** Whether all nodes read the ids of {@link ProducerIds}. */
  boolean ownedProducers();

  /** Whether the cluster was formed without that data group. */
  boolean isAdded(int dataGroup);
}
