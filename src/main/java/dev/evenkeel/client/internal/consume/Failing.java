package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * What becomes of messages whose handler fails: the log is told, and gives them out again; see ADR
 * 12. Times are monotonic milliseconds.
 */
final class Failing {
  /** What finds no room in the log is told again after so long. */
  private static final long NO_ROOM_MILLIS = 1_000;

  /** A message that holds up a hand-over is tried again this soon, and that does not count. */
  private static final long DRAINING_PAUSE_MILLIS = 1_000;

  /** While the breaker is open others may be tried before one that has just failed. */
  private static final long OTHERS_FIRST_MILLIS = 200;

  private final ConsumerOptions options;
  private final FailurePolicy policy;
  private final Breaker breaker;
  private final Puller puller;
  private final Reports reports;
  private final RandomGenerator random;
  private final Consumer<ConsumerAction> out;
  private boolean linkUp = true;

  Failing(
      ConsumerOptions options,
      FailurePolicy policy,
      Puller puller,
      Reports reports,
      RandomGenerator random,
      Consumer<ConsumerAction> out) {
    this.options = options;
    this.policy = policy;
    this.puller = puller;
    this.reports = reports;
    this.random = random;
    this.out = out;
    breaker = new Breaker(options.isBreaker());
  }

  boolean mayStart(int running, long now) {
    return breaker.mayStart(running, now);
  }

  boolean breakerOpen() {
    return breaker.open();
  }

  void link(boolean up) {
    linkUp = up;
  }

  void begin(OwnedShard hold) {
    hold.ordersKeys = policy.ordersKeys();
  }

  /** Tells the log what is to be told, and asks for what is due. */
  void step(OwnedShard hold, long now) {
    if (!linkUp) {
      return;
    }
    DataCommand.RecordOutcomes command = hold.retries.outbox.next(options.getGroup(), hold, now);
    if (command != null) {
      hold.recordsInFlight++;
      out.accept(new ConsumerAction.RecordOutcomes(hold, command));
    }
    if (hold.state == OwnedShardState.RUNNING && puller.pulls()) {
      RetryRequest request =
          hold.retries.ask(options.getGroup(), hold, options.getFetchBytesMax(), now);
      if (request != null) {
        out.accept(new ConsumerAction.FetchRetries(hold, request));
      }
    }
  }

  // ---- Handlers end

  /** A handler has ended well. */
  void handled(Task task) {
    if (breaker.succeeded(task.attempt)) {
      reports.warn("messages are handled again: it goes on as before");
      out.accept(new ConsumerAction.HeartbeatSoon());
    }
  }

  /** A message is done. */
  void settled(Task task, long now) {
    boolean held = !task.retry && task.attempt > 1;
    // A release says of all that was held that it is over.
    boolean told = task.retry || held && task.hold.state == OwnedShardState.RUNNING;
    if (task.hold.state.over() || !told) {
      return;
    }
    ShardRetries retries = task.hold.retries;
    if (task.retry) {
      retries.inHand.finished(task);
    }
    retries.outbox.add(task, new Outcome.Settled(task.offset));
    step(task.hold, now);
  }

  /**
   * A handler has failed.
   *
   * @param running handlers that have not ended
   */
  void failed(Task task, Throwable cause, int running, long now) {
    OwnedShard hold = task.hold;
    boolean draining = hold.state == OwnedShardState.DRAINING;
    if (cause instanceof GivenBackException) {
      hold.givenBack = draining;
      tryAgain(task, DRAINING_PAUSE_MILLIS, now);
      return;
    }
    if (task.unreadable != null) {
      // Another attempt does not help, and it says nothing of what handlers need.
      lost(task, cause, now);
      return;
    }
    if (breaker.failed(task.attempt, running, now)) {
      reports.error(
          "most messages fail: it pauses, tries one message at a time, and does not count what"
              + " fails meanwhile",
          cause);
      out.accept(new ConsumerAction.HeartbeatSoon());
    }
    if (breaker.open()) {
      tryAgain(task, breaker.waitMillis(now) + OTHERS_FIRST_MILLIS, now);
      return;
    }
    if (draining && !policy.moves() && !task.retry) {
      tell(task, "it is tried again in 1 s, for the shard is handed over", cause);
      tryAgain(task, DRAINING_PAUSE_MILLIS, now);
      return;
    }
    long delay = policy.delayAfter(task.attempt);
    if (delay >= 0) {
      tell(task, "it is tried again in " + seconds(delay), cause);
      record(task, delay, cause, now);
    } else {
      lost(task, cause, now);
    }
  }

  /** There is no further attempt. */
  private void lost(Task task, Throwable cause, long now) {
    if (policy.stops()) {
      task.hold.givenBack = true;
      tryAgain(task, DRAINING_PAUSE_MILLIS, now);
      out.accept(new ConsumerAction.Stop(text(task, "the consumer ends"), cause));
      return;
    }
    boolean broadcast = options.getMode() == ConsumerOptions.Mode.BROADCAST;
    tell(task, broadcast ? "it is passed over" : "it goes to the dead letters", cause);
    record(task, -1, cause, now);
  }

  private void tell(Task task, String then, Throwable cause) {
    out.accept(new ConsumerAction.Report(ConsumerAction.Severity.WARN, text(task, then), cause));
  }

  private static String text(Task task, String then) {
    return task.hold
        + ": attempt "
        + task.attempt
        + " at offset "
        + task.offset
        + " failed, "
        + then;
  }

  private static String seconds(long millis) {
    return millis < 1_000 ? millis + " ms" : (millis + 500) / 1_000 + " s";
  }

