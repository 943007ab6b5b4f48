package dev.evenkeel.gateway;

import dev.evenkeel.api.ClearQuota;
import dev.evenkeel.api.ClearQuota.ClearedQuota;
import dev.evenkeel.api.ListQuotas;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.QuotaView;
import dev.evenkeel.api.SetQuota;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import java.util.List;

/** Lists, sets and clears quotas. */
record QuotasApi(ClusterCalls calls) {
  private static final long PERIOD_MILLIS_DEFAULT = 1_000;

  void serve(ApiAnswers answers) {
    answers
        .on(Operations.LIST_QUOTAS, this::list)
        .by(Operations.SET_QUOTA, this::set)
        .on(Operations.CLEAR_QUOTA, this::clear);
  }

  private Future<List<QuotaView>> list(ListQuotas all) {
    return calls
        .toMetaLeader(Calls.READ_QUOTAS, null)
        .map(
            uses ->
                uses.stream()
                    .map(
                        each ->
                            QuotaView.of(
                                each.quota(), each.bytesPerSecond(), each.messagesPerSecond()))
                    .toList());
  }

  private Future<QuotaView> set(SetQuota asked, String user) {
    long periodMillis = asked.periodMillis() == null ? PERIOD_MILLIS_DEFAULT : asked.periodMillis();
    Quota quota =
        new Quota(
                asked.kind(),
                asked.name(),
                orNone(asked.bytesPerSecond()),
                orNone(asked.messages()),
                periodMillis)
            .check();
    if (quota.isNone()) {
      throw Refusal.INVALID.error(
          "a quota needs 'bytesPerSecond' or 'messages': to remove it, clear it");
    }
    if (quota.messages() == 0 && asked.periodMillis() != null) {
      throw Refusal.INVALID.error("'periodMillis' is the period of 'messages', which is missing");
    }
    return submit(quota, user).map(done -> QuotaView.of(quota));
  }

  private static long orNone(Long limit) {
    return limit == null ? 0 : limit;
  }

  private Future<ClearedQuota> clear(ClearQuota asked) {
    return submit(Quota.none(asked.kind(), asked.name()).check(), null)
        .map(done -> new ClearedQuota(asked.kind(), asked.name(), true));
  }

  private Future<Void> submit(Quota quota, String user) {
    return calls
        .toMetaLeader(Calls.SUBMIT_META, new MetaCommand.SetQuota(quota), user)
        .map(Calls::taken)
        .mapEmpty();
  }
}
