package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The outcomes of messages of one shard that the log must record, in their order. One command is
 * under way at a time.
 */
final class OutcomeQueue {
  /** No more messages begin while this many outcomes wait. */
  private static final int WAITING_MAX = 1_000;

  private static final int COMMAND_OUTCOMES_MAX = 256;

  /** An outcome and its message. */
  record Pending(Task task, Outcome outcome) {}

  private final Ownership ownership;
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private List<Pending> sent = List.of();
  private DataCommand.RecordOutcomes command;
  private long notBeforeMillis = Long.MIN_VALUE;

  /** Failed messages of the window whose failure the log has not recorded yet. */
  private int failedOfWindow;

  OutcomeQueue(Ownership ownership) {
    this.ownership = ownership;
  }

  void add(Task task, Outcome outcome) {
    task.detach();
    waiting.add(new Pending(task, outcome));
    count(task, outcome, 1);
  }

  private void count(Task task, Outcome outcome, int by) {
    if (!task.retry && outcome instanceof Outcome.Failed) {
      failedOfWindow += by;
    }
  }

  int failedOfWindow() {
    return failedOfWindow;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && sent.isEmpty();
  }

  boolean isFull() {
    return waiting.size() >= WAITING_MAX;
  }

  /** The next command to send, or null if none is due. */
  DataCommand.RecordOutcomes next(String group, long now) {
    if (command != null || now < notBeforeMillis) {
      return null;
    }
    if (sent.isEmpty()) {
      sent = take();
    }
    if (sent.isEmpty()) {
      return null;
    }
    List<Outcome> outcomes = sent.stream().map(Pending::outcome).toList();
    command = new DataCommand.RecordOutcomes(group, ownership.shard(), ownership.epoch(), outcomes);
    return command;
  }

  private List<Pending> take() {
    List<Pending> taken = new ArrayList<>();
    while (!waiting.isEmpty() && taken.size() < COMMAND_OUTCOMES_MAX) {
      taken.add(waiting.poll());
    }
    return taken;
  }

  /**
   * Takes the answered command off the outbox and returns its outcomes; empty if another one is
   * awaited.
   */
  List<Pending> taken(DataCommand.RecordOutcomes answered) {
    if (command != answered) {
      return List.of();
    }
    List<Pending> taken = sent;
    sent = List.of();
    command = null;
    taken.forEach(each -> count(each.task(), each.outcome(), -1));
    return taken;
  }

  /**
   * Takes back, in their order, the unsent messages that were to be parked behind others of {@code
   * keys}.
   */
  List<Task> takeParked(Set<Long> keys) {
    List<Task> taken = new ArrayList<>();
    waiting.removeIf(
        each ->
            each.outcome() instanceof Outcome.Parked
                && keys.contains(each.task().keyHash)
                && taken.add(each.task()));
    return taken;
  }

  /**
   * Sends the command again later. The log may have recorded it already; sending it twice changes
   * nothing.
   */
  boolean again(DataCommand.RecordOutcomes failed, long atMillis) {
    if (command != failed) {
      return false;
    }
    command = null;
    notBeforeMillis = atMillis;
    return true;
  }

  /** Nothing is sent before {@code atMillis}. */
  void pause(long atMillis) {
    notBeforeMillis = atMillis;
  }

  /** The answer of the command under way is no longer awaited. */
  void linkUp(long now) {
    command = null;
    notBeforeMillis = now;
  }

  /** Messages that stay in the window until the log has taken their outcome. */
  List<Task> ofWindow() {
    return Stream.concat(sent.stream(), waiting.stream())
        .filter(each -> !each.task().retry && keepsPlace(each.outcome()))
        .map(Pending::task)
        .toList();
  }

  private static boolean keepsPlace(Outcome outcome) {
    return outcome instanceof Outcome.Failed || outcome instanceof Outcome.Parked;
  }

  void clear() {
    waiting.clear();
    sent = List.of();
    command = null;
    failedOfWindow = 0;
  }
}
