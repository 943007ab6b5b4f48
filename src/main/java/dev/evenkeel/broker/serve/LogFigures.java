package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.StoredState;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.ReplicaCheck;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogStatus;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/** Figures of one log group and of the store beside it. */
final class LogFigures {
  private final LogGroup log;
  private final LongSupplier storeBytes;
  private volatile LogStatus status;
  private volatile double lastStoreBytes = Double.NaN;

  LogFigures(LogGroup log, BrokerNode node, MeterScope scope) {
    this.log = log;
    StoredState<?, ?> state = node.state(log.name());
    storeBytes = state::bytesOnDisk;
    scope.counter(
        "evenkeel.log.failed.decisions",
        "Log entries that every node refused because deciding about them failed: a bug",
        state::failedDecisions,
        "log",
        log.name());
    ReplicaCheck check = node.replicaCheck(log.name());
    scope.gauge(
        "evenkeel.replica.divergence",
        "Nodes whose state of the log group differs from that of this node: always 0, or it is a"
            + " bug or a fault of memory or disk",
        () -> check.differences().size(),
        "log",
        log.name());
    List<String> others = node.others();
    scope.gauge(
        "evenkeel.replica.equal.index",
        "Last log entry up to which this node's state was found equal to that of every other node",
        () -> unknownIfNegative(check.equalUpTo(others)),
        "log",
        log.name());
    String name = log.name();
    // Asked at the moment of looking: it is at hand.
    scope.gauge(
        "evenkeel.log.leader",
        "1 if this node leads the log group",
        () -> log.leadership().ready() ? 1 : 0,
        "log",
        name);
    scope.gauge(
        "evenkeel.log.leader.known",
        "1 if this node knows who leads the log group",
        () -> log.leadership().leader() == null ? 0 : 1,
        "log",
        name);
    for (Eligibility.Reason reason : Eligibility.Reason.values()) {
      scope.gauge(
          "evenkeel.log.ineligible",
          "1 if this node should not lead the log group, for this reason",
          () -> log.eligibility().reasons().containsKey(reason) ? 1 : 0,
          "log",
          name,
          "reason",
          reason.name().toLowerCase(Locale.ROOT));
    }
    scope.gauge("evenkeel.log.term", "Raft term", () -> log.leadership().term(), "log", name);
    gauge(
        scope,
        "evenkeel.log.commit.index",
        "Last entry known to be on a majority",
        LogStatus::commitIndex);
    gauge(scope, "evenkeel.log.applied.index", "Last entry applied", LogStatus::appliedIndex);
    gauge(
        scope,
        "evenkeel.log.pending.entries",
        "Entries given to the log and not answered",
        LogStatus::pendingEntries);
    gauge(scope, "evenkeel.log.pending.bytes", "Their size", LogStatus::pendingBytes);
    scope.gauge(
        "evenkeel.store.bytes",
        "Bytes of the state's tables on disk, roughly",
        () -> lastStoreBytes,
        "log",
        name);
  }

  private void gauge(
      MeterScope scope, String name, String help, ToDoubleFunction<LogStatus> figure) {
    scope.gauge(
        name,
        help,
        () -> {
          LogStatus last = status;
          return unknownIfNegative(last == null ? -1 : figure.applyAsDouble(last));
        },
        "log",
        log.name());
  }

  private static double unknownIfNegative(double value) {
    return value < 0 ? Double.NaN : value;
  }

  LogGroup log() {
    return log;
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
