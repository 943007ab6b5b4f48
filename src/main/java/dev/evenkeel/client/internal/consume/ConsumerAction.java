package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetryRequest;

/** What the core wants to be done. The shell does it and gives the outcome back as an event. */
public sealed interface ConsumerAction {
  /** Answered by leaseRead or leaseFailed. */
  record ReadLease(OwnedShard hold) implements ConsumerAction {}

  /**
   * Calls onAssign; answered by assignDone.
   *
   * @param state of the former owner, or null
   */
  record CallAssign(OwnedShard hold, ShardContext shard, byte[] state) implements ConsumerAction {}

  /** Answered by fetched or fetchFailed. */
  record Fetch(OwnedShard hold, FetchRequest request) implements ConsumerAction {}

  /** Answered by committed or commitFailed. */
  record Commit(OwnedShard hold, DataCommand.Commit command) implements ConsumerAction {}

  /**
   * Opens the lease's epoch for what handlers publish, in every data group; answered by
   * publisherOpened or publisherFailed.
   *
   * @param producerId as the lease has it; 0: it has none yet
   */
  record OpenPublisher(OwnedShard hold, long producerId) implements ConsumerAction {
    public Shard shard() {
      return hold.shard;
    }

    public long epoch() {
      return hold.epoch;
    }
  }

  /** Answered by published or publishFailed. */
  record Publish(OwnedShard hold, PublishRequest request) implements ConsumerAction {}

  /** Calls onDraining. Not answered. */
  record CallDraining(ShardContext shard) implements ConsumerAction {}

  /** Calls onKept. Not answered. */
  record CallKept(ShardContext shard) implements ConsumerAction {}

  /** Calls onRelease; answered by stateGiven. */
  record CallRelease(OwnedShard hold, ShardContext shard) implements ConsumerAction {}

  /** Answered by released or releaseFailed. */
  record Release(OwnedShard hold, DataCommand.Release command) implements ConsumerAction {}

  /** Calls onLost. Not answered. */
  record CallLost(ShardContext shard) implements ConsumerAction {}

  /**
   * Mode singleton: this member leads its group, or leads it no more, or is to hand over. Not
   * answered.
   *
   * @param lead null: it does not lead
   */
  record LeadChanged(Assignment.Lead lead) implements ConsumerAction {}

  /** The dispatcher should hear of a change before the next heartbeat is due. */
  record HeartbeatNow() implements ConsumerAction {}

  /**
   * As {@link HeartbeatNow}, for figures only: a moment may pass, so that one tells of many shards.
   */
  record HeartbeatSoon() implements ConsumerAction {}

  /** Answered by recorded or recordFailed. */
  record RecordOutcomes(OwnedShard hold, DataCommand.RecordOutcomes command)
      implements ConsumerAction {}

  /** Answered by retriesFetched or retriesFailed. */
  record FetchRetries(OwnedShard hold, RetryRequest request) implements ConsumerAction {}

  /** A message has failed for good, and the consumer shall end for it. Not answered. */
  record Stop(String text, Throwable cause) implements ConsumerAction {}

  /** Shards were gained or lost. */
  record OwnedChanged(int owned) implements ConsumerAction {}

  /**
   * Something for the log.
   *
   * @param error whether it needs somebody's attention
   * @param cause or null
   */
  record Report(Severity severity, String text, Throwable cause) implements ConsumerAction {}

  /** How much a report matters to who runs the consumer. */
  enum Severity {
    /** What belongs to ordinary operation. */
    INFO,
    WARN,
    ERROR
  }
}
