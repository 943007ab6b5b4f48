package dev.evenkeel.broker.state;

import static dev.evenkeel.protocol.Refusal.CORRUPT;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetriesList;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the failures of a group on a shard. A read on another thread than the applying one may see
 * rows of several moments. It leaves out what was deleted meanwhile, and repeated outcomes change
 * nothing.
 */
public final class StoredFailures {
  /**
   * Most messages of a key that an owner has at once: it handles them one after another, and other
   * keys need room, too.
   */
  public static final int KEY_MESSAGES_MAX = 32;

  /** When an owner asks again who has not all messages of a key. Usually it does so before. */
  private static final long MORE_MILLIS = 1_000;

  private final Store store;
  private final BatchSource source;
  private final FailureKeys keys;

  public StoredFailures(Store store, BatchSource source, LeaseKey key) {
    this.store = store;
    this.source = source;
    keys = new FailureKeys(key);
  }

  /**
   * What is due at {@code nowMillis}.
   *
   * @param nowMillis the time of the log, see {@link LogTime}
   * @throws RefusedException CORRUPT if the first message cannot be read
   */
  public RetryAnswer answer(RetryRequest request, long nowMillis) {
    RetryAnswer.Known known = request.first() ? known(nowMillis) : null;
    Set<Long> left = new HashSet<>(request.inHand());
    List<RetryAnswer.Retry> due = new ArrayList<>();
    MessageReader messages = new MessageReader(source, request.bytesMax());
    long next = -1;
    boolean more = false;
    try (Store.Cursor cursor =
        store.scan(
            Store.Table.FAILURES, keys.part(FailureKeys.DUE), keys.part(FailureKeys.DUE + 1))) {
      while (next < 0 && cursor.next()) {
        long dueMillis = FailureKeys.first(cursor.key());
        long offset = FailureKeys.offset(cursor.key());
        FailureEntry entry = entry(offset);
        if (entry == null || entry.dueMillis() != dueMillis) {
          continue;
        }
        if (dueMillis > nowMillis) {
          next = dueMillis - nowMillis;
          break;
        }
        List<Long> run = run(offset, entry);
        if (run.size() > KEY_MESSAGES_MAX) {
          run.remove(KEY_MESSAGES_MAX);
          more = true;
        }
        for (long each : run) {
          if (left.contains(each)) {
            continue;
          }
          if (due.size() >= request.messagesMax()) {
            next = 0;
            break;
          }
          FailureEntry retry = entry(each);
          byte[] row = keys.at(FailureKeys.MESSAGE, each);
          byte[] value = store.get(Store.Table.FAILURES, row);
          if (retry == null || value == null) {
            continue;
          }
          try {
            MessageReader.Found found = messages.take(KeptMessage.decode(value), each);
            if (found == null) {
              next = 0;
              break;
            }
            due.add(new RetryAnswer.Retry(each, retry.attempts(), retry.keyHash(), found.copy()));
          } catch (RefusedException damaged) {
            throwUnlessGone(row, each, damaged);
          }
        }
      }
    }
    if (more && (next < 0 || next > MORE_MILLIS)) {
      next = MORE_MILLIS;
    }
    return new RetryAnswer(next, due, known, messages.batches());
  }

  /**
   * A message and those parked behind it in its key's queue: {@link #KEY_MESSAGES_MAX} at most, and
   * one more.
   */
  private List<Long> run(long offset, FailureEntry head) {
    List<Long> offsets = new ArrayList<>(List.of(offset));
    if (head.keyHash() == Outcome.NO_KEY) {
      return offsets;
    }
    byte[] from = keys.queue(head.keyHash(), offset + 1);
    byte[] to = keys.queue(head.keyHash(), Long.MAX_VALUE);
    try (Store.Cursor cursor = store.scan(Store.Table.FAILURES, from, to)) {
      while (offsets.size() <= KEY_MESSAGES_MAX && cursor.next()) {
        long each = FailureKeys.offset(cursor.key());
        FailureEntry entry = entry(each);
        if (entry == null || entry.kind() != FailureEntry.Kind.PARKED) {
          break;
        }
        offsets.add(each);
      }
    }
    return offsets;
  }

  private @Nullable FailureEntry entry(long offset) {
    byte[] value = store.get(Store.Table.FAILURES, keys.at(FailureKeys.ENTRY, offset));
    return value == null ? null : FailureEntry.CODEC.decode(value);
  }

  /** If the row was deleted meanwhile, nobody needs the bytes of its message any more. */
  private void throwUnlessGone(byte[] row, long offset, RefusedException damaged) {
    if (store.get(Store.Table.FAILURES, row) != null) {
      throw CORRUPT.error("offset %s: %s", offset, damaged.getMessage());
    }
  }

