package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.quota.RateReservations;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.rate.QuotaUse;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The coordinator of rates: gives out the time of all quotas of the cluster while this node leads
 * the meta log group, and refuses NOT_LEADER else. Runs on one context.
 */
final class RateService {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final ServeContext serve;
  private final GroupCommands commands;
  private final LogGroup meta;
  private RateReservations reservations;
  private long term = -1;

  RateService(ServeContext serve, GroupCommands commands) {
    this.serve = serve;
    this.commands = commands;
    meta = serve.node().log().meta();
  }

  /** Answers a RESERVE request. */
  Future<Buffer> reserve(ByteBuffer body) {
    ReserveRequest asked = ReserveRequest.decode(body);
    requireCoordinator();
    if (asked.stated() == null || asked.stated().equals(tables().quota(asked.key()))) {
      return Future.succeededFuture(answer(asked));
    }
    MetaCommand command = new MetaCommand.SetQuota(asked.stated());
    return commands
        .append(meta, Entry.of(command, serve.node().nowMillis()))
        .map(
            answer -> {
              LeaderClient.reply(Frames.answerBody(answer));
              requireCoordinator();
              return answer(asked);
            });
  }

  /** A new leader begins without what the former one has left over. */
  private void requireCoordinator() {
    LogGroupServer.requireReady(serve.node().nodeId(), meta);
    long now = meta.leadership().term();
    if (term != now) {
      term = now;
      reservations = new RateReservations(System.nanoTime());
    }
  }

  private MetaTables tables() {
    return serve.node().meta().tables();
  }

  private Buffer answer(ReserveRequest asked) {
    Quota quota = tables().quota(asked.key());
    Reservation given;
    if (quota == null) {
      reservations.forget(asked.key());
      given = Reservation.free(asked.key());
    } else {
      given =
          reservations.reserve(
              System.nanoTime(),
              quota,
              asked.bytes(),
              asked.messages(),
              asked.waitMillisMax() * NANOS_PER_MILLI);
    }
    return Frames.answer(given.encode().view());
  }

  /** Answers a READ_QUOTAS request. */
  Future<Buffer> read() {
    requireCoordinator();
    long now = System.nanoTime();
    List<QuotaUse> uses =
        tables().quotas().stream()
            .map(
                quota ->
                    new QuotaUse(
                        quota,
                        Math.round(reservations.bytesPerSecond(quota.key(), now)),
                        Math.round(reservations.messagesPerSecond(quota.key(), now))))
            .toList();
    Bytes out = new Bytes(64 * uses.size());
    QuotaUse.LIST.write(out, uses);
    return Future.succeededFuture(Frames.answer(out.view()));
  }
}
