package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.RecentSequences;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;

/**
 * Judges a batch by its producer's epoch and sequence.
 *
 * <pre>
 * epoch            sequence                      verdict
 * lower            any                           PRODUCER_FENCED, the epoch known
 * unknown producer 0                             take
 * unknown producer above 0                       UNKNOWN_PRODUCER
 * higher           0                             take, and fence the former epoch
 * higher           above 0                       SEQUENCE_GAP, 0
 * known            the next                      take
 * known            ahead of the next             SEQUENCE_GAP, the next
 * known            behind, batch remembered      its first offset
 * known            behind, not remembered        taken before, OFFSET_FORGOTTEN
 * known            across the next               INVALID: no producer cuts batches anew
 * </pre>
 *
 * A handler's producer has another rule: its sequences are places of inputs, so they have gaps and
 * go on from epoch to epoch. It is known, or UNKNOWN_PRODUCER; a lower epoch is fenced; and a batch
 * that does not begin above all that were taken is one that was taken before. See ADR 15.
 */
final class Sequences {
  /** Take the batch. */
  static final Result TAKE = new Result(null, Long.MIN_VALUE);

  private Sequences() {}

  /**
   * @param producer null if unknown
   * @param ring what is remembered of it in the shard, of any epoch, or null
   */
  static Result judge(Batch batch, ProducerRecord producer, RecentSequences ring) {
    long first = batch.firstSequence();
    int epoch = batch.producerEpoch();
    if (first < 0 || epoch < 0 || batch.producerId() < 0) {
      return new Result(Refusal.INVALID, 0);
    }
    if (producer == null) {
      return first == 0 ? TAKE : new Result(Refusal.UNKNOWN_PRODUCER, 0);
    }
    if (epoch < producer.epoch()) {
      return new Result(Refusal.PRODUCER_FENCED, producer.epoch());
    }
    if (producer.publisherOf() != null) {
      boolean above = ring == null || first >= ring.next();
      return above ? TAKE : new Result(null, Result.OFFSET_FORGOTTEN);
    }
    boolean begins = epoch > producer.epoch() || ring == null || ring.epoch() != epoch;
    long next = begins ? 0 : ring.next();
    if (first > next) {
      return new Result(Refusal.SEQUENCE_GAP, next);
    }
    if (first == next) {
      return TAKE;
    }
    if (first + batch.count() > next) {
      return new Result(Refusal.INVALID, next);
    }
    long offset = ring.offsetOf(first, batch.count());
    return new Result(null, offset == RecentSequences.NONE ? Result.OFFSET_FORGOTTEN : offset);
  }
}
