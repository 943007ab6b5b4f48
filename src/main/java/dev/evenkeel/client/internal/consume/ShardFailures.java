package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.OnFailure;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.BatchMessages;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.util.Backoff;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.event.Level;

/**
 * Decides what becomes of failed messages of one owned shard. The log records each failure, and
 * gives the message out again when it is due; see ADR 12. Times are monotonic milliseconds.
 */
final class ShardFailures {
  /** How long to wait before sending again what the log had no room for. */
  private static final long NO_ROOM_MILLIS = 1_000;

  /**
   * How long to wait before retrying a message that holds up a handover. Such a retry does not
   * count.
   */
  private static final long DRAINING_PAUSE_MILLIS = 1_000;

  /**
   * How long to wait before retrying a message that was not handled through no fault of its own.
   */
  private static final long NOT_NOW_PAUSE_MILLIS = 1_000;

  /**
   * While the breaker is open, a message that has just failed waits this much longer, so that
   * others are tried first.
   */
  private static final long OTHERS_FIRST_MILLIS = 200;

  /**
   * Pauses vary by this fraction, so that messages that failed together are not retried together.
   */
  private static final double JITTER = 0.2;

  private final ShardPort shard;
  private final ShardLog log;
  private final Environment environment;
  private final ShardMessages messages;
  private final ShardRetries retries;
  private final ShardFetch fetch;
  private final boolean moves;
  private int recordsInFlight;

  /** See {@link #dropGivenBack}. */
  private boolean gaveBackInPause;

