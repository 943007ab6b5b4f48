package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The outcomes of one shard on their way to the log, in their order; one command at a time. */
final class Outbox {
  /** No more messages are begun while so many wait to be recorded. */
  private static final int WAITING_MAX = 1_000;

  private static final int COMMAND_OUTCOMES_MAX = 256;
  private static final long COMMAND_BYTES_MAX = 1 << 20;

  /** An outcome and its message. */
  record Pending(Task task, Outcome outcome) {}

  private final Ownership ownership;
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private List<Pending> sent = List.of();
  private DataCommand.RecordOutcomes command;
  private long notBeforeMillis = Long.MIN_VALUE;

  /** Failed messages of the window whose failure the log has not taken yet. */
  private int failedOfWindow;

  Outbox(Ownership ownership) {
    this.ownership = ownership;
  }

  void add(Task task, Outcome outcome) {
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

  /** The next command to send, or null if there is none now. */
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
    long bytes = 0;
    Pending next;
    while ((next = waiting.peek()) != null && taken.size() < COMMAND_OUTCOMES_MAX) {
      bytes += bytes(next.outcome());
      if (!taken.isEmpty() && bytes > COMMAND_BYTES_MAX) {
        break;
      }
      taken.add(waiting.poll());
    }
    return taken;
  }

  private static int bytes(Outcome outcome) {
    byte[] copy =
        outcome instanceof Outcome.Failed failed
            ? failed.copy()
            : outcome instanceof Outcome.Parked parked ? parked.copy() : null;
    return copy == null ? 0 : copy.length;
  }

  /** What {@code answered} brought, if it is the one that is awaited; else nothing. */
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
   * Takes back what was to be parked behind others of {@code keys} and was not sent, in its order.
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

  /** It is sent again: whether it was taken is not known, and sending it twice changes nothing. */
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

  /** Whatever was on its way is not awaited. */
  void linkUp(long now) {
    command = null;
    notBeforeMillis = now;
  }

  /** Messages that stay in the window until the log has taken their outcome. */
  List<Task> ofWindow() {
    return Stream.concat(sent.stream(), waiting.stream())
        .filter(each -> !each.task().retry && !(each.outcome() instanceof Outcome.Settled))
        .map(Pending::task)
        .toList();
  }

  void clear() {
    waiting.clear();
    sent = List.of();
    command = null;
    failedOfWindow = 0;
  }
}
