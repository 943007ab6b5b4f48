package dev.evenkeel.gateway.access;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.wire.AppendBody;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/**
 * Makes what a user sends wait for the user's quota. Batches count as they are; messages in JSON
 * count with the characters of their payloads and keys.
 */
public final class PrincipalQuota {
  private static final String DATA = ".data";

  /** Sends all messages of a user that come as JSON. */
  private static final String JSON = "json";

  private PrincipalQuota() {}

  /**
   * Waits until a request over a session may be passed on.
   *
   * @return null: at once; it completes on the present context, and fails with OVERLOADED if it
   *     takes too long
   */
  public static Future<Void> turn(
      Vertx vertx, Principal principal, String address, Buffer request) {
    LocalQuotas quotas = quotasOf(vertx, principal);
    if (quotas == null) {
      return null;
    }
    if (address.equals(Addresses.API_PRODUCE)) {
      return turn(quotas, principal, SessionRules.question(address, request));
    }
    if (!address.endsWith(DATA) || Frames.op(request) != Op.APPEND) {
      return null;
    }
    long bytes = 0;
    long messages = 0;
    long producer = 0;
    for (AppendBody.Item item : AppendBody.read(Frames.body(request))) {
      producer = item.batch().producerId();
      bytes += item.batch().length();
      messages += item.batch().count();
    }
    return turn(quotas, principal, producer, bytes, messages);
  }

  /** The same for a question to {@link Addresses#API_PRODUCE}. */
  public static Future<Void> turn(Vertx vertx, Principal principal, JsonObject question) {
    LocalQuotas quotas = quotasOf(vertx, principal);
    return quotas == null ? null : turn(quotas, principal, question);
  }

  /** Null: the principal has no quota here. */
  private static LocalQuotas quotasOf(Vertx vertx, Principal principal) {
    LocalQuotas quotas = principal.bound() ? LocalObjects.get(vertx, LocalQuotas.class) : null;
    return quotas == null || quotas.quota(QuotaKind.PRINCIPAL, principal.name()) == null
        ? null
        : quotas;
  }

  private static Future<Void> turn(LocalQuotas quotas, Principal principal, JsonObject question) {
    if (!(question.getValue("messages") instanceof JsonArray many)) {
      return turn(quotas, principal, JSON, length(question), 1);
    }
    long bytes = 0;
    for (Object each : many) {
      bytes += each instanceof JsonObject message ? length(message) : 0;
    }
    return turn(quotas, principal, JSON, bytes, many.size());
  }

  private static long length(JsonObject message) {
    long length = 0;
    for (String field : new String[] {"payload", "payloadBase64", "key", "keyBase64"}) {
      length += message.getValue(field) instanceof String text ? text.length() : 0;
    }
    return length;
  }

  private static Future<Void> turn(
      LocalQuotas quotas, Principal principal, Object sender, long bytes, long messages) {
    ContextInternal context = ContextInternal.current();
    Promise<Void> turn = context == null ? Promise.promise() : context.promise();
    Quota.Key key = new Quota.Key(QuotaKind.PRINCIPAL, principal.name());
    quotas.pass(key, sender, bytes, messages).onComplete(turn);
    return turn.future();
  }
}
