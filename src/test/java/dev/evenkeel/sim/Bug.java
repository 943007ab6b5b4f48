package dev.evenkeel.sim;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RetryAnswer;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.function.LongToIntFunction;

/**
 * A bug planted at a seam between the production classes, to show that the simulation would find
 * it. Each method sees what passes a seam and may alter it.
 */
interface Bug {
  Bug NONE = new Bug() {};

  /**
   * What the state machine gets instead of {@code command}.
   *
   * @param lease as it is before, or null
   */
  default DataCommand command(DataCommand command, Lease lease) {
    return command;
  }

  /**
   * The limit of a request to forget leases.
   *
   * @param highest epoch of the group's leases in the data group
   */
  default long forgottenUpTo(DataCommand.ForgetLeases command, long highest) {
    return command.epochMax();
  }

  /** The feature level of the cluster as dispatchers see it. */
  default int level() {
    return FeatureLevel.NEWEST;
  }

  /** A command about shards, on its way to a data group. */
  default DataCommand managed(DataCommand command) {
    return command;
  }

  /**
   * What a replica answers to an entry that it does not apply; null: it applies the entry.
   *
   * @param replica its number
   */
  default ByteBuffer passesOver(int replica, byte[] entry) {
    return null;
  }

  /** Whether a new copy of a log group takes what came after its snapshot for applied. */
  default boolean newCopyMissesEntries() {
    return false;
  }

  /** What an owner is told of failures. */
  default RetryAnswer retries(RetryAnswer answer) {
    return answer;
  }

  /**
   * What a dispatcher reads.
   *
   * @param first it is the first of the cluster
   */
  default List<ShardStatus> statuses(List<ShardStatus> statuses, boolean first) {
    return statuses;
  }

  /**
   * The term of a shard as a dispatcher sees it.
   *
   * @param known the group's, as far as it knows
   */
  default long termSeen(long term, long known) {
    return term;
  }

  /**
   * How long a dispatcher says that it was active.
   *
   * @param wallMillis by how much wall clocks have moved since one said so
   */
  default long activeMillis(long livedMillis, long wallMillis) {
    return livedMillis;
  }

  /**
   * The clock that a leader writes into entries.
   *
   * @param clusterMillis what most nodes take for the time
   * @param ownMillis its own wall clock
   */
  default long entryMillis(long clusterMillis, long ownMillis) {
    return clusterMillis;
  }

  /** Whether the time of a log group follows the clocks in its entries however far they jump. */
  default boolean logTimeIsUnbounded() {
    return false;
  }

  /**
   * What a consumer takes notice of in an assignment.
   *
   * @param released epochs at which it has released shards
   */
  default Assignment assigned(Assignment told, Set<Long> released) {
    return told;
  }

  /** What a dispatcher hears of the shards that a member has. */
  default List<ShardProgress> marks(List<ShardProgress> marks, Assignment told) {
    return marks;
  }

  /** Whether the clock of a consumer goes on while its machine is suspended. */
  default boolean noticesSuspensions() {
    return true;
  }

  /** When a consumer believes that its answered heartbeat was sent, by its clock. */
  default long answeredSent(long sentMillis, long nowMillis) {
    return sentMillis;
  }

  /** Whether a consumer is told of its heartbeats though none was answered. */
  default boolean feelsAlive() {
    return false;
  }

  /**
   * The lease that a consumer reads.
   *
   * @param begun one more than the highest offset that this run of it has begun of the shard, or 0
   */
  default Lease leaseRead(Lease lease, long begun) {
    return lease;
  }

  /** The lease on a former shard that the first owner of another one reads. */
  default Lease parent(Lease lease) {
    return lease;
  }

  /** Whether a dispatcher takes a reset for one by force. */
  default boolean resetsByForce(boolean force) {
    return force;
  }

  /**
   * The producer that a consumer takes for that of a lease.
   *
   * @param producerId the lease's; 0: it has none
   * @param last that a lease on the shard had, also before a reset; 0: none
   */
  default long publisher(long producerId, long last) {
    return producerId;
  }

  /**
   * What the log gets of what handlers publish.
   *
   * @param epochs that the log knows of producers, by their ids
   */
  default List<AppendBody.Item> published(List<AppendBody.Item> items, LongToIntFunction epochs) {
    return items;
  }

  /** Whether a leader of a data group looks at the delayed messages that it finds. */
  default boolean newLeaderLooks() {
    return true;
  }

  /** Whether it delivers again what the one before it delivered last. */
  default boolean newLeaderDeliversAgain() {
    return false;
  }

  /** Up to when a leader delivers messages that are due, by its clock. */
  default long dueClock(long clockMillis) {
    return clockMillis;
  }
}
