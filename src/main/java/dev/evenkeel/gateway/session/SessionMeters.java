package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The metrics of a client port. Safe for use from any thread. */
final class SessionMeters {
  final LongAdder requests;
  final LongAdder relayed;
  final LongAdder bytesReceived;
  final LongAdder bytesSent;
  final LongAdder pushes;
  final LongAdder pushesDropped;
  private final Map<Limit, LongAdder> limited;
  private final Map<CloseReason, LongAdder> closed;

  SessionMeters(MeterScope scope, Sessions sessions) {
    scope.gauge("evenkeel.sessions", "Sessions with a connection to this node", sessions::sessions);
    scope.gauge(
        "evenkeel.session.connections", "Connections at the client port", sessions::connections);
    scope.gauge(
        "evenkeel.session.requests.in.flight",
        "Requests of sessions without an answer",
        sessions::requestsInFlight);
    scope.gauge(
        "evenkeel.session.in.flight.bytes",
        "Bytes of such requests, and of large answers that are not sent yet",
        sessions::bytesInFlight);
    scope.gauge(
        "evenkeel.session.arriving.bytes",
        "Memory of requests that have not come whole",
        sessions::arrivingBytes);
    requests = scope.counter("evenkeel.session.requests", "Requests of sessions");
    relayed =
        scope.counter(
            "evenkeel.session.requests.relayed", "Requests of sessions passed on to other nodes");
    bytesReceived =
        scope.counter("evenkeel.session.received.bytes", "Bytes received at the client port");
    bytesSent = scope.counter("evenkeel.session.sent.bytes", "Bytes sent at the client port");
    pushes = scope.counter("evenkeel.session.pushes", "Messages pushed to sessions");
    pushesDropped =
        scope.counter(
            "evenkeel.session.pushes.dropped",
            "Messages not pushed, because the connection did not take them or ended");
    limited =
        scope.counters(
            "evenkeel.session.limited",
            "Connections and requests refused because of a limit",
            "limit",
            Limit.class);
    closed =
        scope.counters(
            "evenkeel.session.closed",
            "Connections at the client port that ended",
            "reason",
            CloseReason.class);
  }

  /** Counts a refusal, if it is for a limit. */
  void refused(RefusedException refused) {
    if (refused instanceof Limit.Reached reached) {
      limited.get(reached.limit()).increment();
    }
  }

  void closed(CloseReason reason) {
    closed.get(reason).increment();
  }
}
