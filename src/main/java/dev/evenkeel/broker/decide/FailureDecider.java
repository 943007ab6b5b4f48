package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.FailureEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.StoredLetter;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides about failures: what waits, what is parked, and what is a dead letter. See ADR 12.
 *
 * <p>Outcomes may be repeated. An attempt counts only if it is the next one. A message that has a
 * mark, or lies below all offsets that a new owner would begin with, has left the window for good.
 *
 * @param time null where no time is needed
 * @param retriesMax most messages of a group and shard that wait for another attempt
 */
public record FailureDecider(
    DataTables tables, Store store, @Nullable LogTime time, int retriesMax) {
  private static final long DELAY_MILLIS_MAX = 30L * 24 * 3600 * 1000;

  /** Decides nothing that needs time or room. */
  FailureDecider(DataTables tables, Store store) {
    this(tables, store, null, 0);
  }

  @Override
  public LogTime time() {
    return Objects.requireNonNull(time);
  }

  public Decision<Change> record(DataCommand.RecordOutcomes command) {
    Lease lease = command.group() == null ? null : tables.lease(command.group(), command.shard());
    if (lease == null || !lease.ownedAt(command.epoch())) {
      return Decision.refused(
          FENCED,
          "epoch " + command.epoch() + (lease == null ? ": there is no lease" : ": " + lease));
    }
    ShardRecord shard = tables.shard(command.shard());
    String wrong = wrong(command, shard);
    if (shard == null || wrong != null) {
      return Decision.refused(INVALID, wrong);
    }
    FailureUpdate failures = failures(new LeaseKey(command.shard(), command.group()));
    MessageFinder messages = new MessageFinder(store, command.shard(), shard);
    List<Long> noRoom = new ArrayList<>();
    Lease next = lease;
    for (Outcome outcome : command.outcomes()) {
      if (outcome instanceof Outcome.Begun begun) {
        next = next.begun(begun.over() ? -1 : begun.offset());
        continue;
      }
      if (outcome instanceof Outcome.Died died) {
        boolean waits = died.until() > lease.committed() || failures.entry(died.offset()) != null;
        next = waits ? next.died(died, shard.end()) : next;
        continue;
      }
      if (next.crashes() != null && next.crashes().begun() == outcome.offset()) {
        next = next.begun(-1);
      }
      // A message behind one that found no room may have the same key, and must not overtake it.
      boolean passes = outcome instanceof Outcome.Parked && !noRoom.isEmpty();
      if (passes || !applied(failures, messages, outcome, lease)) {
        noRoom.add(outcome.offset());
      }
    }
    Decision<Change> decision = decided(failures, noRoom, false);
    return next.equals(lease) ? decision : with(decision, new Change.PutLease(next));
  }

  private static Decision<Change> with(Decision<Change> decision, Change another) {
    List<Change> changes = new ArrayList<>(decision.changes());
    changes.add(another);
    return new Decision<>(changes, decision.reply());
  }

  private static @Nullable String wrong(
      DataCommand.RecordOutcomes command, @Nullable ShardRecord shard) {
    if (command.outcomes().size() > Limits.OUTCOMES_A_COMMAND_MAX) {
      return command.outcomes().size() + " outcomes: at most " + Limits.OUTCOMES_A_COMMAND_MAX;
    }
    if (shard == null) {
      return "there is no shard " + command.shard();
    }
    long end = shard.end();
    for (Outcome outcome : command.outcomes()) {
      if (outcome.offset() < 0 || outcome.offset() >= end) {
        return "offset " + outcome.offset() + " of " + command.shard() + ": use 0 to " + (end - 1);
      }
      if (outcome instanceof Outcome.Died died
          && (died.deaths() < 1 || died.until() <= died.offset() || died.until() > end)) {
        return died.deaths()
            + " deaths up to "
            + died.until()
            + ": use 1 or more, and at most "
            + end;
      }
      if (outcome instanceof Outcome.Failed failed) {
        if (failed.attempt() < 1) {
          return "attempt " + failed.attempt() + ": the first is 1";
        }
        if (failed.delayMillis() < 0 || failed.delayMillis() > DELAY_MILLIS_MAX) {
          return "delay of " + failed.delayMillis() + " ms: use 0 to " + DELAY_MILLIS_MAX;
        }
      }
    }
    return null;
  }

  /** Applies an outcome. Returns false if there is no room for it. */
  private boolean applied(
      FailureUpdate failures, MessageFinder messages, Outcome outcome, Lease lease) {
    long offset = outcome.offset();
    FailureEntry entry = failures.entry(offset);
    if (outcome instanceof Outcome.Settled) {
      if (entry != null) {
        failures.remove(offset, entry, time());
      }
      return true;
    }
    if (entry == null && (offset < lease.floor() || failures.marked(offset))) {
      // It has left the window before: this is told again.
      return true;
    }
    boolean held = outcome instanceof Outcome.Failed each && each.way() == Outcome.Way.HELD;
    if (entry == null && held && offset < lease.committed()) {
      // It was done once: this is told again, or a state is built up anew, which needs no count.
      return true;
    }
    boolean moved = entry != null && entry.kind() != FailureEntry.Kind.HELD;
    if (outcome instanceof Outcome.Failed failed) {
      if (entry != null && failed.attempt() != entry.attempts() + 1) {
        return true;
      }
      if (held) {
        // Below the committed offset nothing is held: what comes late would stay for ever.
        return offset < lease.committed() || failures.hold(failed, entry, time());
      }
      if (entry != null && moved && failed.way() == Outcome.Way.MOVED) {
        return failures.failAgain(offset, entry, failed.delayMillis(), time());
      }
    } else if (moved) {
      return true;
    }
    KeptMessage message = moved ? failures.message(offset) : messages.find(outcome);
    if (message == null) {
      // Retention has dropped it, as it drops what a group has not consumed in time.
      if (entry != null) {
        failures.remove(offset, entry, time());
      }
      return true;
    }
    if (outcome instanceof Outcome.Parked parked) {
      return failures.park(parked, message, entry, time());
    }
    Outcome.Failed failed = (Outcome.Failed) outcome;
    return failed.way() == Outcome.Way.DEAD
        ? failures.makeDeadLetter(failed, message, entry, lease.floor(), time())
        : failures.move(failed, message, entry, time());
  }

  /** Puts dead letters back. */
  public Decision<Change> replay(DataCommand.ReplayDeadLetters command) {
    return letters(command, command.offsets(), true, this::retried);
  }

  /** Returns false if there is no room. */
  private boolean retried(FailureUpdate failures, StoredLetter letter) {
    long offset = letter.letter().offset();
    if (failures.entry(offset) != null) {
      // After a reset it came again, and is being tried already.
      failures.removeDeadLetter(offset);
      return true;
    }
    if (!failures.hasRoom(letter.message())) {
      return false;
    }
    failures.removeDeadLetter(offset);
    failures.retryDeadLetter(letter, time());
    return true;
  }

  /** Drops dead letters. */
  public Decision<Change> drop(DataCommand.DropDeadLetters command) {
    return letters(
        command,
        command.offsets(),
        false,
        (failures, letter) -> {
          failures.removeDeadLetter(letter.letter().offset());
          return true;
        });
  }

  /** Hands each of these dead letters that is there to {@code action}, until that returns false. */
  private Decision<Change> letters(
      DataCommand.OfLease command,
      List<Long> offsets,
      boolean replayed,
      BiPredicate<FailureUpdate, StoredLetter> action) {
    Names.check("group", command.group());
    if (offsets.size() > Limits.OUTCOMES_A_COMMAND_MAX) {
      return Decision.refused(
          TOO_LARGE, offsets.size() + " dead letters: at most " + Limits.OUTCOMES_A_COMMAND_MAX);
    }
    FailureUpdate failures = failures(new LeaseKey(command.shard(), command.group()));
    List<Long> there = new ArrayList<>();
    for (long offset : offsets) {
      StoredLetter letter = failures.dead(offset);
      if (letter != null && !action.test(failures, letter)) {
        break;
      }
      if (letter != null) {
        there.add(offset);
      }
    }
    Decision<Change> decision = decided(failures, there, replayed);
    Lease lease = tables.lease(command.group(), command.shard());
    if (!replayed || there.isEmpty() || lease == null || !lease.finished()) {
      return decision;
    }
    // The sealed shard needs an owner again.
    return with(decision, new Change.PutLease(lease.at(Lease.Stage.PASSED)));
  }

  /** Forgets retries that the group reads again after a reset. Those below the new offset stay. */
  List<Change> reset(Lease next) {
    LeaseKey key = new LeaseKey(next.shard(), next.group());
    if (tables.failures(key).concerningOwner() == 0) {
      return List.of();
    }
    FailureUpdate failures = failures(key);
    failures.forgetBelow(Long.MAX_VALUE, Long.MAX_VALUE);
    failures.forgetMovedFrom(next.committed());
    return failures.changes(false);
  }

  /** Forgets what a lease's progress makes superfluous. */
  List<Change> progressed(Lease next) {
    LeaseKey key = new LeaseKey(next.shard(), next.group());
    FailureCounts counts = tables.failures(key);
    if (counts.marks() == 0 && counts.held() == 0) {
      return List.of();
    }
    FailureUpdate failures = failures(key);
    failures.forgetBelow(next.floor(), next.committed());
    return failures.changes(false);
  }

  private FailureUpdate failures(LeaseKey key) {
    return new FailureUpdate(
        key, tables.failures(key), tables.queues(), new FailureRows(store), retriesMax);
  }

  private static Decision<Change> decided(
      FailureUpdate failures, List<Long> offsets, boolean replayed) {
    return new Decision<>(failures.changes(replayed), new Reply.OfOffsets(List.copyOf(offsets)));
  }
}
