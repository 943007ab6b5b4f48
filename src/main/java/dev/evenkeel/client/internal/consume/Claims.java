package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.internal.consume.Task.Stage;
import dev.evenkeel.protocol.Outcome;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * The messages of a consumer that begin with care, of all its shards; see {@link ShardCare}. A
 * message comes here at the place where its handler would begin: it has passed all admission steps.
 * It goes to its handler when the log knows that it begins.
 *
 * <pre>
 * WAITS   another one of these has its turn
 * ASKED   it is its turn: nothing else begins, and it waits until nothing else runs
 * SENT    the log is to record that it begins
 * TAKEN   the log has recorded that
 * RUNS    its handler runs, and nothing else begins
 * </pre>
 *
 * <p>Nothing waits for a message for long, neither for its turn nor for its end: handlers that run
 * longer than {@link #ALONE_MILLIS} run beside others. A message that waits here takes no handler.
 * If its shard goes, or is paused, it is given back, unless the handover waits for it. Times are
 * monotonic milliseconds.
 */
final class Claims {
  /**
   * The longest time for which a message keeps others from beginning: before it begins, and again
   * while it runs.
   */
  static final long ALONE_MILLIS = 10_000;

  private final int parallel;
  private final Consumer<ConsumerAction> out;
  private final IntSupplier handlers;

  /** Messages that have not begun, in the order in which they came. */
  private final Set<Task> held = new LinkedHashSet<>();

  /** Messages that run. */
  private final Set<Task> running = new LinkedHashSet<>();

  /** The message whose turn it is, or null. */
  private Task alone;

  /** Since when nothing else begins. */
  private long sinceMillis;

  /** The number of handlers that have run for too long: nobody waits for them any more. */
  private int outlasted;

  /**
   * @param parallel most handlers
   * @param handlers those that have begun and have not ended
   */
  Claims(int parallel, Consumer<ConsumerAction> out, IntSupplier handlers) {
    this.parallel = parallel;
    this.out = out;
    this.handlers = handlers;
  }

  /** Keeps a message until it may begin. */
  void add(Task task, long now) {
    held.add(task);
    task.claim = Stage.WAITS;
    task.detach();
    if (alone == null) {
      turnTo(task, now);
    }
  }

  private void turnTo(Task task, long now) {
    alone = task;
    sinceMillis = now;
    task.claim = Stage.ASKED;
    step(now);
  }

  /** How many messages have not begun: they take no handler. */
  int waiting() {
    return held.size();
  }

  /** Whether nothing else may begin. */
  boolean block(long now) {
    return alone != null && now - sinceMillis < ALONE_MILLIS;
  }

  /** Whether the shard has nothing to do because of messages that begin with care. */
  boolean stop(Task.Owner shard, boolean runs, long now) {
    return !runs && block(now)
        || !held.isEmpty() && held.stream().anyMatch(task -> task.owner == shard);
  }

  /** The next message that begins, or null. */
  Task poll(long now) {
    for (Task task : held) {
      if (task.claim == Stage.TAKEN && task.owner.mayBegin(task, now)) {
        held.remove(task);
        running.add(task);
        task.claim = Stage.RUNS;
        if (alone == task) {
          sinceMillis = now;
        }
        return task;
      }
    }
    return null;
  }

  /** The log has recorded that a message begins. */
  void recorded(Task task) {
    if (task.claim == Stage.SENT) {
      task.claim = Stage.TAKEN;
    }
  }

  /** The handler of a message has ended, or the message has not begun and is given back. */
  void ended(Task task, long now) {
    if (task.claim != null) {
      held.remove(task);
      running.remove(task);
      alone = alone == task ? null : alone;
    }
    if (alone != null || outlasted > 0) {
      step(now);
    }
  }

  /**
   * Lets the next message have its turn. It has not had it before, so that something else can begin
   * meanwhile.
   */
  void tick(long now) {
    giveBack(now);
    step(now);
    if (alone == null) {
      held.stream()
          .filter(task -> task.claim == Stage.WAITS)
          .findFirst()
          .ifPresent(task -> turnTo(task, now));
    }
  }

  private void step(long now) {
    int others = handlers.getAsInt();
    outlasted = Math.min(outlasted, others);
    boolean over = alone != null && !block(now);
    if (over) {
      outlasted = others;
    }
    boolean fits = others <= outlasted && others < parallel;
    if (alone != null && alone.claim == Stage.ASKED && fits) {
      alone.claim = Stage.SENT;
      alone.owner.claim(new Outcome.Begun(alone.offset, false), alone, now);
    }
    if (over) {
      if (alone.claim == Stage.ASKED) {
        // All handlers are taken: it has its turn again.
        alone.claim = Stage.WAITS;
      }
      alone = null;
    }
  }

  /**
   * A shard is to be given away: from now on an end of its owner says nothing about the message
   * that runs.
   */
  void leave(Task.Owner shard, long now) {
    for (Task task : running) {
      if (task.owner == shard && task.isClaimed()) {
        task.claim = Stage.WAITS;
        shard.claim(new Outcome.Begun(task.offset, true), task, now);
      }
    }
  }

  /**
   * The owner of a shard is about to end as one that has died: that says something about the
   * message that runs, also if the shard was to be given away before.
   */
  void stay(Task.Owner shard, long now) {
    for (Task task : running) {
      if (task.owner == shard && !task.isClaimed()) {
        task.claim = Stage.RUNS;
        shard.claim(new Outcome.Begun(task.offset, false), task, now);
      }
    }
  }

  /** Gives back the messages that will not begin, because their shard goes or is paused. */
  void giveBack(long now) {
    for (Task task : held.isEmpty() ? List.<Task>of() : List.copyOf(held)) {
      if (!task.owner.mayBegin(task, now)) {
        ended(task, now);
        out.accept(new ConsumerAction.GiveBack(task));
      }
    }
  }
}
