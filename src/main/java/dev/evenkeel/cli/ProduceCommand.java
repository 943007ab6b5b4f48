package dev.evenkeel.cli;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel produce}. */
@Command(
    name = "produce",
    mixinStandardHelpOptions = true,
    description = {
      "Sends one message a line to a topic, and ends with the line 'acked N of M' on standard"
          + " error.",
      "A message is acknowledged once a majority has it on disk, or as --acks says. Exit status 0:"
          + " all are."
    },
    footer = {
      "",
      "Examples:",
      "  seq 1 1000 | evenkeel produce orders",
      "  evenkeel produce orders --key-regex '^(\\w+)' orders.txt",
      "  evenkeel produce orders --key-json customer --rate 500 orders.jsonl",
      "  evenkeel produce reminders --deliver-after 2h reminders.txt",
      "  evenkeel produce orders --spool /var/spool/orders orders.jsonl",
      "  tail -f app.log | evenkeel produce logs --cluster 10.0.0.1:5701,10.0.0.2:5701"
    })
final class ProduceCommand implements Callable<Integer> {
  /** How long answers are awaited after Ctrl-C or SIGTERM. */
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

  /** One way to find the key, at most. */
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

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Messages a second (default: as fast as they are taken).")
  private Double rate;

  @Option(
      names = "--delivery-timeout",
      paramLabel = "TIME",
      defaultValue = "2m",
      description = "How long each message is tried (default: ${DEFAULT-VALUE}).")
  private String deliveryTimeout;

  @Option(
      names = "--deliver-after",
      paramLabel = "TIME",
      defaultValue = "0s",
      description =
          "Consumers get each message so long after it was sent, 30d at most (default:"
              + " ${DEFAULT-VALUE}).")
  private String deliverAfter;

  @Option(
      names = "--name",
      paramLabel = "PRODUCER",
      description = "Name of this producer; one that is started under the same name replaces it.")
  private String name = "";

  @Mixin private ProduceOptions spool;

  @Mixin private ClusterOption cluster;

  @Override
  public Integer call() throws Exception {
    KeyExtractor keys = keys();
    if (rate != null && !(rate > 0 && rate <= 1e9)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0");
    }
    try {
      Names.check("topic", topic);
      if (!name.isEmpty()) {
        Names.check("producer", name);
      }
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.getMessage());
    }
    ProducerOptions options =
        new ProducerOptions()
            .setTopic(topic)
            .setName(name)
            .setDeliveryTimeoutMillis(deliveryTimeoutMillis());
    spool.apply(options);
    Duration delay = deliverAfter();
    Logging.client();
    try (InputStream in = open()) {
      StopSignal signal = StopSignal.installEarly(STOP_MILLIS_MAX + 2_000);
      signal.onStop(
          () -> {
            System.err.println("acked 0 of 0");
            signal.ended(ExitStatus.DONE);
          });
      EvenkeelClient client = ClientConnection.connect(clientOptions(options));
      int status = ExitStatus.FAILED;
      try {
        status =
            spool.isGiven()
                ? spool(client, options, keys, delay, in, signal)
                : run(
                    client,
                    ClientConnection.await(client.producer(options)),
                    keys,
                    delay,
                    in,
                    signal);
      } finally {
        ClientConnection.close(client);
        signal.ended(status);
      }
      return status;
    }
  }

  private ClientOptions clientOptions(ProducerOptions options) {
    ClientOptions connection = new ClientOptions().setSeeds(cluster.nodes);
    if (spool.isGiven()) {
      // Whatever is in the spool can wait for a node.
      connection.setConnectTimeoutMillis(options.getDeliveryTimeoutMillis());
    }
    return connection;
  }

  private int spool(
      EvenkeelClient client,
      ProducerOptions options,
      KeyExtractor keys,
      Duration delay,
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
    SpoolRun run =
        new SpoolRun(producer, keys, rate == null ? null : new Pace(rate), delay, System.err);
    run.tellFound(file);
    signal.onStop(run::stop);
    Thread reader = new Thread(() -> run.read(in), "evenkeel-produce-read");
    reader.setDaemon(true);
    int status = ExitStatus.FAILED;
    try (Progress progress = Progress.of(run, System.err)) {
      reader.start();
      status =
          run.await(STOP_MILLIS_MAX, options.getDeliveryTimeoutMillis())
              ? ExitStatus.DONE
              : ExitStatus.FAILED;
    } catch (IOException e) {
      System.err.println("evenkeel produce: cannot read " + file + ": " + e.getMessage());
    }
    if (from != null && from.complete() && run.linesRead() == from.lines()) {
      System.err.println(
          "evenkeel produce: nothing is left of " + file + "; --spool-restart sends it once more");
    }
    System.err.println("acked " + run.acked() + " of " + run.linesRead());
    signal.ended(status);
    return status;
  }

  /** The file as the spool remembers it. */
  private Source source() throws IOException {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path)) {
      // A pipe cannot be read again.
      return null;
    }
    try (InputStream head = new FileInputStream(path.toFile())) {
      return new Source(path.toRealPath().toString(), head.readNBytes(Source.HEAD_BYTES_MAX));
    }
  }

  private int run(
      EvenkeelClient client,
      Producer producer,
      KeyExtractor keys,
      Duration delay,
      InputStream in,
      StopSignal signal)
      throws Exception {
    ProduceRun run =
        new ProduceRun(
            client.vertx(),
            producer,
            keys,
            rate == null ? null : new Pace(rate),
            delay,
            spool.acksNone(),
            System.err);
    signal.onStop(run::stop);
    Thread reader = new Thread(() -> run.read(in), "evenkeel-produce-read");
    reader.setDaemon(true);
    int status = ExitStatus.FAILED;
    try (Progress progress = Progress.of(run, System.err)) {
      reader.start();
      status = run.await(STOP_MILLIS_MAX) ? ExitStatus.DONE : ExitStatus.FAILED;
    } catch (IOException e) {
      System.err.println("evenkeel produce: cannot read " + file + ": " + e.getMessage());
    }
    System.err.println("acked " + run.acked() + " of " + run.linesRead());
    signal.ended(status);
    return status;
  }

  private Duration deliverAfter() {
    try {
      long millis = Durations.parseMillis(deliverAfter);
      if (millis <= Limits.DELAY_MILLIS_MAX) {
        return Duration.ofMillis(millis);
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage(
        "--deliver-after '" + deliverAfter + "': write 200ms, 5s, 2m, 1h or 7d, 30d at most");
  }

  private long deliveryTimeoutMillis() {
    try {
      long millis = Durations.parseMillis(deliveryTimeout);
      if (millis > 0 && millis <= Integer.MAX_VALUE) {
        return millis;
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage(
        "--delivery-timeout '" + deliveryTimeout + "': write 200ms, 5s or 2m, 24d at most");
  }

  private KeyExtractor keys() {
    if (key == null) {
      return KeyExtractor.NONE;
    }
    return key.regex != null ? KeyExtractor.regex(key.regex) : KeyExtractor.jsonField(key.json);
  }

  private InputStream open() throws IOException {
    if (file.equals("-")) {
      // Without System.in's buffer and lock.
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
