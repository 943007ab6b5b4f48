package dev.evenkeel.client.internal.consume;

import static dev.evenkeel.client.internal.consume.OwnedShardState.DRAINING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.RUNNING;

import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.event.Level;

/**
 * Hands the messages of one owned shard out to admission steps and handlers, while the shard runs
 * or drains, and takes what becomes of them, also after its end. Times are monotonic milliseconds.
 */
final class ShardHandling implements Task.Owner {
  /** The shard around it. */
  interface Port extends ShardPort {
    /** Nothing more begins: the owner ends as one that has died. */
    boolean isDying();

    /** Whether the handover waits for a message that has not begun. */
    boolean waitsFor(Task task, long now);

    /** A message is finished. */
    void finished();
  }

  final Port shard;
  private final ShardLog log;
  private final Environment environment;
  final ShardRetries retries;
  final ShardMessages messages;
  final ShardFetch fetch;
  final ShardCommits commits;
  final ShardFailures failures;
  final ShardOutputs outputs;
  private final BooleanSupplier idle = this::isIdle;

  /** The shard is being given away while messages wait for their rate. */
  private boolean waitsForRate;

  ShardHandling(Port shard, ShardLog log, Environment environment, ShardCare care) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    retries =
        new ShardRetries(
            this,
            ShardFailures.ordersKeys(environment),
            environment.options.getPendingMessagesMax());
    messages = new ShardMessages(this, environment, retries, care);
    fetch = new ShardFetch(shard, log, environment, messages, retries);
    commits = new ShardCommits(shard, log, environment, messages, care);
    failures = new ShardFailures(shard, log, environment, messages, retries, fetch);
    outputs = new ShardOutputs(shard, log, environment, messages, this::done);
  }

  @Override
  public Ownership ownership() {
    return shard.ownership();
  }

  /** Whether messages were given back because they wait for their rate. */
  boolean waitsForRate() {
    return waitsForRate;
  }

  /** A handover was called off: messages that were given back may begin again. */
  void resumed() {
    messages.givenBack(false);
    waitsForRate = false;
  }

  /** Fetching may go on. */
  void resume(long now) {
    if (shard.state() == RUNNING && !shard.isPaused()) {
      fetch.step(now);
    }
  }

  /** Whether nothing of the shard runs, and the log has all of its progress and outcomes. */
  private boolean isIdle() {
    return messages.running() == outputs.held()
        && !messages.anyInAdmission()
        && retries.outbox.isEmpty()
        && messages.window().committed() <= commits.committed();
  }

  /**
   * The next message, or null.
   *
   * @param forAdmission whether it goes to an admission step; else it begins
   */
  Task next(boolean forAdmission, long now) {
    boolean last = environment.atMostOnce && shard.state() == DRAINING;
    if (!shard.works() || shard.isDying() || shard.isPaused() && !last) {
      return null;
    }
    boolean runs = shard.state() == RUNNING;
    Task task = messages.next(runs, forAdmission, idle, now);
    if (messages.settlePassed(now)) {
      resume(now);
      if (task == null) {
        // A retry may have waited for what has been passed.
        task = messages.next(runs, forAdmission, idle, now);
      }
    }
    return task;
  }

  @Override
  public Task nextWith(long now) {
    boolean alone = shard.state() != RUNNING || messages.isCareful() || shard.isPaused();
    Task task = alone ? null : messages.nextOfBatch();
    if (messages.settlePassed(now)) {
      resume(now);
    }
    return task;
  }

  @Override
  public boolean hasPublished(Shard sealed, long offset) {
    return outputs.hasPublished(sealed, offset);
  }

  /** Whether the shard waits for messages that are in admission. */
  boolean waitsForAdmission() {
    return messages.waitsForAdmission(outputs.isOpen());
  }

  @Override
  public boolean isWanted(Task task) {
    return messages.isInAdmission(task);
  }

  @Override
  public void begin(Task task) {
    messages.begin(task);
  }

  @Override
  public boolean mayBegin(Task task, long now) {
    return !shard.isPaused()
        && !environment.isFaulty()
        && (shard.state() == RUNNING || shard.state() == DRAINING && shard.waitsFor(task, now));
  }

  @Override
  public void claim(Outcome.Begun begun, Task task, long now) {
    retries.outbox.add(task, begun);
    failures.step(now);
  }

  @Override
  public Iterator<Task> behind(Task task) {
    return messages.behind(task);
  }

  @Override
  public void takeBehind(Task task, Set<Task> some) {
    messages.takeBehind(task, some);
  }

  @Override
  public void giveBack(Task task) {
    if (shard.state() == DRAINING && !environment.atMostOnce) {
      messages.givenBack(true);
      waitsForRate = true;
    }
  }

  @Override
  public void declined(Task task, long now) {
    // A declined message says nothing about what handlers need, so the breaker does not hear of it.
    messages.declined(task, now);
    settled(task, now);
  }

  /** The message is done once the log has what its handler published. */
  @Override
  public void finished(Task task, long now) {
    failures.handled(task);
    if (task.publishes() && outputs.isOpen() && !shard.state().over()) {
      // It frees its handler's slot: messages below it, whose outputs it waits for, need one.
      outputs.add(task, now);
    } else {
      done(task, now);
    }
  }

  /** A handler has ended well, and the log has what it published. */
  void done(Task task, long now) {
    messages.finished(task, !shard.state().over(), now);
    if (!shard.state().over() && !task.retry) {
      commits.handled(task);
    }
    if (!task.retry && shard.state() == RUNNING && messages.window().committed() <= task.offset) {
      // No commit will say that it is over before what lies below is.
      failures.notBegun(task);
    }
    settled(task, now);
  }

  private void settled(Task task, long now) {
    shard.finished();
    failures.settled(task, now);
    environment.removed(1, task.bytes, now);
    afterSettled(now);
  }

  private void afterSettled(long now) {
    if (shard.state() == RUNNING) {
      shard.ready();
      if (fetch.isLow() && !shard.isPaused()) {
        fetch.step(now);
      }
      if (environment.atMostOnce || commits.isMany() || messages.isCareful()) {
        commits.step(false, now);
      }
      outputs.step(now);
    } else {
      if (shard.state() == DRAINING) {
        shard.ready();
      }
      shard.step(now);
    }
  }

  /** The messages of a batch that has failed are handled again, each alone. */
  @Override
  public void batchEnded(List<Task> tasks, Throwable failure, long now) {
    if (failure == null) {
      for (Task task : tasks) {
        messages.finished(task, !shard.state().over(), now);
        failures.handled(task);
        shard.finished();
      }
    } else {
      tasks.forEach(task -> messages.ended(task, now));
    }
    if (failure == null || shard.state().over()) {
      environment.removed(tasks, now);
      afterSettled(now);
      return;
    }
    Fault fault = Fault.of(failure);
    if (fault == Fault.MEMBER) {
      environment.faulty("the consumer ends, and leaves all messages to others", failure);
    } else if (fault == Fault.NOT_NOW) {
      messages.givenBack(shard.state() == DRAINING);
    } else {
      String batch = ": a batch of " + tasks.size() + " messages from offset ";
      log.report(
          Level.WARN, batch + tasks.get(0).offset + " on failed, each is tried alone", failure);
    }
    messages.handOutAlone(tasks);
    shard.ready();
    if (shard.state() != RUNNING) {
      shard.step(now);
    }
  }

  /**
   * Records the failure in the log; the message is retried after a pause, or becomes a dead letter.
   * While the shard is being given away, a message that keeps its place is retried only as long as
   * a message above it has finished.
   */
  @Override
  public void failed(Task task, Throwable cause, int running, long now) {
    messages.ended(task, now);
    if (shard.state().over()) {
      environment.removed(1, task.bytes, now);
    } else if (environment.atMostOnce && !task.retry && Fault.of(cause) != Fault.AWAY) {
      String text = ": offset " + task.offset + " failed, and is not tried again";
      log.report(Level.WARN, text, cause);
      messages.left(task);
      environment.removed(1, task.bytes, now);
      shard.ready();
    } else {
      failures.failed(task, cause, running, now);
      shard.ready();
    }
    if (shard.state() != RUNNING || environment.atMostOnce) {
      shard.step(now);
    }
  }
}
