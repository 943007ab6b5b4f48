package dev.evenkeel.bench;

import dev.evenkeel.cli.FreePorts;
import dev.evenkeel.cli.ProcessIo;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;

/**
 * Apache Kafka in KRaft mode, each broker (which is a controller, too) in a JVM of its own, with
 * the options for the JVM that Kafka's own start script gives, and settings as they come. Their
 * data lies in a directory that is removed at the end.
 */
final class KafkaBrokers implements AutoCloseable {
  private static final String HOST = "127.0.0.1";

  /** As {@code bin/kafka-server-start.sh} and {@code kafka-run-class.sh} have them. */
  private static final List<String> JVM =
      List.of(
          "-Xmx1G",
          "-Xms1G",
          "-server",
          "-XX:+UseG1GC",
          "-XX:MaxGCPauseMillis=20",
          "-XX:InitiatingHeapOccupancyPercent=35",
          "-XX:+ExplicitGCInvokesConcurrent",
          "-Djava.awt.headless=true");

  private final Path directory;
  private final List<Process> processes = new ArrayList<>();
  private final List<Integer> ports;
  private boolean ended;

  private KafkaBrokers(Path directory, int count) {
    this.directory = directory;
    ports = FreePorts.find(count);
  }

  static KafkaBrokers start(BenchOptions options, Map<String, String> settings) {
    try {
      Files.createDirectories(options.data());
      KafkaBrokers brokers =
          new KafkaBrokers(
              Files.createTempDirectory(options.data(), "kafka-bench-"), options.nodes());
      Runtime.getRuntime().addShutdownHook(new Thread(brokers::close, "bench-end"));
      String cluster = Uuid.randomUuid().toString();
      for (int i = 0; i < brokers.ports.size(); i++) {
        brokers.start(i, cluster, settings);
      }
      return brokers;
    } catch (IOException e) {
      throw new IllegalStateException("cannot start Kafka", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void start(int index, String cluster, Map<String, String> settings)
      throws IOException, InterruptedException {
    Path home = Files.createDirectories(directory.resolve("broker-" + (index + 1)));
    Path file = home.resolve("server.properties");
    try (OutputStream out = Files.newOutputStream(file)) {
      properties(index, home, settings).store(out, null);
    }
    Path log = home.resolve("kafka.log");
    Process format =
        java(
                log,
                "kafka.tools.StorageTool",
                "format",
                "--cluster-id",
                cluster,
                "--config",
                file.toString())
            .start();
    if (format.waitFor() != 0) {
      throw new IOException("formatting failed: " + Files.readString(log));
    }
    processes.add(java(log, "kafka.Kafka", file.toString()).start());
  }

  private Properties properties(int index, Path home, Map<String, String> settings) {
    int port = ports.get(index);
    String replicas = String.valueOf(ports.size());
    List<String> voters = new ArrayList<>();
    for (int i = 0; i < ports.size(); i++) {
      voters.add(i + 1 + "@" + HOST + ":" + (ports.get(i) + 1));
    }
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "process.roles",
            "broker,controller",
            "node.id",
            String.valueOf(index + 1),
            "controller.quorum.voters",
            String.join(",", voters),
            "listeners",
            "PLAINTEXT://" + HOST + ":" + port + ",CONTROLLER://" + HOST + ":" + (port + 1),
            "advertised.listeners",
            "PLAINTEXT://" + HOST + ":" + port,
            "controller.listener.names",
            "CONTROLLER",
            "log.dirs",
            home.resolve("data").toString(),
            "offsets.topic.replication.factor",
            replicas,
            "transaction.state.log.replication.factor",
            replicas,
            // Joining is no part of what is measured, so it need not be waited for.
            "group.initial.rebalance.delay.ms",
            "0"));
    properties.putAll(settings);
    return properties;
  }

  private static ProcessBuilder java(Path log, String main, String... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("-Devenkeel.log.level=WARN", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(main);
    command.addAll(List.of(args));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
  }

  String bootstrap() {
    return String.join(",", ports.stream().map(port -> HOST + ":" + port).toList());
  }

  /** The bytes that each broker has written to disk; NaN if the system does not say. */
  Map<String, Double> writtenBytes() {
    Map<String, Double> written = new HashMap<>();
    for (int i = 0; i < processes.size(); i++) {
      written.put(
          "broker-" + (i + 1), ProcessIo.writtenBytes(String.valueOf(processes.get(i).pid())));
    }
    return written;
  }

  /** Why they do not answer, as far as they said. */
  String logs() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < processes.size(); i++) {
      Path log = directory.resolve("broker-" + (i + 1)).resolve("kafka.log");
      try (InputStream in = Files.newInputStream(log)) {
        text.append(new String(in.readNBytes(4_000), StandardCharsets.ISO_8859_1));
      } catch (IOException e) {
        text.append(e);
      }
    }
    return text.toString();
  }

  @Override
  public synchronized void close() {
    if (ended) {
      return;
    }
    ended = true;
    for (Process process : processes) {
      process.destroyForcibly();
      try {
        process.waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      System.err.println("could not remove " + directory + ": " + e);
    }
  }
}