  private RetryAnswer.Known known(long nowMillis) {
    List<Long> marks = new ArrayList<>();
    each(FailureKeys.MARK, (offset, value) -> marks.add(offset));
    List<RetryAnswer.Held> held = new ArrayList<>();
    Map<Long, RetryAnswer.KeyQueue> queues = new LinkedHashMap<>();
    each(
        FailureKeys.ENTRY,
        (offset, value) -> {
          FailureEntry entry = FailureEntry.CODEC.decode(value);
          if (entry.kind() == FailureEntry.Kind.HELD) {
            held.add(
                new RetryAnswer.Held(
                    offset, entry.attempts(), Math.max(0, entry.dueMillis() - nowMillis)));
          } else if (entry.keyHash() != Outcome.NO_KEY) {
            queues.merge(
                entry.keyHash(),
                new RetryAnswer.KeyQueue(entry.keyHash(), 1, offset),
                (before, one) ->
                    new RetryAnswer.KeyQueue(
                        before.keyHash(), before.messages() + 1, before.firstOffset()));
          }
        });
    return new RetryAnswer.Known(marks, held, List.copyOf(queues.values()));
  }

  /**
   * Messages that wait, by offset.
   *
   * @param from the first offset wanted
   * @param max most of them
   * @param nowMillis the time of the log, see {@link LogTime}
   */
  public RetriesList waiting(long from, int max, long nowMillis) {
    List<RetriesList.WaitingRetry> waiting = new ArrayList<>();
    try (Store.Cursor cursor =
        store.scan(
            Store.Table.FAILURES,
            keys.at(FailureKeys.ENTRY, from),
            keys.part(FailureKeys.ENTRY + 1))) {
      while (waiting.size() < max && cursor.next()) {
        FailureEntry entry = FailureEntry.CODEC.decode(cursor.value());
        int place =
            switch (entry.kind()) {
              case HELD -> RetriesList.IN_WINDOW;
              case WAITING -> RetriesList.IN_LOG;
              case PARKED -> RetriesList.PARKED;
            };
        waiting.add(
            new RetriesList.WaitingRetry(
                FailureKeys.offset(cursor.key()),
                place,
                entry.attempts(),
                Math.max(0, entry.dueMillis() - nowMillis),
                entry.firstFailedMillis(),
                entry.lastFailedMillis()));
      }
    }
    return new RetriesList(waiting);
  }

  private interface Row {
    void at(long offset, byte[] value);
  }

  private void each(int part, Row row) {
    try (Store.Cursor cursor =
        store.scan(Store.Table.FAILURES, keys.part(part), keys.part(part + 1))) {
      while (cursor.next()) {
        row.at(FailureKeys.offset(cursor.key()), cursor.value());
      }
    }
  }

  /** The bytes of a dead letter are lost; that it was one is not. */
  private static DeadLetter lost(DeadLetter letter) {
    Message empty = new Message(null, Map.of(), letter.firstFailedMillis(), new byte[0]);
    return new DeadLetter(
        letter.shard(),
        letter.offset(),
        letter.attempts(),
        "the message is lost, because its data is damaged on every node; its last error was: "
            + letter.error(),
        letter.firstFailedMillis(),
        letter.lastFailedMillis(),
        MessageCodec.encode(empty));
  }

  /**
   * Dead letters by offset.
   *
   * @param from the first offset wanted
   * @param max most of them
   * @param bytesMax at least one, more only within this; 0: without their messages, which are not
   *     read then
   * @throws RefusedException CORRUPT if the first message cannot be read
   */
  public DeadLettersAnswer deadLetters(long from, int max, int bytesMax) {
    List<DeadLetter> letters = new ArrayList<>();
    MessageReader messages = new MessageReader(source, bytesMax);
    try (Store.Cursor cursor =
        store.scan(
            Store.Table.FAILURES,
            keys.at(FailureKeys.DEAD, from),
            keys.part(FailureKeys.DEAD + 1))) {
      while (letters.size() < max && cursor.next()) {
        StoredLetter stored = StoredLetter.decode(cursor.value());
        DeadLetter letter = stored.letter();
        if (bytesMax == 0) {
          letters.add(letter);
          continue;
        }
        try {
          MessageReader.Found found = messages.take(stored.message(), letter.offset());
          if (found == null) {
            break;
          }
          letters.add(found.isLost() ? lost(letter) : letter.with(found.copy()));
        } catch (RefusedException damaged) {
          throwUnlessGone(cursor.key(), letter.offset(), damaged);
        }
      }
    }
    return new DeadLettersAnswer(letters, messages.batches());
  }
}
