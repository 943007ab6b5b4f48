package dev.evenkeel.client.internal.tracing;

import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.tracing.TracingPolicy;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Spans of messages that are sent: from the call of {@code send} until the message is acknowledged.
 * The headers of the message carry the span to whoever handles the message.
 *
 * <p>A message that has a header {@code traceparent} already keeps it, and gets no span here. A
 * message whose headers would become too large is sent without those of the span.
 *
 * <p>Safe for use from any thread.
 */
public final class SendSpans {
  private final Tracing tracing;

  /**
   * The promise of each message with a sampled span that is not acknowledged → its {@code
   * traceparent}.
   */
  private final Map<Object, String> underWay = new ConcurrentHashMap<>();

  private SendSpans(Tracing tracing) {
    this.tracing = tracing;
  }

  /** The spans of a producer; null: the producer makes none. */
  public static SendSpans of(Vertx vertx, ProducerOptions options) {
    return of(vertx, options.getTracing());
  }

  /** Null: there are none. */
  public static SendSpans of(Vertx vertx, TracingPolicy policy) {
    Tracing tracing = Tracing.of(vertx, policy);
    return tracing == null ? null : new SendSpans(tracing);
  }

  /** A message with its span, which the outcome of the message ends. */
  public final class Sending implements Handler<AsyncResult<Position>> {
    private final Object token;
    private final Message message;
    private final ContextInternal context;
    private final Object span;

    private Sending(Object token, Message message, ContextInternal context, Object span) {
      this.token = token;
      this.message = message;
      this.context = context;
      this.span = span;
    }

    /** The message with the headers of its span. */
    public Message message() {
      return message;
    }

    @Override
    public void handle(AsyncResult<Position> sent) {
      underWay.remove(token);
      tracing.left(
          context,
          span,
          sent.succeeded() ? tags(sent.result()) : Tracing.failed(sent.cause()),
          sent.cause());
    }

    private static String[] tags(Position at) {
      if (at == null) {
        return Tracing.NO_TAGS;
      }
      String shard = Integer.toString(at.shard());
      return at.offset() < 0
          ? new String[] {"messaging.destination.partition.id", shard}
          : new String[] {
            "messaging.destination.partition.id",
            shard,
            "messaging.evenkeel.offset",
            Long.toString(at.offset())
          };
    }
  }

  /**
   * Begins the span of a message. Its parent is the span of the current context.
   *
   * @param token stands for the message in {@link #traceparent}
   * @return null: there is no span
   */
  public Sending begin(String topic, Message message, Object token) {
    return begin(topic, message, token, "send");
  }

  /**
   * The message with the headers of a span of its own, which is over at once: the message is sent
   * later, together with others.
   */
  public Message created(String topic, Message message) {
    Sending created = begin(topic, message, message, "create");
    if (created == null) {
      return message;
    }
    underWay.remove(message);
    tracing.left(created.context, created.span, Tracing.NO_TAGS, null);
    return created.message;
  }

  private Sending begin(String topic, Message message, Object token, String operation) {
    Map<String, byte[]> own = message.headers();
    if (own.containsKey(Frames.TRACEPARENT)) {
      return null;
    }
    ContextInternal context = tracing.caller();
    Map<String, byte[]> headers = new LinkedHashMap<>(own);
    String[] tags = {
      "messaging.system", "evenkeel",
      "messaging.operation.name", operation,
      "messaging.operation.type", operation,
      "messaging.destination.name", topic,
    };
    Object span =
        tracing.leaving(
            context,
            SpanKind.MESSAGING,
            operation + " " + topic,
            tags,
            (name, value) -> headers.putIfAbsent(name, value.getBytes(StandardCharsets.UTF_8)));
    if (span == null) {
      return null;
    }
    byte[] parent = headers.get(Frames.TRACEPARENT);
    if (parent != null) {
      String text = new String(parent, StandardCharsets.UTF_8);
      if (isSampled(text)) {
        underWay.put(token, text);
      }
    }
    return new Sending(token, with(message, headers), context, span);
  }

  /** The lowest bit of the flags, which are the last two digits, says it. */
  private static boolean isSampled(String traceparent) {
    return (Character.digit(traceparent.charAt(traceparent.length() - 1), 16) & 1) == 1;
  }

  private static Message with(Message message, Map<String, byte[]> headers) {
    Message traced =
        new Message(
            message.key(),
            Collections.unmodifiableMap(headers),
            message.timestampMillis(),
            message.payload());
    try {
      traced.checkLimits();
      return traced;
    } catch (RefusedException tooLarge) {
      return message;
    }
  }

  /**
   * The span that a request with these messages belongs to: that of the first of them that has a
   * sampled one, as {@code traceparent}. Null: none has one.
   */
  public String traceparent(Stream<?> tokens) {
    return underWay.isEmpty()
        ? null
        : tokens.map(underWay::get).filter(Objects::nonNull).findFirst().orElse(null);
  }
}
