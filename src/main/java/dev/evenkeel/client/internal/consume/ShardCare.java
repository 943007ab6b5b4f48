package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Outcome;
import java.util.function.IntSupplier;

/**
 * Hands the messages of an owned shard out one by one if its owners died before, so that the next
 * death shows which message is the reason: each message is committed before the next one begins,
 * and the log learns which one begins. A message during which too many owners died is not begun any
 * more. See {@link Crashes}.
 */
final class ShardCare {
  private enum Claim {
    /** It waits until everything of its shard before it is over. */
    WAITS,
    /** It waits until nothing of other shards runs; nothing of them begins. */
    ASKED,
    /** The log is to record that it begins. */
    SENT,
    /** The log has recorded that. */
    TAKEN
  }

  private final Environment environment;

  /** How many handlers of the shard run. */
  private final IntSupplier running;

  /** Null: no owner died. */
  private final Crashes crashes;

  /** Messages below were consumed by former owners, and build up the state again. */
  private long repeatedTo;

  /** The message that begins next, or null. */
  private Task next;

  private Claim claim;

  ShardCare(Environment environment, IntSupplier running, Crashes crashes) {
    this.environment = environment;
    this.running = running;
    this.crashes = environment.atMostOnce ? null : crashes;
  }

  /** Null: no owner died. */
  Crashes crashes() {
    return crashes;
  }

  /**
   * It is known where to begin.
   *
   * @param consumedTo what the group had committed
   */
  void begin(long consumedTo) {
    repeatedTo = consumedTo;
  }

  /** Whether messages are handed out one by one. */
  boolean applies(long committed) {
    return crashes != null && crashes.careful() && committed < crashes.until();
  }

  /** The message that begins next, or null. */
  Task next() {
    return next;
  }

  /** It no longer begins next. */
  Task giveUp() {
    Task given = next;
    next = null;
    return given;
  }

  /** Marks a message that is about to be handed out with the deaths during which it was. */
  void mark(Task task) {
    if (crashes == null || crashes.offset() != task.offset) {
      return;
    }
    task.deaths = crashes.count();
    int max = environment.options.getCrashesMax();
    if (max > 0 && crashes.careful() && crashes.count() >= max && task.hopeless == null) {
      task.hopeless = new DeadlyMessageException(crashes.count());
    }
  }

  /**
   * Returns the message if it may begin now, or null: then it is kept here.
   *
   * @param committed how far the shard is
   * @param idle nothing of the shard runs, and the log has all of its progress and outcomes
   */
  Task admit(Task task, long committed, boolean idle, Outbox outbox) {
    boolean alone = applies(committed) && (task.retry || task.offset >= repeatedTo);
    if (!alone || task.hopeless != null) {
      next = null;
      return task;
    }
    if (next != task) {
      next = task;
      claim = Claim.WAITS;
      task.detach();
    }
    if (claim == Claim.WAITS && idle && !environment.othersWaitFor(this)) {
      claim = Claim.ASKED;
    }
    if (claim == Claim.ASKED && environment.takesCare(this)) {
      claim = Claim.SENT;
      outbox.add(task, new Outcome.Begun(task.offset, false));
    } else if (claim == Claim.TAKEN) {
      next = null;
      task.alone = true;
      task.claimed = true;
      return task;
    }
    return null;
  }

  /** Whether a message of the shard is to begin with care, or runs. */
  boolean isBusy() {
    return next != null && claim != Claim.WAITS || running.getAsInt() > 0;
  }

  /** The log has recorded that a message begins. */
  void recorded(Task task) {
    if (task == next) {
      claim = Claim.TAKEN;
    }
  }
}
