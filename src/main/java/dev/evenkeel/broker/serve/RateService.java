package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.quota.MemberRates;
import dev.evenkeel.broker.quota.RateReservations;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.LocalDispatcher;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.rate.QuotaUse;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.wire.Entry;
import io.vertx.core.Future;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator of rates: gives out the time of all quotas of the cluster while this node leads
 * the meta log group, and refuses NOT_LEADER else. Runs on one context.
 */
final class RateService {
  private static final Logger LOG = LoggerFactory.getLogger(RateService.class);
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final ServeContext serve;
  private final GroupCommands commands;
  private final LogGroup meta;
  private final MemberRates named = new MemberRates();
  private final TableShares shares;
  private RateReservations reservations;
  private long term = -1;

  RateService(ServeContext serve, GroupCommands commands, TableShares shares) {
    this.serve = serve;
    this.shares = shares;
    this.commands = commands;
    meta = serve.node().log().meta();
  }

  Future<Reservation> reserve(ReserveRequest asked, Asker asker) {
    requireCoordinator();
    if (asked.stated() == null || asked.stated().equals(tables().quota(asked.key()))) {
      return Future.succeededFuture(answer(asked));
    }
    Quota former = tables().quota(asked.key());
    return set(asked.stated(), asker.user())
        .map(
            done -> {
              requireCoordinator();
              named.named(former, asked.stated(), System.nanoTime());
              return answer(asked);
            });
  }

  /**
   * @param user whose quota it is if there is none yet; null: nobody's
   */
  private Future<Void> set(Quota quota, String user) {
    MetaCommand command = new MetaCommand.SetQuota(quota);
    return shares
        .append(
            user, command, each -> commands.append(meta, Entry.of(each, serve.node().nowMillis())))
        .map(
            reply -> {
              Calls.taken(reply);
              return null;
            });
  }

  /** Removes the rates that members have named whose groups have had none for long. */
  void look() {
    Leadership leads = meta.leadership();
    LocalDispatcher dispatcher = LocalObjects.get(serve.vertx(), LocalDispatcher.class);
    if (!leads.ready() || leads.term() != term || dispatcher == null) {
      return;
    }
    for (String group : named.groups()) {
      dispatcher.groups().hasMembers(group).onSuccess(has -> serve.run(() -> looked(group, has)));
    }
  }

  private void looked(String group, boolean hasMembers) {
    Quota rate = tables().quota(QuotaKind.GROUP_RATE, group);
    if (named.isOver(group, rate, hasMembers, System.nanoTime())) {
      set(Quota.none(QuotaKind.GROUP_RATE, group), null)
          .onSuccess(
              done ->
                  LOG.info(
                      "the rate of group '{}', which its members had named, has gone with them",
                      group));
    }
  }

  /** A new leader begins without what the former one has left over. */
  private void requireCoordinator() {
    LogGroupServer.requireReady(serve.node().nodeId(), meta);
    long now = meta.leadership().term();
    if (term != now) {
      term = now;
      reservations = new RateReservations(System.nanoTime());
      named.clear();
    }
  }

  private MetaTables tables() {
    return serve.node().meta().tables();
  }

  private Reservation answer(ReserveRequest asked) {
    Quota quota = tables().quota(asked.key());
    if (quota == null) {
      reservations.forget(asked.key());
      return Reservation.free(asked.key());
    }
    return reservations.reserve(
        System.nanoTime(),
        quota,
        asked.bytes(),
        asked.messages(),
        asked.waitMillisMax() * NANOS_PER_MILLI);
  }

  List<QuotaUse> read() {
    requireCoordinator();
    long now = System.nanoTime();
    return tables().quotas().stream()
        .map(
            quota ->
                new QuotaUse(
                    quota,
                    Math.round(reservations.bytesPerSecond(quota.key(), now)),
                    Math.round(reservations.messagesPerSecond(quota.key(), now))))
        .toList();
  }
}
