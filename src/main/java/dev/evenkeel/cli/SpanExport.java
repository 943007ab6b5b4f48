package dev.evenkeel.cli;

import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Sends the spans of this program to an OpenTelemetry collector, by OTLP over HTTP. The environment
 * variables of OpenTelemetry, such as OTEL_TRACES_SAMPLER, say the rest.
 */
final class SpanExport implements AutoCloseable {
  private static final long CLOSE_MILLIS_MAX = 2_000;

  private final OpenTelemetrySdk telemetry;

  private SpanExport(OpenTelemetrySdk telemetry) {
    this.telemetry = telemetry;
  }

  /**
   * Begins to send spans.
   *
   * @param option names the setting in errors
   * @param url of the collector; null or empty: there are no spans
   * @param service name of this program in traces, unless OTEL_SERVICE_NAME gives another
   * @return null: there are no spans
   * @throws CommandFailure wrong usage
   */
  static SpanExport to(String option, String url, String service) {
    if (url == null || url.isEmpty()) {
      return null;
    }
    check(option, url);
    Map<String, String> defaults = new HashMap<>();
    defaults.put("otel.traces.exporter", "otlp");
    defaults.put("otel.metrics.exporter", "none");
    defaults.put("otel.logs.exporter", "none");
    defaults.put("otel.propagators", "tracecontext");
    defaults.put("otel.service.name", service);
    Map<String, String> fixed =
        Map.of("otel.exporter.otlp.endpoint", url, "otel.exporter.otlp.protocol", "http/protobuf");
    return new SpanExport(
        AutoConfiguredOpenTelemetrySdk.builder()
            .addPropertiesSupplier(() -> defaults)
            .addPropertiesCustomizer(config -> fixed)
            .disableShutdownHook()
            .build()
            .getOpenTelemetrySdk());
  }

  private static void check(String option, String url) {
    try {
      URI uri = new URI(url);
      if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getHost() != null) {
        return;
      }
    } catch (URISyntaxException e) {
      // Refused below.
    }
    throw CommandFailure.usage(
        "%s is '%s': it must be the URL of an OpenTelemetry collector, such as http://127.0.0.1:4318"
            .formatted(option, url));
  }

  /** Makes the tracer of a Vert.x. */
  VertxTracerFactory tracer() {
    return new OpenTelemetryTracingFactory(telemetry);
  }

  /** Sends what is left, for a limited time. */
  @Override
  public void close() {
    telemetry.shutdown().join(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS);
  }
}
