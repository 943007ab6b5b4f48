package dev.evenkeel.client.internal.tracing;

import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The tracer of a Vert.x with the policy of a producer or consumer. Attributes are an array of
 * names and values in turn.
 */
final class Tracing {
  static final String[] NO_TAGS = {};

  private static final TagExtractor<String[]> TAGS =
      new TagExtractor<>() {
        @Override
        public int len(String[] tags) {
          return tags.length / 2;
        }

        @Override
        public String name(String[] tags, int index) {
          return tags[2 * index];
        }

        @Override
        public String value(String[] tags, int index) {
          return tags[2 * index + 1];
        }
      };

  private final VertxInternal vertx;
  private final VertxTracer<Object, Object> tracer;
  private final TracingPolicy policy;

  /** For callers without a context. It holds no span. */
  private final ContextInternal none;

  private Tracing(VertxInternal vertx, VertxTracer<Object, Object> tracer, TracingPolicy policy) {
    this.vertx = vertx;
    this.tracer = tracer;
    this.policy = policy;
    none = vertx.createEventLoopContext();
  }

  /** Null if {@code vertx} has no tracer, or the policy is IGNORE. */
  static Tracing of(Vertx vertx, TracingPolicy policy) {
    VertxInternal internal = (VertxInternal) vertx;
    @SuppressWarnings("unchecked")
    VertxTracer<Object, Object> tracer = (VertxTracer<Object, Object>) internal.tracer();
    return tracer == null || policy == TracingPolicy.IGNORE
        ? null
        : new Tracing(internal, tracer, policy);
  }

  /** Whether a span may begin a trace. */
  boolean beginsTraces() {
    return policy == TracingPolicy.ALWAYS;
  }

  /**
   * The current context, which may hold the span of the caller. On a thread without a context, and
   * on one of another Vert.x, a context without a span.
   */
  ContextInternal caller() {
    ContextInternal current = ContextInternal.current();
    return current != null && current.owner() == vertx ? current : none;
  }

  /**
   * Begins the span of a message or request that leaves. Its parent is the span of {@code context}.
   *
   * @param headers gets the headers that carry the span to the receiver
   * @return null: there is no span, because the context has none and the policy is PROPAGATE
   */
  Object leaving(
      ContextInternal context,
      SpanKind kind,
      String name,
      String[] tags,
      BiConsumer<String, String> headers) {
    return tracer.sendRequest(context, kind, policy, tags, name, headers, TAGS);
  }

  /** Ends a span of {@link #leaving}. */
  void left(ContextInternal context, Object span, String[] tags, Throwable failure) {
    tracer.receiveResponse(context, tags, span, failure, TAGS);
  }

  /**
   * Begins the span of a message that has come, and makes it the span of {@code context}. Its
   * parent is the span that the headers name.
   *
   * @return null: there is no span, because the headers name none and the policy is PROPAGATE
   */
  Object coming(
      ContextInternal context,
      String name,
      String[] tags,
      Iterable<Map.Entry<String, String>> headers) {
    return tracer.receiveRequest(context, SpanKind.MESSAGING, policy, tags, name, headers, TAGS);
  }

  /** Ends a span of {@link #coming}. */
  void came(ContextInternal context, Object span, String[] tags, Throwable failure) {
    tracer.sendResponse(context, tags, span, failure, TAGS);
  }

  /** The attribute that says that an operation has failed. */
  static String[] failed(Throwable failure) {
    return failure == null ? NO_TAGS : new String[] {"error.type", failure.getClass().getName()};
  }
}
