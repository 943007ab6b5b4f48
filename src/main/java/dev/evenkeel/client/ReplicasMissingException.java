package dev.evenkeel.client;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;

/**
 * With {@link Acks#ALL}: the message <em>is</em> in the log, committed by a majority and on their
 * disks, but was not known to be on every replica within the time for it. Nothing is to be done
 * about it: the replicas that are missing get it when they are back. Sent once more it would be
 * there twice.
 */
public final class ReplicasMissingException extends RefusedException {
  private static final long serialVersionUID = 1L;

  private final int shard;
  private final long offset;
  private final transient List<String> nodes;

  /**
   * @param offset -1 if nobody remembers it
   * @param nodes that are not known to have it; empty if nobody could be asked
   */
  public ReplicasMissingException(int shard, long offset, List<String> nodes, long timeoutMillis) {
    super(
        Refusal.REPLICAS_MISSING,
        "it is in the log at shard "
            + shard
            + (offset < 0 ? "" : " offset " + offset)
            + ", but after "
            + timeoutMillis
            + " ms not known to be on "
            + (nodes.isEmpty()
                ? "every replica: no leader answered"
                : "the disk of " + String.join(", ", nodes)));
    this.shard = shard;
    this.offset = offset;
    this.nodes = List.copyOf(nodes);
  }

  /** Where the message is. */
  public Producer.Position position() {
    return new Producer.Position(shard, offset);
  }

  /** The nodes that are not known to have it; empty if nobody could be asked. */
  public List<String> nodes() {
    return nodes == null ? List.of() : nodes;
  }
}
