package dev.evenkeel.gateway.access;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/**
 * Makes what a user sends wait for the user's quota. Batches count as they are; messages in JSON
 * count with the characters of their payloads and keys. What was surely not taken costs nothing:
 * the quota of its topic may have refused it, and then it is sent again.
 */
public final class PrincipalQuota {
  private static final String DATA = ".data";

  /** Sends all messages of a user that come as JSON. */
  private static final String JSON = "json";

  private PrincipalQuota() {}

  /** The turn of one request. */
  public static final class Turn {
    private final LocalQuotas quotas;
    private final Quota.Key key;
    private final Object sender;
    private final long bytes;
    private final long messages;

    /** Null: it is one message, or batches. */
    private final JsonArray many;

    private final Future<Void> come;

    private Turn(
        LocalQuotas quotas,
        Principal principal,
        Object sender,
        long bytes,
        long messages,
        JsonArray many) {
      this.quotas = quotas;
      this.sender = sender;
      this.bytes = bytes;
      this.messages = messages;
      this.many = many;
      key = new Quota.Key(QuotaKind.PRINCIPAL, principal.name());
      ContextInternal context = ContextInternal.current();
      Promise<Void> promise = context == null ? Promise.promise() : context.promise();
      quotas.pass(key, sender, bytes, messages).onComplete(promise);
      come = promise.future();
    }

    /** Completes on the context that asked; fails with OVERLOADED if it takes too long. */
    public Future<Void> come() {
      return come;
    }

    /** The request did not have its turn, or was refused: if it had no effect, it costs nothing. */
    public void failed(Throwable failure) {
      RefusedException refused =
          failure instanceof ReplyException reply
              ? VertxLink.refusal(ApiAddresses.PRODUCE, reply)
              : RefusedException.of(failure);
      if (come.succeeded() && hadNoEffect(refused.refusal())) {
        quotas.giveBack(key, sender, bytes, messages);
      }
    }

    /**
     * The request was answered.
     *
     * @param answer a frame or JSON
     */
    public void answered(Object answer) {
      if (many == null) {
        answeredFrame(answer);
        return;
      }
      JsonObject json = answer instanceof Buffer text ? new JsonObject(text) : (JsonObject) answer;
      JsonArray results = json.getJsonArray("results");
      long bytesBack = 0;
      long messagesBack = 0;
      for (int i = 0; i < many.size(); i++) {
        String error = results.getJsonObject(i).getString("error");
        RefusedException refused = RefusedException.parse(error + ": ");
        if (refused != null && hadNoEffect(refused.refusal())) {
          bytesBack += length(many.getJsonObject(i));
          messagesBack++;
        }
      }
      if (messagesBack > 0) {
        quotas.giveBack(key, sender, bytesBack, messagesBack);
      }
    }

    private void answeredFrame(Object answer) {
      if (!JSON.equals(sender) && answer instanceof Buffer frame) {
        try {
          Frames.answerBody(frame);
        } catch (RefusedException refused) {
          failed(refused);
        }
      }
    }

    private static boolean hadNoEffect(Refusal refusal) {
      return switch (refusal) {
        case INDETERMINATE, REPLICAS_MISSING, INTERNAL -> false;
        default -> true;
      };
    }
  }

  /**
   * Waits until a request over a session may be passed on.
   *
   * @return null: at once
   */
  public static Turn turn(Vertx vertx, Principal principal, String address, Buffer request) {
    LocalQuotas quotas = quotasOf(vertx, principal);
    if (quotas == null) {
      return null;
    }
    if (address.equals(ApiAddresses.PRODUCE)) {
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
    return new Turn(quotas, principal, producer, bytes, messages, null);
  }

  /** The same for a question to {@link ApiAddresses#PRODUCE}. */
  public static Turn turn(Vertx vertx, Principal principal, JsonObject question) {
    LocalQuotas quotas = quotasOf(vertx, principal);
    return quotas == null ? null : turn(quotas, principal, question);
  }

  /** Null: the principal has no quota here. */
  private static LocalQuotas quotasOf(Vertx vertx, Principal principal) {
    LocalBroker broker = principal.bound() ? LocalBroker.of(vertx) : null;
    return broker == null || broker.quotas().quota(QuotaKind.PRINCIPAL, principal.name()) == null
        ? null
        : broker.quotas();
  }

  private static Turn turn(LocalQuotas quotas, Principal principal, JsonObject question) {
    if (!(question.getValue("messages") instanceof JsonArray many)) {
      return new Turn(quotas, principal, JSON, length(question), 1, null);
    }
    long bytes = 0;
    for (Object each : many) {
      bytes += each instanceof JsonObject message ? length(message) : 0;
    }
    return new Turn(quotas, principal, JSON, bytes, many.size(), many);
  }

  private static long length(JsonObject message) {
    long length = 0;
    for (String field : new String[] {"payload", "payloadBase64", "key", "keyBase64"}) {
      length += message.getValue(field) instanceof String text ? text.length() : 0;
    }
    return length;
  }
}
