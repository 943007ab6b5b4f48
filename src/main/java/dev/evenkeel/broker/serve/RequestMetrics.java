package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Metrics that a broker counts while it serves: a few additions per request or batch, never per
 * message. May be used from any thread.
 */
public final class RequestMetrics {
  /** Commands with a time of their own; the others are "other". */
  private static final Map<Class<?>, String> COMMANDS =
      Map.of(
          DataCommand.Commit.class, "commit",
          DataCommand.CommitMany.class, "commit",
          DataCommand.Grant.class, "grant",
          DataCommand.SetDrain.class, "drain",
          DataCommand.Release.class, "release");

  private static final double[] BATCH_STEPS = {1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096};
  private static final String OTHER_COMMAND = "other";

  final LongAdder appendRequests;
  private final LongAdder appendMessages;
  private final LongAdder appendBatches;
  private final LongAdder appendBytes;
  private final Timer append;
  private final DistributionSummary entryBatches;
  private final LongAdder delayedMessages;
  final LongAdder moveFailures;
  final LongAdder cancelledMessages;
  private final Timer delayLateness;
  final LongAdder fetchRequests;
  private final LongAdder fetchMessages;
  private final LongAdder fetchBytes;
  final LongAdder fetchEmpty;
  private final LongAdder filteredMessages;
  private final Timer fetchFromMemory;
  private final Timer fetchFromDisk;
  private final Map<String, Timer> commands = new HashMap<>();
  private final Map<Refusal, LongAdder> refusals;

  public RequestMetrics(MeterScope scope) {
    appendRequests = scope.counter("evenkeel.append.requests", "Append requests that came");
    appendMessages =
        scope.counter("evenkeel.append.messages", "Messages acknowledged to producers");
    appendBatches = scope.counter("evenkeel.append.batches", "Batches acknowledged to producers");
    appendBytes = scope.counter("evenkeel.append.bytes", "Bytes of the batches acknowledged");
    append =
        scope.timer(
            "evenkeel.append",
            "Time from the arrival of an append request to the answer of the log");
    entryBatches =
        scope.sizes(
            "evenkeel.append.entry.batches", "Batches joined in one log entry", BATCH_STEPS);
    delayedMessages =
        scope.counter(
            "evenkeel.delay.delivered.messages",
            "Delayed messages that became due and got their offsets");
    cancelledMessages =
        scope.counter("evenkeel.delay.cancelled.messages", "Delayed messages that were cancelled");
    moveFailures =
        scope.counter(
            "evenkeel.delay.move.failures",
            "Attempts to move delayed messages of sealed shards that failed and are repeated");
    delayLateness =
        scope.timer(
            "evenkeel.delay.lateness",
            "How late the first message of a delivery was when the leader began the delivery");
    fetchRequests = scope.counter("evenkeel.fetch.requests", "Fetch requests that came");
    fetchMessages = scope.counter("evenkeel.fetch.messages", "Messages handed to consumers");
    fetchBytes = scope.counter("evenkeel.fetch.bytes", "Bytes of the batches handed to consumers");
    fetchEmpty = scope.counter("evenkeel.fetch.empty", "Fetches answered without a message");
    filteredMessages =
        scope.counter(
            "evenkeel.fetch.filtered.messages",
            "Messages that filters of consumers passed over: they count as consumed");
    String fetchHelp = "Time from finding messages to read until the answer";
    fetchFromMemory = scope.timer("evenkeel.fetch", fetchHelp, "source", "memory");
    fetchFromDisk = scope.timer("evenkeel.fetch", fetchHelp, "source", "disk");
    Set.of("commit", "grant", "drain", "release", OTHER_COMMAND)
        .forEach(name -> commands.put(name, command(scope, name)));
    refusals =
        scope.counters(
            "evenkeel.broker.refusals",
            "Requests or batches that the broker or the log refused",
            "kind",
            Refusal.class);
  }

  private static Timer command(MeterScope scope, String name) {
    return scope.timer(
        "evenkeel.command",
        "Time from the arrival of a command, such as a commit, to the answer of the log",
        "command",
        name);
  }

  /** An entry with this number of batches goes to the log. */
  void joined(int batches) {
    entryBatches.record(batches);
  }

  /**
   * The log has answered an append request.
   *
   * @param body what it asked for
   * @param messages number of messages in {@code body}
   */
  void appended(long startNanos, ByteBuffer body, int messages, AppendResults answer) {
    append.record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
    List<AppendResults.Result> results = answer.results();
    for (int i = 0; i < results.size(); i++) {
      if (!results.get(i).ok()) {
        partlyAppended(body, results);
        return;
      }
    }
    appendMessages.add(messages);
    appendBatches.add(results.size());
    appendBytes.add(body.remaining() - (long) AppendBody.SHARD_BYTES * results.size());
  }

  private void partlyAppended(ByteBuffer body, List<AppendResults.Result> results) {
    List<AppendBody.Item> items = AppendBody.read(body);
    for (int i = 0; i < results.size(); i++) {
      if (results.get(i).ok()) {
        appendMessages.add(items.get(i).batch().count());
        appendBatches.increment();
        appendBytes.add(items.get(i).batch().length());
      } else {
        refused(results.get(i).refusal());
      }
    }
  }

  /**
   * Delayed messages got their offsets.
   *
   * @param lateMillis of the one that was due first
   */
  void delivered(long messages, long lateMillis) {
    delayedMessages.add(messages);
    delayLateness.record(lateMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * The filter of a consumer has looked at messages.
   *
   * @param messages that go to the consumer
   * @param bytes of their batches
   * @param over how many the filter has passed over
   */
  void filtered(long messages, long bytes, long over) {
    fetchMessages.add(messages);
    fetchBytes.add(bytes);
    filteredMessages.add(over);
  }

  /** Batches go to a consumer. */
  void fetched(long messages, long bytes, long startNanos, boolean fromDisk) {
    fetchMessages.add(messages);
    fetchBytes.add(bytes);
    (fromDisk ? fetchFromDisk : fetchFromMemory)
        .record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Times a command, and counts it as refused if that is what the log says. Joined steps have one
   * time, that of the first of them.
   */
  Future<Reply> commanded(DataCommand command, Future<Reply> answer) {
    Object timed =
        command instanceof DataCommand.TakeSteps take && !take.steps().isEmpty()
            ? take.steps().get(0)
            : command;
    Timer timer = commands.get(COMMANDS.getOrDefault(timed.getClass(), OTHER_COMMAND));
    long startNanos = System.nanoTime();
    return answer.onSuccess(
        reply -> {
          timer.record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
          if (reply instanceof Reply.Refused refused) {
            refused(refused.refusal());
          } else if (reply instanceof Reply.OfCommits of) {
            of.refused().forEach(each -> refused(each.refusal()));
          } else if (reply instanceof Reply.OfSteps of) {
            for (Reply each : of.replies()) {
              if (each instanceof Reply.Refused no) {
                refused(no.refusal());
              }
            }
          }
        });
  }

  public void refused(Refusal refusal) {
    refusals.get(refusal).increment();
  }
}
