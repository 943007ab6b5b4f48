package dev.evenkeel.gateway;

import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.rate.QuotaUse;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Answers {@code evenkeel.api.quotas}: lists, sets and clears quotas. */
final class QuotasApi {
  private static final List<String> FIELDS =
      List.of("action", "kind", "name", "bytesPerSecond", "messages", "periodMillis");
  private static final long PERIOD_MILLIS_DEFAULT = 1_000;

  private final ClusterCalls calls;

  QuotasApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    return switch (action) {
      case "list" -> list();
      case "set" -> set(request);
      case "clear" -> clear(request);
      default ->
          throw JsonFields.invalid("unknown action '" + action + "': use list, set or clear");
    };
  }

  private Future<Object> list() {
    return calls
        .toMetaLeader(Op.READ_QUOTAS, new Bytes())
        .map(
            answer -> {
              JsonArray quotas = new JsonArray();
              for (QuotaUse each : QuotaUse.LIST.read(new ByteReader(answer))) {
                quotas.add(
                    json(each.quota())
                        .put("usedBytesPerSecond", each.bytesPerSecond())
                        .put("usedMessagesPerSecond", each.messagesPerSecond()));
              }
              return quotas;
            });
  }

  private Future<Object> set(JsonObject request) {
    Quota quota =
        new Quota(
                kind(request),
                JsonFields.neededText(request, "name"),
                JsonFields.number(request, "bytesPerSecond", 0, 1, Quota.BYTES_MAX),
                JsonFields.number(request, "messages", 0, 1, Quota.MESSAGES_MAX),
                JsonFields.number(
                    request, "periodMillis", PERIOD_MILLIS_DEFAULT, 1, Quota.PERIOD_MILLIS_MAX))
            .check();
    if (quota.isNone()) {
      throw JsonFields.invalid(
          "a quota needs 'bytesPerSecond' or 'messages': to remove it, clear it");
    }
    if (quota.messages() == 0 && request.getValue("periodMillis") != null) {
      throw JsonFields.invalid("'periodMillis' is the period of 'messages', which is missing");
    }
    return submit(quota).map(done -> json(quota));
  }

  private Future<Object> clear(JsonObject request) {
    for (String limit : List.of("bytesPerSecond", "messages", "periodMillis")) {
      if (request.getValue(limit) != null) {
        throw JsonFields.invalid("'" + limit + "' belongs to the action set");
      }
    }
    Quota none = Quota.none(kind(request), JsonFields.neededText(request, "name")).check();
    return submit(none)
        .map(
            done ->
                new JsonObject()
                    .put("kind", none.kind().word())
                    .put("name", none.name())
                    .put("cleared", true));
  }

  private static QuotaKind kind(JsonObject request) {
    return QuotaKind.of(JsonFields.neededText(request, "kind"));
  }

  private Future<Void> submit(Quota quota) {
    Bytes body = new Bytes();
    CommandCodec.write(body, new MetaCommand.SetQuota(quota));
    return calls.toMetaLeader(Op.SUBMIT_META, body).map(LeaderClient::reply).mapEmpty();
  }

  private static JsonObject json(Quota quota) {
    boolean messages = quota.messages() > 0;
    return new JsonObject()
        .put("kind", quota.kind().word())
        .put("name", quota.name())
        .put("bytesPerSecond", quota.bytesPerSecond() > 0 ? quota.bytesPerSecond() : null)
        .put("messages", messages ? quota.messages() : null)
        .put("periodMillis", messages ? quota.periodMillis() : null);
  }
}
