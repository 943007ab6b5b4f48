package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A closed batch until its outcome is known.
 *
 * @param <T> what stands for one message towards whoever sent it
 */
public final class OutBatch<T> {
  enum State {
    /** To be sent, perhaps again. */
    WAITING,
    /** On its way, or lost without an answer. */
    SENT,
    /** Its outcome is known. */
    DONE
  }

  static final long NO_SEQUENCE = -1;

  public final Shard shard;
  public final Batch batch;

  /** When it gets its offsets; {@link DueTime#NOW}: at once. */
  public final long dueMillis;

  public final List<T> tokens;
  public final int chargedBytes;

  /** Index of its log entry in its data group, by the last answer; -1: unknown. */
  public long logIndex = -1;

  final long deadlineMillis;
  State state = State.WAITING;

  /**
   * In the present epoch. It gets it when it is first sent, so that a batch that is never sent
   * leaves no hole.
   */
  long firstSequence = NO_SEQUENCE;

  /** The log refused it because an earlier one was missing. */
  boolean gapped;

  /** When it was last sent, all before it were known to be in the log. */
  boolean sentAsHead;

  /** A try of it had no answer: it may be in the log, whatever later tries say. */
  boolean unsure;

  /** An earlier try may have been taken, although its answer, if any, did not say so. */
  boolean cutOff;

  /** When it was last sent, its shard was known to be dropped. */
  boolean sentToDropped;

  /** Why the log surely refused the last try; null: it did not. */
  @Nullable RefusedException refused;

  /** When the broker's disk was first too full for it, or -1. */
  long diskFullSinceMillis = -1;

  private @Nullable List<Flush> flushes;

  OutBatch(
      Shard shard,
      Batch batch,
      long dueMillis,
      List<T> tokens,
      int chargedBytes,
      long deadlineMillis) {
    this.shard = shard;
    this.batch = batch;
    this.dueMillis = dueMillis;
    this.tokens = tokens;
    this.chargedBytes = chargedBytes;
    this.deadlineMillis = deadlineMillis;
  }

  /** The epoch in which it has, or last had, its sequence. */
  int epoch;

  /** Whether {@link #logIndex} is the entry that has the batch, and not that of a repeat. */
  public boolean knowsItsEntry() {
    return logIndex >= 0 && !unsure;
  }

  /** The epoch in which it was sent last. */
  public int epoch() {
    return epoch;
  }

  /** Of its first message in that epoch; -1: it has none. */
  public long firstSequence() {
    return firstSequence;
  }

  boolean sentInEpoch() {
    return firstSequence != NO_SEQUENCE;
  }

  /** Whether a try of it may have been taken, in whatever epoch. */
  boolean mayBeTaken() {
    return unsure || cutOff;
  }

  /** It has no place in the epoch yet. */
  void forgetSequence() {
    firstSequence = NO_SEQUENCE;
    gapped = false;
    state = State.WAITING;
  }

  /** Whether whoever gave it here has chosen its place in the epoch. */
  boolean isStamped() {
    return deadlineMillis == Long.MAX_VALUE;
  }

  /**
   * The next piece of this batch, which takes the place of its messages in the epoch. What is not
   * known of the batch is not known of the piece, either.
   *
   * @param piece with the sequence that its first message has now, if it has one
   * @param from place of its first message
   */
  OutBatch<T> piece(Batch piece, int from) {
    OutBatch<T> cut =
        new OutBatch<>(
            shard,
            piece,
            dueMillis,
            List.copyOf(tokens.subList(from, from + piece.count())),
            // The whole charge goes with the first message.
            from == 0 ? chargedBytes : 0,
            deadlineMillis);
    cut.firstSequence = sentInEpoch() ? firstSequence + from : NO_SEQUENCE;
    cut.epoch = epoch;
    cut.gapped = gapped && from == 0;
    cut.unsure = unsure;
    cut.cutOff = cutOff;
    cut.refused = refused;
    cut.diskFullSinceMillis = diskFullSinceMillis;
    flushes().forEach(cut::awaitedBy);
    return cut;
  }

  /** A batch that stands for one of its messages. */
  OutBatch<T> ofOne(T token, int charged) {
    return new OutBatch<>(shard, batch, dueMillis, List.of(token), charged, deadlineMillis);
  }

  /** The flushes that wait for this batch. */
  List<Flush> flushes() {
    return flushes == null ? List.of() : flushes;
  }

  /** {@code flush} does not end before {@link #endFlushes()}. */
  public void awaitedBy(Flush flush) {
    if (flushes == null) {
      flushes = new ArrayList<>(1);
    }
    flushes.add(flush);
    flush.await();
  }

  /** Tells the flushes that wait for this batch that it is done. */
  public void endFlushes() {
    if (flushes != null) {
      flushes.forEach(Flush::arrived);
    }
  }
}
