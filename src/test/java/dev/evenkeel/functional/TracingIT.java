package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.BlockingHandler;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces that go with messages from their senders to their handlers. */
class TracingIT extends OneNode {
  private static final String GIVEN = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(spans))
                  .build())
          .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
          .build();
  private final Tracer tracer = telemetry.getTracer("test");
  private final List<Delivery> got = new CopyOnWriteArrayList<>();
  private Vertx vertx;
  private EvenkeelClient client;

  @BeforeEach
  void connect() {
    vertx = Vertx.builder().withTracer(new OpenTelemetryTracingFactory(telemetry)).build();
    client = await(Evenkeel.connect(vertx, options()));
  }

  @AfterEach
  void close() {
    await(client.close());
    // The application's own Vert.x is still open.
    await(vertx.executeBlocking(() -> true));
    await(vertx.close());
    telemetry.close();
  }

  private static ClientOptions options() {
    return TestUsers.options().setSeeds(List.of(node.cluster()));
  }

  private static ConsumerOptions of(String topic) {
    return new ConsumerOptions().setGroup(topic).setTopics(List.of(topic));
  }

  /** Sends within a span of the application, which begins the trace. */
  private Position sendWithin(Span parent, Producer producer, Message message) {
    return within(parent, () -> producer.send(message));
  }

  private <T> T within(Span parent, Supplier<Future<T>> call) {
    ContextInternal context = ((ContextInternal) vertx.getOrCreateContext()).duplicate();
    Promise<T> done = Promise.promise();
    context.runOnContext(
        none -> {
          try (Scope scope = parent.makeCurrent()) {
            call.get().onComplete(done);
          } finally {
            parent.end();
          }
        });
    return await(done.future());
  }

  private Producer producer(String topic) {
    return await(client.producer(new ProducerOptions().setTopic(topic)));
  }

  private List<SpanData> named(String name) {
    return spans.getFinishedSpanItems().stream()
        .filter(each -> each.getName().equals(name))
        .toList();
  }

  private SpanData awaitOne(String name) {
    Awaitility.await().until(() -> named(name).size() == 1);
    return named(name).get(0);
  }

  private static String tag(SpanData span, String key) {
    return span.getAttributes().get(AttributeKey.stringKey(key));
  }

  @Test
  void aTraceFollowsAMessageThroughARetryAndAHandover() {
    node.createTopic("orders", 1);
    ConsumerOptions options =
        of("orders")
            .setOrder(ConsumerOptions.Order.KEY)
            // Enough that the first consumer does not use them up before it is closed.
            .setRetryDelaysMillis(Collections.nCopies(ConsumerOptions.RETRY_DELAYS_MAX, 100L));
    Consumer first =
        await(
            client.consumer(
                new ConsumerOptions(options.toJson()).setMember("first"),
                delivery -> {
                  first(delivery);
                  return Future.failedFuture("not today");
                }));
    Span request = tracer.spanBuilder("request").startSpan();
    Position position = sendWithin(request, producer("orders"), Message.of("k", 1, new byte[3]));
    String trace = request.getSpanContext().getTraceId();

    SpanData sent = awaitOne("send orders");
    assertThat(sent.getTraceId()).isEqualTo(trace);
    assertThat(sent.getParentSpanId()).isEqualTo(request.getSpanContext().getSpanId());
    assertThat(sent.getKind()).isEqualTo(SpanKind.PRODUCER);
    assertThat(tag(sent, "messaging.system")).isEqualTo("evenkeel");
    assertThat(tag(sent, "messaging.operation.type")).isEqualTo("send");
    assertThat(tag(sent, "messaging.destination.name")).isEqualTo("orders");
    assertThat(tag(sent, "messaging.destination.partition.id")).isEqualTo("0");
    assertThat(tag(sent, "messaging.evenkeel.offset")).isEqualTo("" + position.offset());

    Awaitility.await().until(() -> !named("retry orders").isEmpty());
    SpanData failed = named("process orders").get(0);
    assertThat(failed.getParentSpanId()).isEqualTo(sent.getSpanId());
    assertThat(failed.getKind()).isEqualTo(SpanKind.CONSUMER);
    assertThat(tag(failed, "messaging.client.id")).isEqualTo("first");
    assertThat(tag(failed, "messaging.evenkeel.attempt")).isEqualTo("1");
    assertThat(tag(failed, "error.type")).isNotNull();
    SpanData retry = named("retry orders").get(0);
    assertThat(retry.getParentSpanId()).isEqualTo(failed.getSpanId());
    assertThat(tag(retry, "messaging.operation.type")).isEqualTo("settle");
    await(first.close());

    Consumer second =
        await(
            client.consumer(
                new ConsumerOptions(options.toJson()).setMember("second"),
                delivery -> {
                  tracer.spanBuilder("query").startSpan().end();
                  return vertx.timer(1).mapEmpty();
                }));
    Wait.until(
        () ->
            named("process orders").stream()
                .anyMatch(each -> tag(each, "messaging.client.id").equals("second")));
    SpanData handled =
        named("process orders").stream()
            .filter(each -> tag(each, "messaging.client.id").equals("second"))
            .findFirst()
            .orElseThrow();
    assertThat(handled.getParentSpanId()).isEqualTo(sent.getSpanId());
    assertThat(handled.getTraceId()).isEqualTo(trace);
    assertThat(Integer.parseInt(tag(handled, "messaging.evenkeel.attempt"))).isGreaterThan(1);
    assertThat(tag(handled, "messaging.consumer.group.name")).isEqualTo("orders");
    assertThat(tag(handled, "error.type")).isNull();
    assertThat(awaitOne("query").getParentSpanId()).isEqualTo(handled.getSpanId());
    assertThat(spans.getFinishedSpanItems()).allMatch(each -> each.getTraceId().equals(trace));
    await(second.close());
  }

  private void first(Delivery delivery) {
    got.add(delivery);
  }

  @Test
  void aDeadLetterBelongsToTheTraceOfItsMessageAndBlockingHandlersSeeTheirSpan() {
    node.createTopic("dead", 1);
    BlockingHandler handler =
        delivery -> {
          tracer.spanBuilder("query").startSpan().end();
          throw new IllegalStateException("never");
        };
    await(client.consumer(of("dead").setRetryDelaysMillis(List.of()), handler));
    Span request = tracer.spanBuilder("request").startSpan();
    sendWithin(request, producer("dead"), Message.of("k", 1, new byte[3]));

    SpanData dead = awaitOne("dead-letter dead");
    SpanData failed = awaitOne("process dead");
    assertThat(dead.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
    assertThat(dead.getParentSpanId()).isEqualTo(failed.getSpanId());
    assertThat(dead.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(tag(failed, "error.type")).isEqualTo("java.lang.IllegalStateException");
    assertThat(awaitOne("query").getParentSpanId()).isEqualTo(failed.getSpanId());
  }

  @Test
  void whatAHandlerPublishesBelongsToItsTraceAndStreamsAndBatchesSeeTheirs() {
    node.createTopic("in", 1);
    node.createTopic("out", 1);
    ContextHandler forward =
        (delivery, context) -> {
          context.publish("out", "k", Buffer.buffer("x"));
          return Future.succeededFuture();
        };
    await(
        client.consumer(
            of("in").setDelivery(ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE), forward));
    BatchHandler batch =
        batched -> {
          tracer.spanBuilder("insert").startSpan().end();
          return Future.succeededFuture();
        };
    await(client.consumer(of("out"), batch));
    ConsumerStream stream =
        await(client.stream(of("out").setGroup("stream"), ConsumerStream.Finishing.AUTOMATIC));
    stream.handler(delivery -> tracer.spanBuilder("read").startSpan().end());
    Span request = tracer.spanBuilder("request").startSpan();
    sendWithin(request, producer("in"), Message.of("k", 1, new byte[3]));

    SpanData input = awaitOne("process in");
    SpanData created = awaitOne("create out");
    assertThat(created.getParentSpanId()).isEqualTo(input.getSpanId());
    Awaitility.await().until(() -> named("process out").size() == 2);
    assertThat(named("process out"))
        .allMatch(each -> each.getParentSpanId().equals(created.getSpanId()))
        .extracting(SpanData::getSpanId)
        .containsExactlyInAnyOrder(
            awaitOne("insert").getParentSpanId(), awaitOne("read").getParentSpanId());
  }

  @Test
  void aMessageKeepsTheTraceThatItsSenderGaveAndItsLimits() {
    node.createTopic("given", 1);
    ConsumerHandler handler = this::note;
    await(client.consumer(of("given"), handler));
    Producer producer = producer("given");
    Span request = tracer.spanBuilder("request").startSpan();
    Message.Builder full = Message.builder("full").key("k");
    times(Limits.HEADERS_MAX, i -> full.header("h" + i, "v"));
    sendWithin(
        request, producer, Message.builder("own").key("k").header("traceparent", GIVEN).build());
    sendWithin(tracer.spanBuilder("other").startSpan(), producer, full.build());
    // Outside of a span of the application.
    await(producer.send("k", new byte[1]));
    Awaitility.await().until(() -> got.size() == 3);
    assertThat(got.get(0).message().headerText("traceparent")).isEqualTo(GIVEN);
    assertThat(got.get(1).message().headers()).hasSize(Limits.HEADERS_MAX);
    assertThat(got.get(2).message().headers()).isEmpty();
    assertThat(awaitOne("process given").getTraceId()).isEqualTo(GIVEN.substring(3, 35));
    assertThat(named("send given")).hasSize(1);
  }

  private Future<Void> note(Delivery delivery) {
    got.add(delivery);
    return Future.succeededFuture();
  }

  @Test
  void theSpoolCarriesTracesAndAlwaysBeginsThem(@TempDir Path spool) {
    node.createTopic("spooled", 1);
    await(client.consumer(of("spooled").setTracing(TracingPolicy.ALWAYS), this::note));
    Producer producer =
        await(
            client.producer(
                new ProducerOptions()
                    .setTopic("spooled")
                    .setSpool(spool.resolve("s").toString())
                    .setTracing(TracingPolicy.ALWAYS)));
    await(producer.send("k", new byte[1]));
    SpanData sent = awaitOne("send spooled");
    assertThat(sent.getParentSpanContext().isValid()).isFalse();
    assertThat(awaitOne("process spooled").getParentSpanId()).isEqualTo(sent.getSpanId());
    Wait.until(
        () ->
            named("receive spooled").stream()
                .anyMatch(each -> "1".equals(tag(each, "messaging.batch.message_count"))));
  }

  @Test
  void withoutATracerOrWithPolicyIgnoreNoHeaderIsAdded() {
    node.createTopic("off", 1);
    EvenkeelClient plain = await(Evenkeel.connect(options()));
    try {
      await(plain.consumer(of("off"), this::note));
      ProducerOptions toOff = new ProducerOptions().setTopic("off");
      Producer untraced =
          await(
              plain.producer(new ProducerOptions(toOff.toJson()).setTracing(TracingPolicy.ALWAYS)));
      Producer ignoring = await(client.producer(toOff.setTracing(TracingPolicy.IGNORE)));
      sendWithin(tracer.spanBuilder("a").startSpan(), untraced, Message.of("k", 1, new byte[1]));
      sendWithin(tracer.spanBuilder("b").startSpan(), ignoring, Message.of("k", 1, new byte[1]));
      Awaitility.await().until(() -> got.size() == 2);
      assertThat(got).allMatch(each -> each.message().headers().isEmpty());
      assertThat(spans.getFinishedSpanItems())
          .extracting(SpanData::getName)
          .containsExactlyInAnyOrder("a", "b");
    } finally {
      await(plain.close());
    }
  }
}
