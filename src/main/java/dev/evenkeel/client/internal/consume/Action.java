package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetryRequest;

/** What the core wants to be done. The shell does it and gives the outcome back as an event. */
public sealed interface Action {
  /** Answered by leaseRead or leaseFailed. */
  record ReadLease(Hold hold) implements Action {}

  /**
   * Calls onAssign; answered by assignDone.
   *
   * @param state of the former owner, or null
   */
  record CallAssign(Hold hold, ShardContext shard, byte[] state) implements Action {}

  /** Answered by fetched or fetchFailed. */
  record Fetch(Hold hold, FetchRequest request) implements Action {}

  /** Answered by committed or commitFailed. */
  record Commit(Hold hold, DataCommand.Commit command) implements Action {}

  /**
   * Opens the lease's epoch for what handlers publish, in every data group; answered by
   * publisherOpened or publisherFailed.
   *
   * @param producerId as the lease has it; 0: it has none yet
   */
  record OpenPublisher(Hold hold, long producerId) implements Action {
    public Shard shard() {
      return hold.shard;
    }

    public long epoch() {
      return hold.epoch;
    }
  }

  /** Answered by published or publishFailed. */
  record Publish(Hold hold, PublishRequest request) implements Action {}

  /** Calls onDraining. Not answered. */
  record CallDraining(ShardContext shard) implements Action {}

  /** Calls onKept. Not answered. */
  record CallKept(ShardContext shard) implements Action {}

  /** Calls onRelease; answered by stateGiven. */
  record CallRelease(Hold hold, ShardContext shard) implements Action {}

  /** Answered by released or releaseFailed. */
  record Release(Hold hold, DataCommand.Release command) implements Action {}

  /** Calls onLost. Not answered. */
  record CallLost(ShardContext shard) implements Action {}

  /**
   * Mode singleton: this member leads its group, or leads it no more, or is to hand over. Not
   * answered.
   *
   * @param lead null: it does not lead
   */
  record LeadChanged(Assignment.Lead lead) implements Action {}

  /** The dispatcher should hear of a change before the next heartbeat is due. */
  record HeartbeatNow() implements Action {}

  /**
   * As {@link HeartbeatNow}, for figures only: a moment may pass, so that one tells of many shards.
   */
  record HeartbeatSoon() implements Action {}

  /** Answered by recorded or recordFailed. */
  record RecordOutcomes(Hold hold, DataCommand.RecordOutcomes command) implements Action {}

  /** Answered by retriesFetched or retriesFailed. */
  record FetchRetries(Hold hold, RetryRequest request) implements Action {}

  /** A message has failed for good, and the consumer shall end for it. Not answered. */
  record Stop(String text, Throwable cause) implements Action {}

  /** Shards were gained or lost. */
  record OwnedChanged(int owned) implements Action {}

  /**
   * Something for the log.
   *
   * @param error whether it needs somebody's attention
   * @param cause or null
   */
  record Report(Severity severity, String text, Throwable cause) implements Action {}

  /** How much a report matters to who runs the consumer. */
  enum Severity {
    /** What belongs to ordinary operation. */
    INFO,
    WARN,
    ERROR
  }
}
