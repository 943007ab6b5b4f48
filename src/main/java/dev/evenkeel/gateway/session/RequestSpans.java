package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Spans of requests of applications that belong to a trace. A node begins no trace. */
final class RequestSpans {
  /** W3C Trace Context, version 00. */
  private static final Pattern TRACEPARENT =
      Pattern.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  private static final TagExtractor<String> ADDRESS =
      new TagExtractor<>() {
        @Override
        public int len(String address) {
          return 2;
        }

        @Override
        public String name(String address, int index) {
          return index == 0 ? "messaging.system" : "evenkeel.address";
        }

        @Override
        public String value(String address, int index) {
          return index == 0 ? "evenkeel" : address;
        }
      };

  private final VertxTracer<Object, Object> tracer;

  private RequestSpans(VertxTracer<Object, Object> tracer) {
    this.tracer = tracer;
  }

  /** Null if {@code vertx} has no tracer. */
  static RequestSpans of(Vertx vertx) {
    @SuppressWarnings("unchecked")
    VertxTracer<Object, Object> tracer =
        (VertxTracer<Object, Object>) ((VertxInternal) vertx).tracer();
    return tracer == null ? null : new RequestSpans(tracer);
  }

  /**
   * The body of a frame TRACE.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  static String traceparent(Buffer body) {
    String text = body.toString(StandardCharsets.UTF_8);
    if (!TRACEPARENT.matcher(text).matches()) {
      throw Refusal.INVALID.error("a TRACE frame that is no traceparent of version 00");
    }
    return text;
  }

  /** Sends a request, within a span if its options name the one above it. */
  <T> Future<T> of(
      String address, Buffer body, DeliveryOptions options, Supplier<Future<T>> request) {
    String traceparent =
        options.getHeaders() == null ? null : options.getHeaders().get(Frames.TRACEPARENT);
    if (traceparent == null) {
      return request.get();
    }
    // The tracer adds the header of the span that it makes for the event bus.
    options.getHeaders().remove(Frames.TRACEPARENT);
    ContextInternal connection = ContextInternal.current();
    ContextInternal own = connection.duplicate();
    Object span =
        tracer.receiveRequest(
            own,
            SpanKind.RPC,
            TracingPolicy.PROPAGATE,
            address,
            name(address, body),
            List.of(Map.entry(Frames.TRACEPARENT, traceparent)),
            ADDRESS);
    Promise<T> answered = connection.promise();
    own.dispatch(
        none ->
            request
                .get()
                .onComplete(
                    done -> {
                      tracer.sendResponse(own, null, span, done.cause(), ADDRESS);
                      answered.handle(done);
                    }));
    return answered.future();
  }

  private static String name(String address, Buffer body) {
    int operation = body.length() < Frames.HEADER_BYTES ? -1 : body.getByte(1);
    return operation >= 0 && operation < Op.values().length
        ? Op.values()[operation].name().toLowerCase(Locale.ROOT)
        : address;
  }
}
