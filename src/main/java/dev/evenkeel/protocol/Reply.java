package dev.evenkeel.protocol;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the state machine answers to a command. */
public sealed interface Reply {

  record Done() implements Reply {}

  record Refused(Refusal refusal, @Nullable String detail) implements Reply {
    public RefusedException exception() {
      return RefusedException.received(refusal, detail);
    }
  }

  record OfTopic(TopicInfo topic) implements Reply {}

  record OfGroup(GroupInfo group) implements Reply {}

  record OfLease(Lease lease) implements Reply {}

  record OfGroupLease(GroupLease lease) implements Reply {}

  record OfProducer(long producerId, int epoch) implements Reply {}

  /** For each shard of this log group that the producer wrote to: the last sequence taken. */
  record OfSequences(Map<Shard, Long> lastSequences) implements Reply {}

  /** Offsets of a shard; what they stand for is said where the command is. */
  record OfOffsets(List<Long> offsets) implements Reply {}

  /** A number; what it stands for is said where the command is. */
  record OfNumber(long number) implements Reply {}

  /**
   * The log has taken the positions of a command, except these.
   *
   * @param refused in the order of the command
   */
  record OfCommits(List<RefusedCommit> refused) implements Reply {
    /**
     * @param index of the position in the command, from 0
     */
    public record RefusedCommit(int index, Refusal refusal, @Nullable String detail) {
      public RefusedException exception() {
        return RefusedException.received(refusal, detail);
      }
    }
  }

  /**
   * The log has decided about each step of a command.
   *
   * @param replies to each, in their order: {@link OfLease} or {@link Refused}
   */
  record OfSteps(List<Reply> replies) implements Reply {}

  /**
   * Delayed messages that were due got their offsets.
   *
   * @param lateMillis how long ago the first of them was due; 0 without any
   */
  record OfDelivered(long messages, long lateMillis) implements Reply {}

  Done DONE = new Done();

  static Refused refused(Refusal refusal, @Nullable String detail) {
    return new Refused(refusal, detail);
  }
}
