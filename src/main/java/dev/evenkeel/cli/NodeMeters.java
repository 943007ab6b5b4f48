package dev.evenkeel.cli;

import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.protocol.BuildVersion;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmInfoMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.PlatformDependent;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The metrics registry of a node, and the metrics of its process. */
final class NodeMeters implements AutoCloseable {
  private static final long SAMPLE_MILLIS = 500;
  static final Path STATUS = Path.of("/proc/self/status");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final NodeConfig config;
  private final NodeEngines engines;
  private final List<ScheduledFuture<?>> lagSamples = new ArrayList<>();

  /** Creates the registry. This takes a moment: do it in parallel with the start of other parts. */
  NodeMeters(NodeConfig config, NodeEngines engines) {
    this.config = config;
    this.engines = engines;
    List<MeterBinder> binders =
        List.of(
            new JvmMemoryMetrics(),
            collections,
            new JvmThreadMetrics(),
            new ClassLoaderMetrics(),
            new JvmInfoMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics());
    binders.forEach(binder -> binder.bindTo(registry));
  }

  /** Makes the registry known to parts on this Vert.x, and adds the metrics of the process. */
  void offer(Vertx vertx) {
    Meters meters = new Meters(vertx, registry, config.get(NodeOptions.METRICS_LABELS_MAX));
    LocalObjects.put(vertx, Meters.class, meters);
    MeterScope scope = meters.scope("process");
    scope.gauge(
        "evenkeel.build.info",
        "1; what runs here",
        () -> 1,
        "version",
        BuildVersion.number(),
        "node",
        config.node());
    if (Files.isReadable(STATUS)) {
      scope.gauge(
          "process.resident.memory.bytes",
          "Memory of the process that is in RAM",
          NodeMeters::residentBytes);
    }
    scope.gauge(
        "evenkeel.process.written.bytes",
        "Bytes that the process has written to disk since it started; Linux only",
        () -> ProcessIo.writtenBytes("self"));
    scope.gauge(
        "evenkeel.netty.direct.bytes",
        "Memory outside of the heap that network buffers take",
        PlatformDependent::usedDirectMemory);
    scope.gauge(
        "evenkeel.rocksdb.block.cache.bytes",
        "Blocks that the stores keep in memory",
        engines::blockCacheBytes);
    scope.gauge(
        "evenkeel.rocksdb.memtable.bytes",
        "Writes that the stores have not flushed yet",
        engines::memtableBytes);
    Timer lag =
        scope.timer(
            "evenkeel.event.loop.lag", "How late event loops run a task that is due, sampled");
    for (EventExecutor loop : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      lagSamples.add(
          loop.scheduleWithFixedDelay(
              new LagSample(lag), SAMPLE_MILLIS, SAMPLE_MILLIS, TimeUnit.MILLISECONDS));
    }
  }

  /** Records how late an event loop runs a task that is due. It runs on that loop. */
  private static final class LagSample implements Runnable {
    private final Timer lag;
    private long dueNanos = System.nanoTime() + SAMPLE_MILLIS * 1_000_000;

    LagSample(Timer lag) {
      this.lag = lag;
    }

    @Override
    public void run() {
      long now = System.nanoTime();
      lag.record(Math.max(0, now - dueNanos), TimeUnit.NANOSECONDS);
      dueNanos = now + SAMPLE_MILLIS * 1_000_000;
    }
  }

  /** Memory of the process in RAM; NaN if it cannot be read. */
  static double residentBytes() {
    try {
      return residentBytes(Files.readString(STATUS));
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** Parses the line {@code VmRSS: 12345 kB}. */
  static double residentBytes(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToDouble(line -> 1024.0 * Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(Double.NaN);
  }

  /** Adds the metrics of the gateway. */
  void watch(Vertx vertx, GatewayVerticle gateway) {
    MeterScope scope = Meters.of(vertx).scope("gateway");
    scope.gauge(
        "evenkeel.gateway.requests", "Requests that are being answered", gateway::requestsUnderWay);
    scope.gauge(
        "evenkeel.gateway.producers", "Topics with an open producer", gateway::producersOpen);
  }

  @Override
  public void close() {
    lagSamples.forEach(each -> each.cancel(false));
    collections.close();
    registry.close();
  }
}
