package dev.evenkeel.gateway;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Answers {@code evenkeel.api.produce}: sends messages. */
final class ProduceApi {
  /** Most messages of one request. */
  static final int MESSAGES_MAX = 1_000;

  private static final List<String> MESSAGE_FIELDS =
      List.of(
          "key",
          "keyBase64",
          "payload",
          "payloadBase64",
          "headers",
          "timestamp",
          "deliverAfterMs",
          "deliverAt");
  private static final List<String> FIELDS;

  static {
    List<String> all = new ArrayList<>(List.of("topic", "acks", "messages"));
    all.addAll(MESSAGE_FIELDS);
    FIELDS = List.copyOf(all);
  }

  private final ProducerPool producers;
  private final LongSupplier clock;
  private final LongSupplier dueClock;
  private final Majority majority;

  /**
   * @param clock of the timestamps of messages
   * @param dueClock by which delayed messages are due
   */
  ProduceApi(ProducerPool producers, Majority majority, LongSupplier clock, LongSupplier dueClock) {
    this.dueClock = dueClock;
    this.majority = majority;
    this.producers = producers;
    this.clock = clock;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String topic = Names.check("topic", JsonFields.neededText(request, "topic"));
    Acks acks = acks(request);
    long now = clock.getAsLong();
    JsonArray many = JsonFields.arrayField(request, "messages");
    if (many == null) {
      return send(topic, acks, message(request, now), due(request, dueClock.getAsLong()), now)
          .map(json -> json);
    }
    if (many.size() > MESSAGES_MAX) {
      throw JsonFields.invalid(
          many.size() + " messages in one request: at most " + MESSAGES_MAX + " are allowed");
    }
    return sendAll(topic, acks, many, now);
  }

  /** Checks all messages before it sends any. Then each one succeeds or fails by itself. */
  private Future<Object> sendAll(String topic, Acks acks, JsonArray many, long now) {
    long dueNow = dueClock.getAsLong();
    List<Message> messages = new ArrayList<>(many.size());
    List<Instant> dues = new ArrayList<>(many.size());
    for (int i = 0; i < many.size(); i++) {
      if (!(many.getValue(i) instanceof JsonObject each)) {
        throw JsonFields.invalid("messages[" + i + "] is not an object");
      }
      JsonFields.onlyFields(each, MESSAGE_FIELDS);
      messages.add(message(each, now));
      dues.add(due(each, dueNow));
    }
    List<Future<JsonObject>> sent = new ArrayList<>(messages.size());
    for (int i = 0; i < messages.size(); i++) {
      sent.add(
          send(topic, acks, messages.get(i), dues.get(i), now)
              .otherwise(failure -> ApiErrors.json(failure)));
    }
    return Future.join(sent)
        .map(
            done -> {
              JsonArray results = new JsonArray();
              sent.forEach(each -> results.add(each.result()));
              return new JsonObject().put("results", results);
            });
  }

  private static Acks acks(JsonObject request) {
    String text = JsonFields.text(request, "acks");
    return text == null ? Acks.MAJORITY : Acks.of(text);
  }

  /**
   * A message that is in the log but not on every replica is no failure; the answer names the
   * missing nodes.
   */
  private Future<JsonObject> send(String topic, Acks acks, Message message, Instant due, long now) {
    return producers
        .send(topic, acks, message, due, now)
        .map(position -> json(position, acks, due))
        .recover(
            failure ->
                failure instanceof RefusedException.ReplicasMissing missing
                    ? Future.succeededFuture(
                        json(
                                new Producer.Position(
                                    missing.shard(), missing.offset(), missing.delayedId()),
                                acks,
                                due)
                            .put("missing", new JsonArray(missing.nodes())))
                    : failure instanceof RefusedException refused
                        ? majority.explain(refused, null).compose(Future::failedFuture)
                        : Future.failedFuture(failure));
  }

  /** A delayed message has no offset yet. */
  private static JsonObject json(Producer.Position position, Acks acks, Instant due) {
    JsonObject json = new JsonObject().put("shard", position.shard());
    if (due != null && position.offset() < 0) {
      json.putNull("offset").put("deliverAt", due.toEpochMilli());
      if (position.isDelayed()) {
        json.put("delayedId", position.delayedId());
      }
    } else {
      json.put("offset", acks == Acks.NONE ? null : position.offset());
    }
    MessagesApi.put(json, position.logPosition());
    return json;
  }

  /** When to deliver the message; null: at once. */
  static Instant due(JsonObject json, long nowMillis) {
    boolean after = json.getValue("deliverAfterMs") != null;
    boolean at = json.getValue("deliverAt") != null;
    if (after && at) {
      throw JsonFields.invalid("give either deliverAfterMs or deliverAt, not both");
    }
    if (after) {
      long millis = JsonFields.number(json, "deliverAfterMs", 0, 0, Limits.DELAY_MILLIS_MAX);
      return Instant.ofEpochMilli(nowMillis + millis);
    }
    return at
        ? Instant.ofEpochMilli(
            StartAt.checkedMillis(
                JsonFields.number(json, "deliverAt", 0, 0, nowMillis + Limits.DELAY_MILLIS_MAX)))
        : null;
  }

  static Message message(JsonObject json, long nowMillis) {
    byte[] payload = TextOrBase64.get(json, "payload");
    if (payload == null) {
      throw JsonFields.invalid("the field 'payload' (or 'payloadBase64') is missing");
    }
    Map<String, byte[]> headers = new LinkedHashMap<>();
    JsonObject given = JsonFields.objectField(json, "headers");
    if (given != null) {
      for (String name : given.fieldNames()) {
        headers.put(name, TextOrBase64.bytes("headers." + name, given.getValue(name)));
      }
    }
    Message message =
        new Message(
            TextOrBase64.get(json, "key"),
            headers,
            JsonFields.number(json, "timestamp", nowMillis, 0, Long.MAX_VALUE / 2),
            payload);
    message.checkLimits();
    return message;
  }
}
