package dev.evenkeel.client.internal.tracing;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.consume.Fault;
import dev.evenkeel.protocol.Outcome;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.tracing.SpanKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Spans of a consumer: one for each attempt of a handler at a message, and one when the log has
 * recorded what becomes of a message that failed. To be used on the consumer's context.
 *
 * <p>The span of an attempt is a child of the span that the headers of the message name. While the
 * handler runs, it is the span of the current Vert.x context, so what the handler asks of others
 * belongs to it.
 */
public final class HandlerSpans {
  /** Failed attempts whose spans are kept until the log has recorded the failure. */
  private static final int FAILED_MAX = 10_000;

  private static final String OFFSET = "messaging.evenkeel.offset";
  private static final String ATTEMPT = "messaging.evenkeel.attempt";

  private final Tracing tracing;
  private final ContextInternal base;
  private final String group;
  private final String member;

  /** Whether the log records failures of this consumer; in mode level the dispatcher does it. */
  private final boolean recordsFailures;

  /** Failed attempts that the log has not recorded: their contexts, which hold their spans. */
  private final Map<Place, ContextInternal> failed =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Place, ContextInternal> eldest) {
              return size() > FAILED_MAX;
            }
          });

  private record Place(String topic, int shard, long offset) {}

  /** An attempt at a message, whose span is that of its context. */
  private record Attempt(Delivery delivery, ContextInternal context, Object span) {}

  private HandlerSpans(Tracing tracing, ContextInternal base, ConsumerOptions options) {
    this.tracing = tracing;
    this.base = base;
    group = options.getGroup();
    member = options.getMember();
    recordsFailures = options.getMode() != Mode.LEVEL;
  }

  /**
   * The spans of a consumer; null: it makes none.
   *
   * @param base the consumer's context
   */
  public static HandlerSpans of(ContextInternal base, ConsumerOptions options) {
    Tracing tracing = Tracing.of(base.owner(), options.getTracing());
    return tracing == null ? null : new HandlerSpans(tracing, base, options);
  }

  /** Calls the handler of a message within the span of this attempt. */
  public Future<Void> handle(Delivery delivery, Supplier<Future<Void>> handler) {
    Attempt attempt = begin(delivery);
    return attempt == null ? handler.get() : within(List.of(attempt), handler);
  }

  /**
   * Calls the handler of a batch. Each message has its own span, in its own trace. What the handler
   * asks of others belongs to the span of the first message that has one.
   */
  public Future<Void> handleBatch(List<Delivery> batch, Supplier<Future<Void>> handler) {
    List<Attempt> attempts = batch.stream().map(this::begin).filter(Objects::nonNull).toList();
    return attempts.isEmpty() ? handler.get() : within(attempts, handler);
  }

  private Attempt begin(Delivery delivery) {
    Map<String, byte[]> headers = delivery.message().headers();
    if (headers.isEmpty() && !tracing.beginsTraces()) {
      return null;
    }
    ContextInternal context = base.duplicate();
    String[] tags =
        tags(
            "process",
            "process",
            delivery.topic(),
            delivery.shard(),
            OFFSET,
            Long.toString(delivery.offset()),
            ATTEMPT,
            Integer.toString(delivery.attempt()));
    Object span = tracing.coming(context, "process " + delivery.topic(), tags, texts(headers));
    return span == null ? null : new Attempt(delivery, context, span);
  }

  private static List<Map.Entry<String, String>> texts(Map<String, byte[]> headers) {
    List<Map.Entry<String, String>> texts = new ArrayList<>(headers.size());
    headers.forEach(
        (name, value) -> texts.add(Map.entry(name, new String(value, StandardCharsets.UTF_8))));
    return texts;
  }

  private Future<Void> within(List<Attempt> attempts, Supplier<Future<Void>> handler) {
    List<Future<Void>> results = new ArrayList<>();
    attempts
        .get(0)
        .context
        .dispatch(
            none -> {
              try {
                results.add(handler.get());
              } catch (Throwable e) {
                results.add(Future.failedFuture(e));
              }
            });
    Future<Void> result = results.get(0);
    if (result == null) {
      end(attempts, new NullPointerException("the handler returned null instead of a future"));
      return null;
    }
    if (result.isComplete()) {
      end(attempts, result.cause());
      return result;
    }
    Promise<Void> ended = Promise.promise();
    result.onComplete(
        done ->
            base.emit(
                none -> {
                  end(attempts, done.cause());
                  ended.handle(done);
                }));
    return ended.future();
  }

  private void end(List<Attempt> attempts, Throwable failure) {
    boolean back = Fault.of(failure) != Fault.MESSAGE;
    for (Attempt each : attempts) {
      if (failure != null && !back && recordsFailures) {
        // A copy: the original loses its span when that ends.
        failed.put(placeOf(each.delivery), each.context.duplicate(true));
      }
      tracing.came(each.context, each.span, Tracing.failed(failure), back ? null : failure);
    }
  }

  private static Place placeOf(Delivery delivery) {
    return new Place(delivery.topic(), delivery.shard(), delivery.offset());
  }

  /**
   * The log is asked to record failures. Each failure has a span until the log has answered.
   *
   * @param recorded the answer
   */
  public void recording(String topic, int shard, List<Outcome> outcomes, Future<?> recorded) {
    for (Outcome each : outcomes) {
      Place place = new Place(topic, shard, each.offset());
      ContextInternal context = failed.get(place);
      if (context != null && each instanceof Outcome.Failed failure) {
        Object span = recording(context, topic, shard, failure);
        recorded.onComplete(
            done -> {
              if (done.succeeded()) {
                failed.remove(place, context);
              }
              tracing.left(context, span, Tracing.failed(done.cause()), done.cause());
            });
      }
    }
  }

  private Object recording(
      ContextInternal context, String topic, int shard, Outcome.Failed failure) {
    String operation = failure.way() == Outcome.Way.DEAD ? "dead-letter" : "retry";
    String[] tags =
        tags(
            operation,
            "settle",
            topic,
            shard,
            OFFSET,
            Long.toString(failure.offset()),
            ATTEMPT,
            Integer.toString(failure.attempt()),
            "messaging.evenkeel.retry_delay_ms",
            Long.toString(failure.delayMillis()));
    return tracing.leaving(
        context, SpanKind.RPC, operation + " " + topic, tags, (name, value) -> {});
  }

  /**
   * A shard is fetched. With policy ALWAYS the fetch has a span, which begins a trace.
   *
   * @return the same future
   */
  public Future<FetchAnswer> fetching(String topic, int shard, Future<FetchAnswer> fetch) {
    if (!tracing.beginsTraces()) {
      return fetch;
    }
    String[] tags = tags("receive", "receive", topic, shard);
    Object span =
        tracing.leaving(base, SpanKind.RPC, "receive " + topic, tags, (name, value) -> {});
    return fetch.onComplete(
        done ->
            tracing.left(
                base,
                span,
                done.succeeded() ? count(done.result()) : Tracing.failed(done.cause()),
                done.cause()));
  }

  /** What every span says, and {@code more}. */
  private String[] tags(String operation, String type, String topic, int shard, String... more) {
    String[] all = {
      "messaging.system", "evenkeel",
      "messaging.operation.name", operation,
      "messaging.operation.type", type,
      "messaging.destination.name", topic,
      "messaging.destination.partition.id", Integer.toString(shard),
      "messaging.consumer.group.name", group,
      "messaging.client.id", member,
    };
    String[] tags = Arrays.copyOf(all, all.length + more.length);
    System.arraycopy(more, 0, tags, all.length, more.length);
    return tags;
  }

  private static String[] count(FetchAnswer answer) {
    int messages = answer.batches().stream().mapToInt(each -> each.batch().count()).sum();
    return new String[] {"messaging.batch.message_count", Integer.toString(messages)};
  }
}
