package dev.evenkeel.gateway;

import dev.evenkeel.api.NewMessage;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Position;
import dev.evenkeel.api.Produce;
import dev.evenkeel.api.Produce.Produced;
import dev.evenkeel.api.SendResult;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Sends messages.
 *
 * @param clock of the timestamps of messages
 * @param dueClock by which delayed messages are due
 */
record ProduceApi(
    ProducerPool producers, Majority majority, LongSupplier clock, LongSupplier dueClock) {
  /** Most messages of one request. */
  static final int MESSAGES_MAX = 1_000;

  void serve(ApiAnswers answers) {
    answers.on(Operations.PRODUCE, this::produce);
  }

  private Future<Produced> produce(Produce asked) {
    String topic = Names.check("topic", asked.topic());
    Acks acks = Acks.of(asked.acks());
    long now = clock.getAsLong();
    List<NewMessage> many = asked.messages();
    if (many == null) {
      if (asked.message() == null) {
        throw Refusal.INVALID.error("the field 'payload' (or 'payloadBase64') is missing");
      }
      Message message = message(asked.message(), now);
      return send(topic, acks, message, due(asked.message(), dueClock.getAsLong()), now)
          .map(position -> new Produced(position, null));
    }
    if (many.size() > MESSAGES_MAX) {
      throw Refusal.INVALID.error(
          "%s messages in one request: at most %s are allowed", many.size(), MESSAGES_MAX);
    }
    return sendAll(topic, acks, many, now).map(results -> new Produced(null, results));
  }

  /** Checks all messages before it sends any. Then each one succeeds or fails by itself. */
  private Future<List<SendResult>> sendAll(
      String topic, Acks acks, List<NewMessage> many, long now) {
    long dueNow = dueClock.getAsLong();
    List<Message> messages = many.stream().map(each -> message(each, now)).toList();
    List<Instant> dues = new ArrayList<>();
    many.forEach(each -> dues.add(due(each, dueNow)));
    List<Future<SendResult>> sent = new ArrayList<>(messages.size());
    for (int i = 0; i < messages.size(); i++) {
      sent.add(
          send(topic, acks, messages.get(i), dues.get(i), now)
              .map(position -> new SendResult(position, null, null))
              .otherwise(ApiErrors::result));
    }
    return Future.join(sent).map(done -> sent.stream().map(Future::result).toList());
  }

  /**
   * A message that is in the log but not on every replica is no failure; the answer names the
   * missing nodes.
   */
  private Future<Position> send(String topic, Acks acks, Message message, Instant due, long now) {
    return producers
        .send(topic, acks, message, due, now)
        .map(position -> position(position, acks, due, List.of()))
        .recover(
            failure ->
                failure instanceof RefusedException.ReplicasMissing missing
                    ? Future.succeededFuture(
                        position(
                            new Producer.Position(
                                missing.shard(), missing.offset(), missing.delayedId()),
                            acks,
                            due,
                            missing.nodes()))
                    : failure instanceof RefusedException refused
                        ? majority.explain(refused, null).compose(Future::failedFuture)
                        : Future.failedFuture(failure));
  }

  /** A delayed message has no offset yet. */
  private static Position position(
      Producer.Position position, Acks acks, Instant due, List<String> missing) {
    boolean delayed = due != null && position.offset() < 0;
    LogPosition log = position.logPosition();
    return new Position(
        position.shard(),
        delayed || acks == Acks.NONE ? null : (Long) position.offset(),
        delayed ? (Long) due.toEpochMilli() : null,
        delayed && position.isDelayed() ? position.delayedId() : null,
        log == null ? null : log.groupName(),
        log == null ? null : (Long) log.index(),
        missing);
  }

  /** When to deliver the message; null: at once. */
  private static Instant due(NewMessage message, long nowMillis) {
    if (message.deliverAfterMs() != null && message.deliverAt() != null) {
      throw Refusal.INVALID.error("give either deliverAfterMs or deliverAt, not both");
    }
    if (message.deliverAfterMs() != null) {
      return Instant.ofEpochMilli(nowMillis + message.deliverAfterMs());
    }
    if (message.deliverAt() == null) {
      return null;
    }
    long latest = nowMillis + Limits.DELAY_MILLIS_MAX;
    if (message.deliverAt() > latest) {
      throw Refusal.INVALID.error(
          "the field 'deliverAt' is %s: it must be a whole number from 0 to %s",
          message.deliverAt(), latest);
    }
    return Instant.ofEpochMilli(StartAt.checkedMillis(message.deliverAt()));
  }

  private static Message message(NewMessage of, long nowMillis) {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    if (of.headers() != null) {
      of.headers()
          .forEach((name, value) -> headers.put(name, value.checkedBytes("headers." + name)));
    }
    Message message =
        new Message(
            of.key() == null ? null : of.key().checkedBytes("key"),
            headers,
            of.timestamp() == null ? nowMillis : of.timestamp(),
            of.payload().checkedBytes("payload"));
    message.checkLimits();
    return message;
  }
}
