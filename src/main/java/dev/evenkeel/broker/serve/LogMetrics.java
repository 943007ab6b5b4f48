package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.StoredState;
import dev.evenkeel.broker.node.BodyCleaner;
import dev.evenkeel.broker.node.BodyMender;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.ReplicaCheck;
import dev.evenkeel.broker.node.Scrub;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogStatus;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/** Metrics of one log group and of its store. */
final class LogMetrics {
  private final LogGroup log;
  private final MeterScope scope;
  private final LongAdder leaderChanges;
  private final LongSupplier storeBytes;
  private volatile LogStatus status;
  private volatile double lastStoreBytes = Double.NaN;
  private long lastTerm = -1;
  private boolean closed;

  LogMetrics(LogGroup log, BrokerNode node, MeterScope scope) {
    this.log = log;
    this.scope = scope;
    String name = log.name();
    StoredState<?, ?> state = node.state(name);
    storeBytes = state::bytesOnDisk;
    counter(
        "evenkeel.log.failed.decisions",
        "Log entries that every node refused because a bug kept it from deciding",
        state::failedDecisions);
    leaderChanges =
        scope.counter(
            "evenkeel.log.leader.changes",
            "Times that the log group got a new leader, as seen by this node",
            "log",
            name);
    ReplicaCheck check = node.replicaCheck(name);
    gauge(
        "evenkeel.replica.divergence",
        "Nodes whose state of the log group differs from that of this node: always 0, or it is a"
            + " bug or a fault of memory or disk",
        () -> check.differences().size());
    counter(
        "evenkeel.log.copied.anew",
        "Times that a damaged copy of the log group was replaced by that of other nodes",
        log.copy()::copiedAnew);
    gauge(
        "evenkeel.replica.equal.index",
        "Last log entry up to which this node's state was found equal to that of every other node",
        () -> unknownIfNegative(check.equalUpTo(node.others())));
    gauge(
        "evenkeel.log.leader",
        "1 if this node leads the log group",
        () -> log.leadership().ready() ? 1 : 0);
    gauge(
        "evenkeel.log.leader.known",
        "1 if this node knows who leads the log group",
        () -> log.leadership().leader() == null ? 0 : 1);
    for (Eligibility.Reason reason : Eligibility.Reason.values()) {
      scope.gauge(
          "evenkeel.log.ineligible",
          "1 if this node should not lead the log group, for this reason",
          () -> log.elections().eligibility().reasons().containsKey(reason) ? 1 : 0,
          "log",
          name,
          "reason",
          reason.name().toLowerCase(Locale.ROOT));
    }
    gauge("evenkeel.log.term", "Raft term", () -> log.leadership().term());
    statusGauge(
        "evenkeel.log.commit.index",
        "Last entry known to be on a majority",
        LogStatus::commitIndex);
    statusGauge("evenkeel.log.applied.index", "Last entry applied", LogStatus::appliedIndex);
    statusGauge(
        "evenkeel.log.pending.entries",
        "Entries given to the log and not answered",
        LogStatus::pendingEntries);
    statusGauge("evenkeel.log.pending.bytes", "Their size", LogStatus::pendingBytes);
    gauge(
        "evenkeel.store.bytes",
        "Bytes of the state's tables on disk, roughly",
        () -> lastStoreBytes);
    snapshots();
    countLeader();
    log.elections().onLeadership(any -> countLeader());
  }

  /** Counts what is checked and mended of the bodies of a data log group. */
  void countBodies(Scrub scrub, BodyMender mender, BodyCleaner cleaner) {
    gauge(
        "evenkeel.bodies.live.bytes",
        "Bytes of stored messages that are needed",
        () -> bytes(cleaner.figures(), BodyCleaner.Figures::liveBytes));
    gauge(
        "evenkeel.bodies.dead.bytes",
        "Bytes of stored messages that were dropped and not freed yet",
        () -> bytes(cleaner.figures(), BodyCleaner.Figures::deadBytes));
    counter(
        "evenkeel.bodies.freed.bytes",
        "Bytes of dropped messages that were freed",
        cleaner::freedBytes);
    counter(
        "evenkeel.bodies.rewritten.bytes",
        "Bytes of messages that were copied out of segments of which little is needed",
        cleaner::rewrittenBytes);
    counter(
        "evenkeel.scrub.bytes",
        "Bytes of stored messages that were compared with their checksums in the background",
        scrub::bytes);
    counter(
        "evenkeel.bodies.damaged",
        "Stored bodies of log entries that were found damaged or missing",
        mender::damagedBodies);
    counter(
        "evenkeel.bodies.mended",
        "Damaged bodies that were replaced by those of another node",
        mender::mendedBodies);
    counter(
        "evenkeel.bodies.lost.messages",
        "Messages that were lost because every node's copy of them is damaged",
        mender::lostMessagesTotal);
    gauge(
        "evenkeel.bodies.lost",
        "Damaged bodies of which no node has an undamaged copy",
        mender::lostBodies);
  }

  private void snapshots() {
    gauge(
        "evenkeel.log.snapshot.bytes",
        "Size of the snapshot that this node copies from the leader; 0: none",
        () -> log.copy().snapshotTransfer().bytesTotal());
    gauge(
        "evenkeel.log.snapshot.copied.bytes",
        "How much of this snapshot the node has",
        () -> log.copy().snapshotTransfer().bytesHere());
    counter(
        "evenkeel.log.snapshot.received.bytes",
        "Bytes of snapshots that the node has received",
        () -> log.copy().snapshotTransfer().bytesReceived());
    counter(
        "evenkeel.log.snapshot.restarts",
        "Times that the transfer of a snapshot broke and went on",
        () -> log.copy().snapshotTransfer().restarts());
    counter(
        "evenkeel.log.snapshot.damaged.files",
        "Files of snapshots that came with a wrong checksum and were fetched again",
        () -> log.copy().snapshotTransfer().damagedFiles());
  }

  private static double bytes(
      BodyCleaner.Figures figures, ToDoubleFunction<BodyCleaner.Figures> figure) {
    return figures == null ? Double.NaN : figure.applyAsDouble(figures);
  }

  private void counter(String name, String help, LongSupplier value) {
    scope.counter(name, help, value, "log", log.name());
  }

  private void gauge(String name, String help, DoubleSupplier value) {
    scope.gauge(name, help, value, "log", log.name());
  }

  private void statusGauge(String name, String help, ToDoubleFunction<LogStatus> figure) {
    gauge(
        name,
        help,
        () -> {
          LogStatus last = status;
          return unknownIfNegative(last == null ? -1 : figure.applyAsDouble(last));
        });
  }

  private static double unknownIfNegative(double value) {
    return value < 0 ? Double.NaN : value;
  }

  /** Counts how often the log group got another leader, or the same one anew. */
  private synchronized void countLeader() {
    Leadership now = log.leadership();
    if (closed || now.leader() == null || now.term() == lastTerm) {
      return;
    }
    if (lastTerm >= 0) {
      leaderChanges.increment();
    }
    lastTerm = now.term();
  }

  /** Stops counting: the log reports leaders even after its broker has ended. */
  synchronized void close() {
    closed = true;
  }

  /** Reads both; may wait. */
  LogStatus read() {
    LogStatus now = log.status();
    status = now;
    lastStoreBytes = Double.NaN;
    lastStoreBytes = storeBytes.getAsLong();
    return now;
  }
}
