package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.List;
import org.slf4j.event.Level;

/** Something that the core wants done: one call of a {@link Performer}. */
@FunctionalInterface
public interface ConsumerAction {
  /**
   * What a former shard has left to one in its place; compare {@link
   * dev.evenkeel.client.ParentState}.
   */
  record Parent(int shard, byte[] state, boolean heir) {}

  /** Calls the method of {@code by} that carries out this action. */
  void performBy(Performer by);

  /**
   * Carries out the actions of a core. The methods with an {@code owned} start a request or a
   * callback, and later call the method of {@code owned}, or of its part, that reports its outcome.
   * The others are notices: nothing answers them, and by default nothing happens.
   */
  interface Performer {
    /** Answered by leaseRead or leaseFailed of the takeover. */
    void readLease(OwnedShard owned);

    /**
     * Reads the leases on the sealed shards with these numbers. Each is answered by parentRead or
     * parentFailed of the takeover.
     */
    void readParents(OwnedShard owned, List<Integer> parents);

    /**
     * Opens the lease's epoch in every data group, so that handlers can publish. Answered by
     * publisherOpened or publisherFailed of the takeover.
     *
     * @param producerId from the lease; 0: it has none yet
     */
    void openPublisher(OwnedShard owned, long producerId);

    /**
     * Calls onAssign. Answered by assignDone of the takeover.
     *
     * @param state of the former owner, or null
     * @param parents of the first owner of a shard that has parents, their states; else empty
     */
    void callAssign(OwnedShard owned, ShardContext shard, byte[] state, List<Parent> parents);

    /** Answered by fetched or fetchFailed. */
    void fetch(OwnedShard owned, FetchRequest request);

    /** Answered by retriesFetched or retriesFailed. */
    void fetchRetries(OwnedShard owned, RetryRequest request);

    /** Answered by recorded or recordFailed. */
    void recordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command);

    /** Answered by published or publishFailed of the outputs. */
    void publish(OwnedShard owned, PublishRequest request);

    /** Answered by committed or commitFailed. */
    void commit(OwnedShard owned, DataCommand.Commit command);

    /** Commits positions of several shards. Answered by answered or failed of the batch. */
    void commitPositions(CommitBatch batch);

    /**
     * A message that was {@link ConsumerCore#holds held} does not begin: it has failed with a
     * {@link dev.evenkeel.client.GivenBackException}, and whoever hands messages to handlers says
     * so to where it came from.
     */
    void giveBack(Task task);

    /** Calls onRelease. Answered by stateGiven of the release. */
    void callRelease(OwnedShard owned, ShardContext shard);

    /** Answered by released or releaseFailed of the release. */
    void release(OwnedShard owned, DataCommand.Release command);

    /** Calls onDraining. */
    default void callDraining(ShardContext shard) {}

    /** Calls onKept. */
    default void callKept(ShardContext shard) {}

    /** Nothing of the shard begins while the group is paused. */
    default void callPaused(ShardContext shard, boolean on) {}

    /** Calls onLost. */
    default void callLost(ShardContext shard) {}

    /**
     * Mode singleton: this member now leads its group, leads it no more, or must hand over.
     *
     * @param lead null: it does not lead
     */
    default void leadChanged(Assignment.Lead lead) {}

    /** Something has changed that the dispatcher must know before the next heartbeat is due. */
    default void heartbeatNow() {}

    /**
     * As {@link #heartbeatNow}, but it can wait a moment, so that one heartbeat reports many
     * shards.
     */
    default void heartbeatSoon() {}

    /**
     * The member gained or lost shards.
     *
     * @param owned how many it owns now
     */
    default void ownedChanged(int owned) {}

    /** A message has failed for good, and the options say that the consumer then ends. */
    default void stop(String text, Throwable cause) {}

    /**
     * Logs a line.
     *
     * @param cause or null
     */
    default void report(Level level, String text, Throwable cause) {}
  }
}