  /** The same attempt again, after a pause: the log does not hear of it. */
  private void tryAgain(Task task, long pauseMillis, long now) {
    OwnedShard hold = task.hold;
    if (task.retry) {
      goBack(hold.retries.inHand.failed(task), hold, now + pauseMillis, now);
      puller.dropped(new OwnedShard.Dropped(1, task.bytes), now);
      hold.retries.giveBack(task, now + pauseMillis);
    } else {
      task.dueMillis = now + pauseMillis;
      hold.await(task);
    }
  }

  private void goBack(List<Task> tasks, OwnedShard hold, long againMillis, long now) {
    for (Task task : tasks) {
      hold.retries.giveBack(task, againMillis);
    }
    puller.dropped(OwnedShard.Dropped.NONE.and(tasks), now);
  }

  private void record(Task task, long delay, Throwable cause, long now) {
    OwnedShard hold = task.hold;
    boolean dead = delay < 0;
    boolean moves = policy.moves() || task.retry;
    Outcome.Way way = dead ? Outcome.Way.DEAD : moves ? Outcome.Way.MOVED : Outcome.Way.HELD;
    byte[] key = task.message.key();
    if (!task.retry && policy.ordersKeys() && key != null) {
      task.laneHash = KeyHash.of(key);
    }
    boolean copied = dead || moves && !task.retry;
    Outcome.Failed failed =
        new Outcome.Failed(
            task.offset,
            task.attempt,
            way,
            Math.max(0, delay),
            task.laneHash,
            error(cause),
            copied ? MessageCodec.encode(task.message) : null);
    if (task.retry) {
      goBack(hold.retries.retryFailed(task), hold, Long.MAX_VALUE, now);
      puller.dropped(new OwnedShard.Dropped(1, task.bytes), now);
    }
    hold.retries.outbox.add(task, failed);
    step(hold, now);
  }

  private static String error(Throwable cause) {
    String text = String.valueOf(cause);
    return text.length() <= Limits.ERROR_CHARS_MAX
        ? text
        : text.substring(0, Limits.ERROR_CHARS_MAX);
  }

  // ---- The log answers

  /** The log has taken outcomes, all but those of {@code noRoom}. */
  void recorded(OwnedShard hold, DataCommand.RecordOutcomes command, List<Long> noRoom, long now) {
    Set<Long> refused = new HashSet<>(noRoom);
    Set<Long> fullLanes = new HashSet<>();
    boolean full = false;
    for (Outbox.Pending each : hold.retries.outbox.taken(command)) {
      Task task = each.task();
      if (!refused.contains(task.offset)) {
        taken(hold, task, each.outcome(), now);
      } else if (each.outcome() instanceof Outcome.Parked) {
        hold.retries.noRoom(task);
        fullLanes.add(task.laneHash);
      } else {
        full |= noRoom(hold, task, (Outcome.Failed) each.outcome());
      }
    }
    // There may be room again when those behind are told: they must not pass.
    hold.retries.outbox.takeParked(fullLanes).forEach(hold.retries::noRoom);
    fullLanes.forEach(hold::unstick);
    if (full) {
      hold.retries.outbox.pause(now + NO_ROOM_MILLIS);
    }
  }

  /** It keeps its place in the window, or is told again; returns whether after a pause. */
  private boolean noRoom(OwnedShard hold, Task task, Outcome.Failed failed) {
    if (failed.way() != Outcome.Way.MOVED) {
      reports.warn(hold + ": there is no room for another dead letter, offset " + task.offset);
      hold.retries.outbox.add(task, failed);
      return true;
    }
    hold.retries.outbox.add(
        task,
        new Outcome.Failed(
            failed.offset(),
            failed.attempt(),
            Outcome.Way.HELD,
            failed.delayMillis(),
            Outcome.NO_LANE,
            failed.error(),
            null));
    return false;
  }

  private void taken(OwnedShard hold, Task task, Outcome outcome, long now) {
    ShardRetries retries = hold.retries;
    if (outcome instanceof Outcome.Settled) {
      if (!task.retry) {
        return;
      }
      retries.retryOver(task, now);
      hold.unstick(task.laneHash);
    } else if (outcome instanceof Outcome.Parked) {
      leave(hold, task, now);
      retries.parked(task.laneHash, now);
    } else if (outcome instanceof Outcome.Failed failed) {
      switch (failed.way()) {
        case HELD -> {
          task.attempt++;
          task.dueMillis = now + failed.delayMillis();
          hold.await(task);
        }
        case MOVED -> {
          if (task.retry) {
            retries.retryFailureTaken(task);
          } else {
            puller.dropped(OwnedShard.Dropped.NONE.and(retries.more(task)), now);
            leave(hold, task, now);
          }
          retries.moved(task.laneHash, failed.delayMillis(), now);
        }
        case DEAD -> {
          if (task.retry) {
            retries.retryFailureTaken(task);
            retries.retryOver(task, now);
            hold.unstick(task.laneHash);
          } else {
            leave(hold, task, now);
          }
        }
      }
    }
  }

  private void leave(OwnedShard hold, Task task, long now) {
    hold.left(task);
    puller.dropped(new OwnedShard.Dropped(1, task.bytes), now);
  }

  /** Outcomes were refused, but not because the shard is another's: they are told again. */
  void recordFailed(
      OwnedShard hold, DataCommand.RecordOutcomes command, RefusedException refused, long now) {
    long pause = reports.pause(hold, "its failures cannot be recorded", refused);
    hold.retries.outbox.again(command, now + pause);
  }

  void retriesFetched(OwnedShard hold, RetryRequest request, RetryAnswer answer, long now) {
    hold.retries.answered(hold, request, answer, now).forEach(puller::added);
  }

  void retriesFailed(OwnedShard hold, RetryRequest request, RefusedException refused, long now) {
    hold.retries.askFailed(request, now + Backoff.soon(random));
  }
}
