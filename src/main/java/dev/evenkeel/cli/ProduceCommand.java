package dev.evenkeel.cli;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Daemon;
import io.vertx.core.tracing.TracingPolicy;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel produce}. */
@Command(
    name = "produce",
    description = {
      "Sends each line as a message to a topic, and ends with the line 'acked N of M' on standard"
          + " error.",
      "A message is acknowledged when a majority of the replicas has it on disk, or as --acks says."
          + " The exit status is 0 if all messages are acknowledged."
    },
    footer = {
      "  seq 1 1000 | evenkeel produce orders",
      "  evenkeel produce orders --key-regex '^(\\w+)' orders.txt",
      "  evenkeel produce orders --key-json customer --rate 500 orders.jsonl",
      "  evenkeel produce orders --header source=import --header run=7 orders.txt",
      "  evenkeel produce reminders --deliver-after 2h reminders.txt",
      "  evenkeel produce orders --spool /var/spool/orders orders.jsonl",
      "  tail -f app.log | evenkeel produce logs --cluster 10.0.0.1:5701,10.0.0.2:5701"
    })
final class ProduceCommand implements Callable<Integer> {
  /** How long to wait for answers after Ctrl-C or SIGTERM. */
  private static final long STOP_MILLIS_MAX = 8_000;

  @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
  private String topic;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      defaultValue = "-",
      description = "File to read; - is standard input (default: ${DEFAULT-VALUE}).")
  private String file;

  /** How to find the key; at most one of these. */
  private static final class Key {
    @Option(
        names = "--key-regex",
        paramLabel = "RE",
        description = "The key is the first capture group; a line without a match has none.")
    private String regex;

    @Option(
        names = "--key-json",
        paramLabel = "FIELD",
        description = "The key is this field at the top of the line's JSON object.")
    private String json;
  }

  @ArgGroup private Key key;

  private final ProduceOptions spool = new ProduceOptions();
  private final CommandOptions flags = spool.flags;

  private final Supplier<Double> rate =
      flags.perSecond(
          "--rate",
          null,
          1_000_000_000,
          "Messages a second (default: as fast as the cluster takes them).");

  private final Supplier<Long> deliverAfterMillis =
      flags.time(
          "--deliver-after",
          "0s",
          "Deliver each message to consumers this long after it was sent, 30d at most");

  private final Supplier<List<String>> headers =
      flags.repeated(
          "--header",
          "NAME=VALUE",
          "A header that each message gets. May be given several times, with another name each.");

  private final Supplier<String> tracing =
      flags.text(
          "--tracing",
          "URL",
          "OpenTelemetry collector that gets a span of each message by OTLP over HTTP. Consumers"
              + " that trace go on with it.");

  @Mixin private ClusterOption cluster;

  /** The command with all its options. */
  static CommandLine line() {
    ProduceCommand command = new ProduceCommand();
    return command.flags.addTo(new CommandLine(command));
  }

  @Override
  public Integer call() throws Exception {
    Logging.client();
    OptionFormats.timeRange(
        "--deliver-after", deliverAfterMillis.get(), 0, Limits.DELAY_MILLIS_MAX);
    ProduceRun.Settings settings =
        new ProduceRun.Settings(
            keys(), headers(), rate.get(), Duration.ofMillis(deliverAfterMillis.get()));
    OptionFormats.checked(() -> Names.check("topic", topic));
    ProducerOptions options = spool.options().setTopic(topic);
    SpanExport spans = SpanExport.to("--tracing", tracing.get(), "evenkeel-produce");
    options.setTracing(spans == null ? TracingPolicy.IGNORE : TracingPolicy.ALWAYS);
    try (InputStream in = open()) {
      StopSignal signal = StopSignal.installEarly(STOP_MILLIS_MAX + 2_000);
      signal.onStop(
          () -> {
            System.err.println("acked 0 of 0");
            signal.ended(ExitStatus.DONE);
          });
      return ClientConnection.run(
          clientOptions(options),
          spans,
          signal,
          client ->
              spool.isGiven()
                  ? spool(client, options, settings, in, signal)
                  : run(
                      new DirectRun(
                          client.vertx(),
                          ClientConnection.await(client.producer(options)),
                          settings,
                          spool.acksNone(),
                          System.err),
                      Long.MAX_VALUE,
                      in,
                      signal));
    }
  }

  private ClientOptions clientOptions(ProducerOptions options) {
    ClientOptions connection = cluster.options();
    if (spool.isGiven()) {
      // The spool keeps the messages while no node answers.
      connection.setConnectTimeoutMillis(options.getDeliveryTimeoutMillis());
    }
    return connection;
  }

  private int spool(
      EvenkeelClient client,
      ProducerOptions options,
      ProduceRun.Settings settings,
      InputStream in,
      StopSignal signal)
      throws Exception {
    Source source = file.equals("-") ? null : source();
    SpoolingProducer producer = ClientConnection.await(client.spoolingProducer(options, source));
    SourcePosition from = producer.opened().position();
    if (from != null) {
      if (Files.size(Path.of(file)) < from.bytes()) {
        throw CommandFailure.failed(
            "the spool has read " + from.bytes() + " bytes of " + file + ", which has fewer now");
      }
      in.skipNBytes(from.bytes());
    }
    SpoolRun run = new SpoolRun(producer, settings, System.err);
    run.showFound(file);
    return run(run, options.getDeliveryTimeoutMillis(), in, signal);
  }

  private int run(ProduceRun run, long quietMillisMax, InputStream in, StopSignal signal)
      throws InterruptedException {
    signal.onStop(run::stop);
    int status = ExitStatus.FAILED;
    try (Progress progress = Progress.of(run, System.err)) {
      Daemon.start("evenkeel-produce-read", () -> run.read(in));
      if (run.await(STOP_MILLIS_MAX, quietMillisMax)) {
        status = ExitStatus.DONE;
      }
    } catch (IOException e) {
      System.err.println("evenkeel produce: cannot read " + file + ": " + e.getMessage());
    }
    run.showEnd(file);
    System.err.println("acked " + run.acked() + " of " + run.linesRead());
    signal.ended(status);
    return status;
  }

  /** Identifies the file for the spool; null if it is no regular file. */
  private Source source() throws IOException {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path)) {
      // A pipe cannot be read a second time.
      return null;
    }
    try (InputStream head = new FileInputStream(path.toFile())) {
      return new Source(path.toRealPath().toString(), head.readNBytes(Source.HEAD_BYTES_MAX));
    }
  }

  private Map<String, byte[]> headers() {
    Map<String, byte[]> values = new LinkedHashMap<>();
    for (String header : headers.get() == null ? List.<String>of() : headers.get()) {
      int end = header.indexOf('=');
      CommandFailure.refuseIf(end < 1, "--header '" + header + "': write NAME=VALUE");
      String name = header.substring(0, end);
      byte[] value = header.substring(end + 1).getBytes(StandardCharsets.UTF_8);
      CommandFailure.refuseIf(
          values.put(name, value) != null,
          "--header '" + name + "' is given twice: a message has one value for each name");
    }
    try {
      new Message(null, values, 0, new byte[0]).checkLimits();
    } catch (RefusedException e) {
      throw CommandFailure.usage("--header: " + e.getMessage());
    }
    return values;
  }

  private KeyExtractor keys() {
    if (key == null) {
      return KeyExtractor.NONE;
    }
    return key.regex != null ? KeyExtractor.regex(key.regex) : KeyExtractor.jsonField(key.json);
  }

  private InputStream open() throws IOException {
    if (file.equals("-")) {
      // This avoids the buffer and the lock of System.in.
      return new FileInputStream(FileDescriptor.in);
    }
    Path path = Path.of(file);
    if (Files.isDirectory(path)) {
      throw CommandFailure.failed("cannot read " + file + ": it is a directory");
    }
    try {
      return new FileInputStream(path.toFile());
    } catch (IOException e) {
      throw CommandFailure.failed(
          "cannot read " + file + (Files.exists(path) ? ": " + e.getMessage() : ": no such file"),
          e);
    }
  }
}
