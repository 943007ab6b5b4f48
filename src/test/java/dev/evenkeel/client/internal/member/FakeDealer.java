package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A dealer at one node of a {@link FakeCluster}, which does as the test says. */
final class FakeDealer {
  private final FakeCluster cluster;
  private final String node;
  private final List<Report> reports = new CopyOnWriteArrayList<>();
  private volatile Refusal refusal;

  FakeDealer(FakeCluster cluster, String node) {
    this.cluster = cluster;
    this.node = node;
    cluster.serve(Addresses.levelDispatcher(node), this::heard);
  }

  private Future<Buffer> heard(Buffer request) {
    if (refusal != null) {
      throw new RefusedException(refusal, "as the test says");
    }
    if (Frames.op(request) != Op.LEVEL_REPORT) {
      throw new RefusedException(Refusal.INVALID, "not a report");
    }
    Report report = Report.decode(Frames.body(request));
    reports.add(report);
    return Future.succeededFuture(
        Frames.answer(new StartPermission(report.number(), 10_000).encode().view()));
  }

  /** Refuses reports from now on; null: takes them. */
  void refuse(Refusal why) {
    refusal = why;
  }

  List<Report> reports() {
    return reports;
  }

  /** The last one that was taken, or null. */
  Report last() {
    return reports.isEmpty() ? null : reports.get(reports.size() - 1);
  }

  private String member() {
    var beats = cluster.heartbeats();
    return Addresses.level(beats.get(beats.size() - 1).instance());
  }

  Future<Buffer> ask(Buffer request) {
    return cluster.request(member(), request, 60_000);
  }

  Future<SessionState> collect(long term, long session, boolean keep) {
    SessionStart collect = new SessionStart("g", term, session, node, keep, 10_000);
    return ask(Frames.request(Op.LEVEL_START, collect.encode()))
        .map(answer -> SessionState.decode(Frames.answerBody(answer)));
  }

  /** Deals messages of shard 0 of "t", each with its offset as its payload. */
  Future<Long> deal(long term, long session, long first, long fromOffset, int count) {
    List<HandOut.Entry> messages = new ArrayList<>();
    for (long offset = fromOffset; offset < fromOffset + count; offset++) {
      byte[] payload = String.valueOf(offset).getBytes(StandardCharsets.UTF_8);
      messages.add(
          new HandOut.Entry(
              new MessageId(new Shard(1, 0), offset, 0),
              3,
              1,
              new Message(null, Map.of(), 1_000, payload)));
    }
    HandOut deal =
        new HandOut(term, session, first, new byte[] {5}, Map.of(1, "t"), Map.of(), messages);
    return ask(Frames.request(Op.LEVEL_HAND_OUT, deal.encode()))
        .map(answer -> Frames.answerReader(answer).i64());
  }
}
