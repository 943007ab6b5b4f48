package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.FailureEntry;
import dev.evenkeel.broker.state.FailureEntry.Kind;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.StoredLetter;
import dev.evenkeel.broker.state.WaitingOffsets;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The failures of a group on a shard while one command is decided. Use one instance per command.
 */
final class FailureUpdate {
  private final LeaseKey key;
  private final FailureKeys keys;
  private final WaitingOffsets queues;
  private final FailureRows rows;
  private final int retriesMax;
  private int waiting;
  private int parked;
  private int held;
  private int dead;
  private int marks;
  private long bytes;

  FailureUpdate(
      LeaseKey key, FailureCounts counts, WaitingOffsets queues, FailureRows rows, int retriesMax) {
    this.key = key;
    this.retriesMax = retriesMax;
    this.queues = queues;
    this.rows = rows;
    keys = new FailureKeys(key);
    waiting = counts.waiting();
    parked = counts.parked();
    held = counts.held();
    dead = counts.dead();
    marks = counts.marks();
    bytes = counts.bytes();
  }

  /** The entry of the message at that offset. */
  @Nullable FailureEntry entry(long offset) {
    byte[] value = rows.get(keys.at(FailureKeys.ENTRY, offset));
    return value == null ? null : FailureEntry.CODEC.decode(value);
  }

  /** The entry of a message that has one. */
  private FailureEntry existing(long offset) {
    return Objects.requireNonNull(entry(offset));
  }

  boolean marked(long offset) {
    return rows.has(keys.at(FailureKeys.MARK, offset));
  }

  /** The message at that offset if it was moved. */
  @Nullable KeptMessage message(long offset) {
    byte[] value = rows.get(keys.at(FailureKeys.MESSAGE, offset));
    return value == null ? null : KeptMessage.decode(value);
  }

  /** The dead letter of that offset. */
  @Nullable StoredLetter dead(long offset) {
    byte[] value = rows.get(keys.at(FailureKeys.DEAD, offset));
    return value == null ? null : StoredLetter.decode(value);
  }

  boolean hasRoom(KeptMessage message) {
    return waiting + parked < retriesMax && bytes + message.bytes() <= Limits.RETRY_BYTES_MAX;
  }

  /**
   * Moves a failed message from the owner's window to the log. Returns false if there is no room.
   *
   * @param before its entry while it was held; null: it was not
   */
  boolean move(
      Outcome.Failed failed, KeptMessage message, @Nullable FailureEntry before, LogTime time) {
    if (!hasRoom(message)) {
      return false;
    }
    if (before != null) {
      take(failed.offset(), before);
    }
    add(
        failed.offset(),
        new FailureEntry(
            Kind.WAITING,
            failed.attempt(),
            time.millis() + failed.delayMillis(),
            failed.keyHash(),
            before == null ? time.clockMillis() : before.firstFailedMillis(),
            time.clockMillis(),
            message.bytes()),
        message);
    return true;
  }

  /**
   * Moves a message that waits behind another of its key from the window. Returns false if there is
   * no room.
   */
  boolean park(
      Outcome.Parked parking, KeptMessage message, @Nullable FailureEntry before, LogTime time) {
    if (!hasRoom(message)) {
      return false;
    }
    if (before != null) {
      take(parking.offset(), before);
    }
    long head = parking.keyHash() == Outcome.NO_KEY ? -1 : headOf(parking.keyHash());
    boolean behind = head >= 0 && head < parking.offset();
    add(
        parking.offset(),
        new FailureEntry(
            behind ? Kind.PARKED : Kind.WAITING,
            before == null ? 0 : before.attempts(),
            time.millis(),
            parking.keyHash(),
            before == null ? 0 : before.firstFailedMillis(),
            before == null ? 0 : before.lastFailedMillis(),
            message.bytes()),
        message);
    return true;
  }

  private void add(long offset, FailureEntry entry, KeptMessage message) {
    long head = entry.keyHash() == Outcome.NO_KEY ? -1 : headOf(entry.keyHash());
    if (head > offset) {
      // A former owner had finished this message before it moved the later ones; now it came again.
      FailureEntry behind = existing(head);
      take(head, behind);
      put(head, behind.behind());
    }
    put(offset, entry);
    rows.put(keys.at(FailureKeys.MESSAGE, offset), message.encode());
    mark(offset);
  }

  /** Counts another failed attempt of one that waits here. */
  boolean failAgain(long offset, FailureEntry entry, long delayMillis, LogTime time) {
    take(offset, entry);
    long dueMillis = time.millis() + delayMillis;
    FailureEntry next = entry.failed(dueMillis, time.clockMillis());
    put(offset, next.kind() == Kind.PARKED ? next.promoted(dueMillis) : next);
    return true;
  }

  /** Counts a failed attempt of one that waits in the owner's window. */
  boolean hold(Outcome.Failed failed, @Nullable FailureEntry before, LogTime time) {
    if (before != null) {
      return failAgain(failed.offset(), before, failed.delayMillis(), time);
    }
    put(
        failed.offset(),
        new FailureEntry(
            Kind.HELD,
            failed.attempt(),
            time.millis() + failed.delayMillis(),
            Outcome.NO_KEY,
            time.clockMillis(),
            time.clockMillis(),
            0));
    return true;
  }