  ShardFailures(
      ShardPort shard,
      ShardLog log,
      Environment environment,
      ShardMessages messages,
      ShardRetries retries,
      ShardFetch fetch) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.messages = messages;
    this.retries = retries;
    this.fetch = fetch;
    moves = moves(environment);
  }

  /** Whether a failed message leaves the window; else it waits there. */
  private static boolean moves(Environment environment) {
    HandlerKind handler = environment.handler;
    boolean state = handler.keepsState() || handler.givesState() || handler.publishes();
    ConsumerOptions options = environment.options;
    return !state && !options.isHoldFailed() && options.getOrder() != Order.SHARD;
  }

  /** Whether messages that left the window keep the order of their key. */
  static boolean ordersKeys(Environment environment) {
    return moves(environment) && environment.options.getOrder() == Order.KEY;
  }

  /** How many requests to record outcomes are under way. */
  int recordsInFlight() {
    return recordsInFlight;
  }

  /** Sends outcomes to the log, and asks it for messages that are due. */
  void step(long now) {
    if (!environment.linkUp()) {
      return;
    }
    ConsumerOptions options = environment.options;
    DataCommand.RecordOutcomes command = retries.outbox.next(options.getGroup(), now);
    if (command != null) {
      recordsInFlight++;
      environment.act(new ConsumerAction.RecordOutcomes(shard, command));
    }
    if (shard.state() == OwnedShardState.RUNNING && environment.fetches() && !shard.isPaused()) {
      RetryRequest request =
          retries.ask(
              options.getGroup(), options.getFetchBytesMax(), messages.window().committed(), now);
      if (request != null) {
        environment.act(new ConsumerAction.FetchRetries(shard, request));
      }
    }
  }

  // ---- Handlers end

  /** A handler has ended well. */
  void handled(Task task) {
    if (environment.breaker.succeeded(task.isFirst())) {
      String text = "messages succeed again: the breaker is closed";
      environment.report(Level.WARN, text, null);
      environment.act(new ConsumerAction.HeartbeatSoon());
    }
  }

  /** A message is done. */
  void settled(Task task, long now) {
    boolean failedBefore = !task.retry && task.attempt > 1;
    // A release says that all messages of the window are over.
    boolean records = task.retry || failedBefore && shard.state() == OwnedShardState.RUNNING;
    if (shard.state().over() || !records) {
      return;
    }
    if (task.retry) {
      retries.inHand.finished(task);
    }
    retries.outbox.add(task, new Outcome.Settled(task.offset));
    step(now);
  }

  /**
   * A handler has failed.
   *
   * @param running handlers of the consumer that have not ended
   */
  void failed(Task task, Throwable cause, int running, long now) {
    boolean draining = shard.state() == OwnedShardState.DRAINING;
    Breaker breaker = environment.breaker;
    if (task.hopeless != null || cause instanceof DeadlyMessageException) {
      // Another attempt would not help, and the failure says nothing about what handlers need.
      lost(task, cause, now);
      return;
    }
    Fault fault = Fault.of(cause);
    if (fault != Fault.MESSAGE) {
      boolean givenBack = fault == Fault.AWAY || cause instanceof GivenBackException;
      // With at most once, the message is committed: no later owner would handle it.
      messages.givenBack(draining && givenBack && !environment.atMostOnce);
      gaveBackInPause |= givenBack && shard.isPaused();
      tryAgain(task, NOT_NOW_PAUSE_MILLIS, now);
      if (fault == Fault.MEMBER) {
        environment.faulty("the consumer ends, and leaves all messages to others", cause);
      } else if (!givenBack) {
        report(task, "it is tried again in 1 s, and the attempt does not count", cause);
      }
      return;
    }
    if (breaker.failed(task.isFirst(), running, now)) {
      String text =
          "most messages fail: it pauses, tries one message at a time, and does not count what"
              + " fails meanwhile";
      environment.report(Level.ERROR, text, cause);
      environment.act(new ConsumerAction.HeartbeatSoon());
    }
    if (breaker.open()) {
      tryAgain(task, breaker.waitMillis(now) + OTHERS_FIRST_MILLIS, now);
      return;
    }
    List<Long> delays = environment.options.getRetryDelaysMillis();
    if (task.attempt > delays.size()) {
      lost(task, cause, now);
      return;
    }
    double factor = 1 - JITTER + 2 * JITTER * environment.random.nextDouble();
    long delay = Math.round(delays.get(task.attempt - 1) * factor);
    if (draining && !moves && !task.retry && delay > DRAINING_PAUSE_MILLIS) {
      // The handover waits for it. An attempt before its time does not count.
      report(task, "it is tried again in 1 s, because the shard is being handed over", cause);
      tryAgain(task, DRAINING_PAUSE_MILLIS, now);
      return;
    }
    String text = delay < 1_000 ? delay + " ms" : (delay + 500) / 1_000 + " s";
    report(task, "it is tried again in " + text, cause);
    record(task, delay, cause, now);
  }

  /** There is no further attempt. */
  private void lost(Task task, Throwable cause, long now) {
    ConsumerOptions options = environment.options;
    if (options.getOnFailure() == OnFailure.STOP) {
      messages.givenBack(true);
      tryAgain(task, DRAINING_PAUSE_MILLIS, now);
      String skip = task.batchEnd < 0 ? "" : log.howToSkip(task.batchEnd);
      String text = shard.ownership() + attempt(task, "the consumer ends" + skip);
      environment.act(new ConsumerAction.Stop(text, cause));
      return;
    }
    boolean broadcast = options.getMode() == Mode.BROADCAST;
    if (task.batchEnd < 0) {
      report(task, broadcast ? "it is skipped" : "it goes to the dead letters", cause);
    } else if (!task.notTheFirst) {
      // One report for all of them: a batch may have many thousands.
      String which =
          ": offsets " + task.offset + " to " + (task.batchEnd - 1) + " cannot be read, ";
      String then = broadcast ? "they are skipped" : "they go to the dead letters";
      log.error(which + then, cause);
    }
    record(task, -1, cause, now);
  }

  /** What was given back in a pause is fetched again after it. Until then others need the room. */
  void dropGivenBack(long now) {
    if (gaveBackInPause) {
      gaveBackInPause = false;
      messages.keepBegun(now);
    }
  }

  private void report(Task task, String then, Throwable cause) {
    log.report(Level.WARN, attempt(task, then), cause);
  }

  private static String attempt(Task task, String then) {
    return ": attempt " + task.attempt + " at offset " + task.offset + " failed, " + then;
  }

  /** Retries the same attempt after a pause. The log does not record it. */
  private void tryAgain(Task task, long pauseMillis, long now) {
    task.dueMillis = now + pauseMillis;
    notBegun(task);
    if (task.retry) {
      goBack(retries.inHand.failed(task), now + pauseMillis, now);
      environment.removed(1, task.bytes, now);
      retries.giveBack(task, now + pauseMillis);
    } else {
      messages.delay(task);
    }
  }

  /** If the log knows that a message has begun: it is over, without another outcome. */
  void notBegun(Task task) {
    if (task.isClaimed()) {
      retries.outbox.add(task, new Outcome.Begun(task.offset, true));
    }
    task.claim = null;
  }

  private void goBack(List<Task> tasks, long againMillis, long now) {
    tasks.forEach(task -> retries.giveBack(task, againMillis));
    environment.removed(tasks, now);
  }

  private void record(Task task, long delay, Throwable cause, long now) {
    boolean dead = delay < 0;
    Outcome.Way way =
        dead ? Outcome.Way.DEAD : moves || task.retry ? Outcome.Way.MOVED : Outcome.Way.HELD;
    if (!task.retry && retries.ordersKeys && task.message.hasKey()) {
      task.keyHash = Task.hash(task.message.key());
    }
    String error = String.valueOf(cause);
    Outcome.Failed failed =
        new Outcome.Failed(
            task.offset,
            attempts(task, cause),
            way,
            Math.max(0, delay),
            task.keyHash,
            error.substring(0, Math.min(error.length(), Limits.ERROR_CHARS_MAX)),
            null);
    if (task.retry) {
      goBack(retries.retryFailed(task), Long.MAX_VALUE, now);
      environment.removed(1, task.bytes, now);
    }
    retries.outbox.add(task, failed);
    step(now);
  }

  /**
   * The attempt that has failed. Each death was one, of which the log counts none. If it has
   * counted others, it takes only the one after these.
   */
  private static int attempts(Task task, Throwable cause) {
    boolean counted = task.retry || task.attempt > 1;
    return cause instanceof DeadlyMessageException deadly && !counted
        ? deadly.deaths()
        : task.attempt;
  }

  // ---- The log answers

  /** The log has recorded outcomes, except for those that it has no room for. */
  void recorded(DataCommand.RecordOutcomes command, Reply reply, long now) {
    recordsInFlight--;
    if (shard.works()) {
      take(command, reply instanceof Reply.OfOffsets of ? of.offsets() : List.of(), now);
      shard.ready();
      shard.step(now);
    }
  }

  private void take(DataCommand.RecordOutcomes command, List<Long> noRoom, long now) {
    Set<Long> refused = new HashSet<>(noRoom);
    Set<Long> fullKeys = new HashSet<>();
    boolean full = false;
    for (OutcomeQueue.Pending each : retries.outbox.taken(command)) {
      Task task = each.task();
      boolean found = !refused.contains(task.offset);
      if (!found && each.outcome() instanceof Outcome.Parked) {
        retries.noRoom(task);
        fullKeys.add(task.keyHash);
      } else if (!found && each.outcome() instanceof Outcome.Failed failed) {
        full |= noRoom(task, failed);
      } else {
        taken(task, each.outcome(), now);
      }
    }
    // There may be room again when messages behind them are sent: they must not overtake.
    retries.outbox.takeParked(fullKeys).forEach(retries::noRoom);
    fullKeys.forEach(messages::unstick);
    if (full) {
      retries.outbox.pause(now + NO_ROOM_MILLIS);
    }
  }

  /**
   * The log has no room for a failed message: it keeps its place in the window, or is sent again.
   * Returns whether after a pause.
   */
  private boolean noRoom(Task task, Outcome.Failed failed) {
    if (failed.way() != Outcome.Way.MOVED) {
      log.warn(": there is no room for another dead letter, offset " + task.offset);
      retries.outbox.add(task, failed);
      return true;
    }
    retries.outbox.add(
        task,
        new Outcome.Failed(
            failed.offset(),
            failed.attempt(),
            Outcome.Way.HELD,
            failed.delayMillis(),
            Outcome.NO_KEY,
            failed.error(),
            null));
    return false;
  }

  private void taken(Task task, Outcome outcome, long now) {
    if (outcome instanceof Outcome.Settled) {
      if (task.retry) {
        retries.retryOver(task, now);
        messages.unstick(task.keyHash);
      }
    } else if (outcome instanceof Outcome.Begun) {
      environment.claims.recorded(task);
    } else if (outcome instanceof Outcome.Parked) {
      fetch.oneWaits();
      leave(task, now);
      retries.parked(task.keyHash, now);
    } else if (outcome instanceof Outcome.Failed failed) {
      switch (failed.way()) {
        case HELD -> {
          task.attempt++;
          task.dueMillis = now + failed.delayMillis();
          messages.delay(task);
        }
        case MOVED -> {
          fetch.oneWaits();
          if (task.retry) {
            retries.retryFailureTaken(task);
          } else {
            environment.removed(retries.more(task), now);
            leave(task, now);
          }
          retries.moved(task.keyHash, failed.delayMillis(), now);
        }
        case DEAD -> {
          if (task.retry) {
            retries.retryFailureTaken(task);
            retries.retryOver(task, now);
            messages.unstick(task.keyHash);
          } else {
            leave(task, now);
          }
        }
      }
    } else {
      throw new AssertionError(outcome);
    }
  }

  private void leave(Task task, long now) {
    messages.left(task);
    environment.removed(1, task.bytes, now);
  }

  /** Outcomes could not be recorded, or the answer was lost: they are sent again. */
  void recordFailed(DataCommand.RecordOutcomes command, RefusedException refused, long now) {
    recordsInFlight--;
    if (refused.refusal() == Refusal.INDETERMINATE) {
      shard.markSpent();
    }
    if (shard.works() && !shard.fenced(refused, now)) {
      long pause = log.pause("its failures cannot be recorded", refused);
      retries.outbox.again(command, now + pause);
    }
  }

  /** A request for retries was answered. */
  void retriesFetched(RetryRequest request, RetryAnswer answer, long now) {
    if (shard.state() == OwnedShardState.RUNNING) {
      take(request, answer, now);
      shard.ready();
      shard.step(now);
    }
  }

  private void take(RetryRequest request, RetryAnswer answer, long now) {
    BatchMessages unpacked;
    try {
      unpacked = answer.messages();
    } catch (RefusedException unreadable) {
      retries.askFailed(request, now + log.pause("its retries cannot be read", unreadable));
      return;
    }
    retries
        .answered(request, answer, unpacked, messages.window().committed(), now)
        .forEach(retry -> environment.flow.added(1, retry.bytes));
  }

  /** A request for retries failed. */
  void retriesFailed(RetryRequest request, RefusedException refused, long now) {
    if (shard.state() == OwnedShardState.RUNNING && !shard.fenced(refused, now)) {
      retries.askFailed(request, now + Backoff.soon(environment.random));
    }
  }
}
