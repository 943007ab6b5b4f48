package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.util.List;

/**
 * Sends a message to the topic orders, and handles the messages of the topic, with a trace of each.
 * The environment says where the traces go: {@code OTEL_TRACES_EXPORTER=otlp
 * OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf}.
 */
public final class TracingExample {
  private TracingExample() {}

  public static void main(String[] args) {
    OpenTelemetry openTelemetry = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    Vertx vertx =
        Vertx.builder().withTracer(new OpenTelemetryTracingFactory(openTelemetry)).build();
    Evenkeel.connect(vertx, new ClientOptions().setSeeds(List.of("127.0.0.1:5701")))
        .compose(
            client ->
                client
                    .producer(
                        new ProducerOptions().setTopic("orders").setTracing(TracingPolicy.ALWAYS))
                    .compose(producer -> producer.send("customer-7", "hello".getBytes(UTF_8)))
                    .compose(
                        sent ->
                            client.consumer(
                                new ConsumerOptions()
                                    .setGroup("billing")
                                    .setTopics(List.of("orders")),
                                delivery -> {
                                  System.out.println(delivery.message().headerText("traceparent"));
                                  return Future.succeededFuture();
                                })))
        .onFailure(failure -> System.err.println(failure));
  }
}