  /** Makes it a dead letter. Returns false if there is no room. */
  boolean makeDeadLetter(
      Outcome.Failed failed,
      KeptMessage message,
      @Nullable FailureEntry before,
      long floor,
      LogTime time) {
    long offset = failed.offset();
    if (dead >= Limits.DEAD_LETTERS_MAX) {
      return false;
    }
    long firstFailedMillis =
        before != null && before.attempts() > 0 ? before.firstFailedMillis() : time.clockMillis();
    DeadLetter letter =
        new DeadLetter(
            key.shard(),
            offset,
            failed.attempt(),
            failed.error(),
            firstFailedMillis,
            time.clockMillis(),
            null);
    if (before != null) {
      remove(offset, before, time);
    }
    byte[] row = keys.at(FailureKeys.DEAD, offset);
    if (!rows.has(row)) {
      dead++;
    }
    rows.put(row, new StoredLetter(message, letter).encode());
    if (offset >= floor) {
      mark(offset);
    }
    return true;
  }

  /** Removes a waiting message, so that the next one of its key may be tried. */
  void remove(long offset, FailureEntry entry, LogTime time) {
    take(offset, entry);
    rows.delete(keys.at(FailureKeys.MESSAGE, offset));
    if (entry.keyHash() == Outcome.NO_KEY) {
      return;
    }
    long next = headOf(entry.keyHash());
    if (next >= 0) {
      FailureEntry head = existing(next);
      if (head.kind() == Kind.PARKED) {
        take(next, head);
        put(next, head.promoted(time.millis()));
      }
    }
  }

  /** Removes a dead letter that is there. */
  void removeDeadLetter(long offset) {
    rows.delete(keys.at(FailureKeys.DEAD, offset));
    dead--;
  }

  /**
   * Puts a dead letter back among the waiting messages. It keeps no order: its key's queue has
   * moved on.
   */
  void retryDeadLetter(StoredLetter stored, LogTime time) {
    long offset = stored.letter().offset();
    KeptMessage message = stored.message();
    put(
        offset,
        new FailureEntry(Kind.WAITING, 0, time.millis(), Outcome.NO_KEY, 0, 0, message.bytes()));
    rows.put(keys.at(FailureKeys.MESSAGE, offset), message.encode());
  }

  /** Forgets marks below {@code floor}, and what was held below {@code committed}. */
  void forgetBelow(long floor, long committed) {
    byte[] marksEnd = keys.at(FailureKeys.MARK, floor);
    each(FailureKeys.MARK, 0, marksEnd, () -> marks > 0, offset -> unmark(offset));
    byte[] entriesEnd = keys.at(FailureKeys.ENTRY, committed);
    each(
        FailureKeys.ENTRY,
        0,
        entriesEnd,
        () -> held > 0,
        offset -> {
          FailureEntry entry = existing(offset);
          if (entry.kind() == Kind.HELD) {
            take(offset, entry);
          }
        });
  }

  private void unmark(long offset) {
    rows.delete(keys.at(FailureKeys.MARK, offset));
    marks--;
  }

  /** Calls {@code action} with each offset of a part from {@code from} on, while there is more. */
  private void each(int part, long from, byte[] to, BooleanSupplier more, LongConsumer action) {
    long next = from;
    byte[] row;
    while (more.getAsBoolean() && (row = rows.first(keys.at(part, next), to)) != null) {
      long offset = FailureKeys.offset(row);
      action.accept(offset);
      next = offset + 1;
    }
  }

  /**
   * Forgets moved messages at {@code offset} and above. The lowest message of a key waits, and
   * stays if any of the key does.
   */
  void forgetMovedFrom(long offset) {
    byte[] to = keys.part(FailureKeys.ENTRY + 1);
    each(
        FailureKeys.ENTRY,
        offset,
        to,
        () -> waiting + parked > 0,
        each -> {
          take(each, existing(each));
          rows.delete(keys.at(FailureKeys.MESSAGE, each));
        });
  }

  /** The lowest offset of a key's queue, or -1. */
  private long headOf(long keyHash) {
    byte[] added = rows.added(keys.queue(keyHash, 0), keys.queue(keyHash, Long.MAX_VALUE));
    long head = added == null ? -1 : FailureKeys.offset(added);
    for (long offset : queues.of(key, keyHash)) {
      if (head >= 0 && head <= offset) {
        return head;
      }
      if (!rows.deletes(keys.queue(keyHash, offset))) {
        return offset;
      }
    }
    return head;
  }

  private void mark(long offset) {
    byte[] row = keys.at(FailureKeys.MARK, offset);
    if (!rows.has(row)) {
      rows.mark(row);
      marks++;
    }
  }

  private void put(long offset, FailureEntry entry) {
    rows.put(keys.at(FailureKeys.ENTRY, offset), FailureEntry.CODEC.encode(entry));
    if (entry.kind() == Kind.WAITING) {
      rows.mark(keys.due(entry.dueMillis(), offset));
    }
    if (entry.keyHash() != Outcome.NO_KEY) {
      rows.mark(keys.queue(entry.keyHash(), offset));
    }
    count(entry, 1);
  }

  /** Removes everything but the message. */
  private void take(long offset, FailureEntry entry) {
    rows.delete(keys.at(FailureKeys.ENTRY, offset));
    if (entry.kind() == Kind.WAITING) {
      rows.delete(keys.due(entry.dueMillis(), offset));
    }
    if (entry.keyHash() != Outcome.NO_KEY) {
      rows.delete(keys.queue(entry.keyHash(), offset));
    }
    count(entry, -1);
  }

  private void count(FailureEntry entry, int by) {
    switch (entry.kind()) {
      case HELD -> held += by;
      case WAITING -> waiting += by;
      case PARKED -> parked += by;
    }
    bytes += (long) by * entry.bytes();
  }

  /** The changes of the command. */
  List<Change> changes(boolean replayed) {
    if (rows.isEmpty()) {
      return List.of();
    }
    FailureCounts counts = new FailureCounts(waiting, parked, held, dead, marks, bytes);
    return List.of(new Change.PutFailures(key, counts, rows.changed(), replayed));
  }
}
