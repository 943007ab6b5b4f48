package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.wire.RetryRequest;

/**
 * What the core wants to be done. The shell does it and reports the outcome to the {@link
 * ShardEvents} of the shard.
 */
public sealed interface ConsumerAction {
  /** Calls the method of {@code by} that carries out actions of this kind. */
  void performBy(Performer by);

  /** Carries out actions, one method for each kind. */
  interface Performer {
    void readLease(ReadLease action);

    void openPublisher(OpenPublisher action);

    void callAssign(CallAssign action);

    void fetch(Fetch action);

    void fetchRetries(FetchRetries action);

    void recordOutcomes(RecordOutcomes action);

    void publish(Publish action);

    void commit(Commit action);

    void callDraining(CallDraining action);

    void callKept(CallKept action);

    void callRelease(CallRelease action);

    void release(Release action);

    void callLost(CallLost action);

    void leadChanged(LeadChanged action);

    void heartbeatNow(HeartbeatNow action);

    void heartbeatSoon(HeartbeatSoon action);

    void ownedChanged(OwnedChanged action);

    void stop(Stop action);

    void report(Report action);
  }

  /** Answered by leaseRead or leaseFailed. */
  record ReadLease(ShardEvents owned) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.readLease(this);
    }
  }

  /**
   * Opens the lease's epoch for what handlers publish, in every data group; answered by
   * publisherOpened or publisherFailed.
   *
   * @param producerId as the lease has it; 0: it has none yet
   */
  record OpenPublisher(ShardEvents owned, long producerId) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.openPublisher(this);
    }
  }

  /**
   * Calls onAssign; answered by assignDone.
   *
   * @param state of the former owner, or null
   */
  record CallAssign(ShardEvents owned, ShardContext shard, byte[] state) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.callAssign(this);
    }
  }

  /** Answered by fetched or fetchFailed. */
  record Fetch(ShardEvents owned, FetchRequest request) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.fetch(this);
    }
  }

  /** Answered by retriesFetched or retriesFailed. */
  record FetchRetries(ShardEvents owned, RetryRequest request) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.fetchRetries(this);
    }
  }

  /** Answered by recorded or recordFailed. */
  record RecordOutcomes(ShardEvents owned, DataCommand.RecordOutcomes command)
      implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.recordOutcomes(this);
    }
  }

  /** Answered by published or publishFailed. */
  record Publish(ShardEvents owned, PublishRequest request) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.publish(this);
    }
  }

  /** Answered by committed or commitFailed. */
  record Commit(ShardEvents owned, DataCommand.Commit command) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.commit(this);
    }
  }

  /** Calls onDraining. Not answered. */
  record CallDraining(ShardContext shard) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.callDraining(this);
    }
  }

  /** Calls onKept. Not answered. */
  record CallKept(ShardContext shard) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.callKept(this);
    }
  }

  /** Calls onRelease; answered by stateGiven. */
  record CallRelease(ShardEvents owned, ShardContext shard) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.callRelease(this);
    }
  }

  /** Answered by released or releaseFailed. */
  record Release(ShardEvents owned, DataCommand.Release command) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.release(this);
    }
  }

  /** Calls onLost. Not answered. */
  record CallLost(ShardContext shard) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.callLost(this);
    }
  }

  /**
   * Mode singleton: this member leads its group, or leads it no more, or is to hand over. Not
   * answered.
   *
   * @param lead null: it does not lead
   */
  record LeadChanged(Assignment.Lead lead) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.leadChanged(this);
    }
  }

  /** The dispatcher should hear of a change before the next heartbeat is due. */
  record HeartbeatNow() implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.heartbeatNow(this);
    }
  }

  /**
   * As {@link HeartbeatNow}, for figures only: a moment may pass, so that one heartbeat reports
   * many shards.
   */
  record HeartbeatSoon() implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.heartbeatSoon(this);
    }
  }

  /** Shards were gained or lost. */
  record OwnedChanged(int owned) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.ownedChanged(this);
    }
  }

  /** A message has failed for good, and the consumer shall end for it. Not answered. */
  record Stop(String text, Throwable cause) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.stop(this);
    }
  }

  /**
   * Something for the log.
   *
   * @param cause or null
   */
  record Report(Severity severity, String text, Throwable cause) implements ConsumerAction {
    @Override
    public void performBy(Performer by) {
      by.report(this);
    }
  }

  /** How much a report matters to who runs the consumer. */
  enum Severity {
    /** What belongs to ordinary operation. */
    INFO,
    WARN,
    ERROR
  }
}
