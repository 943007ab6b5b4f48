package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel consume}. */
@Command(
    name = "consume",
    mixinStandardHelpOptions = true,
    description = {
      "Joins a group, and prints the messages of a topic or runs a command for each.",
      "A message is finished when its line is written, or when its command ended with status 0; a"
          + " failed one is tried again, and in the end becomes a dead letter. Ctrl-C and SIGTERM"
          + " release the shards and commit."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel consume orders --group billing",
      "  evenkeel consume orders --group billing --format json --max 10",
      "  evenkeel consume orders --group mail --exec './send-mail.sh' --order key --parallel 8",
      "  evenkeel consume orders --group even --mode level --range 10 --exec './send-mail.sh'",
      "  evenkeel consume orders --group close --mode singleton --exec './close.sh $EVENKEEL_TERM'",
      "  evenkeel consume prices --group caches --mode broadcast --offsets /var/lib/prices --exec"
          + " ./put.sh",
      "  evenkeel consume refreshes --group cache --dedup payload --order none --exec ./refresh.sh",
      "  evenkeel consume mails --group smtp --order key --rate 100/s --key-rate 1/10s --exec"
          + " ./send.sh",
      "  evenkeel consume orders --group late --from 2026-01-31T12:00:00Z --idle-exit 10s",
      "  evenkeel consume orders --group sums --exec ./add.sh \\",
      "      --on-assign 'cat > sum.$EVENKEEL_SHARD' --on-release 'cat sum.$EVENKEEL_SHARD'"
    })
final class ConsumeCommand implements Callable<Integer> {
  private static final long EXEC_TIMEOUT_MILLIS_MIN = 100;
  private static final long EXEC_TIMEOUT_MILLIS_MAX = 86_400_000;

  /** A command that hangs must end some time, and one that works hard must not be cut. */
  private static final long EXEC_TIMEOUT_MILLIS_DEFAULT = 600_000;

  enum Format {
    text,
    json
  }

  @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
  private String topic;

  @Mixin private ConsumeOptions options;

  @Option(
      names = "--exec",
      paramLabel = "CMD",
      description =
          "Run by sh -c for each message, payload on stdin, and EVENKEEL_TOPIC, _SHARD, _OFFSET,"
              + " _KEY, _ATTEMPT, _EPOCH, _MEMBER, in mode singleton _TERM, in the environment.")
  private String exec;

  @Option(
      names = "--exec-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "A command that has not ended after so long is ended, and has failed (default: 10m).")
  private Long execTimeoutMillis;

  @Option(
      names = "--on-assign",
      paramLabel = "CMD",
      description = "Run when a shard comes, with its state on stdin.")
  private String onAssign;

  @Option(
      names = "--on-release",
      paramLabel = "CMD",
      description = "Run when a shard goes; what it prints is the shard's state.")
  private String onRelease;

  @Option(
      names = "--state-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "--on-assign or --on-release that has not ended after so long is ended, and has failed"
              + " (default: 10m).")
  private Long stateTimeoutMillis;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      description = "Payloads alone, or one JSON object a line (default: ${DEFAULT-VALUE}).")
  private Format format;

  @Option(names = "--max", paramLabel = "N", description = "Leave after N messages.")
  private Long max;

  @Option(
      names = "--idle-exit",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      description = "Leave when nothing came for so long since the first assignment.")
  private Long idleExitMillis;

  @Mixin private ClusterOption cluster;

  /** The command, with words as the help has them for constants. */
  static CommandLine line() {
    return new CommandLine(new ConsumeCommand())
        .registerConverter(
            ConsumerOptions.OnFailure.class,
            text -> OptionFormats.constant(ConsumerOptions.OnFailure.class, text))
        .registerConverter(
            ConsumerOptions.OverRate.class,
            text -> OptionFormats.constant(ConsumerOptions.OverRate.class, text))
        .registerConverter(
            ConsumerOptions.DeliveryPolicy.class,
            text -> OptionFormats.constant(ConsumerOptions.DeliveryPolicy.class, text));
  }

  @Override
  public Integer call() throws Exception {
    ConsumeRun.Settings settings = settings();
    ConsumerOptions consumer = options.options(topic, settings);
    Logging.client();
    StopSignal signal = StopSignal.installEarly(ConsumeRun.STOP_MILLIS_MAX);
    EvenkeelClient client = ClientConnection.connect(cluster.nodes);
    int status = ExitStatus.FAILED;
    try {
      ConsumeRun run =
          new ConsumeRun(client, consumer, settings, new FileOutputStream(FileDescriptor.out));
      CompletableFuture<Void> ended = run.start();
      signal.onStop(run::stop);
      ended.get();
      status = ExitStatus.DONE;
    } catch (ExecutionException e) {
      throw CommandErrors.failure(e.getCause());
    } finally {
      ClientConnection.close(client);
      signal.ended(status);
    }
    return status;
  }

  private ConsumeRun.Settings settings() {
    if (max != null) {
      OptionFormats.range("--max", max, 1, Long.MAX_VALUE);
    }
    if (execTimeoutMillis != null && exec == null) {
      throw CommandFailure.usage("--exec-timeout says how long --exec may take: give --exec, too");
    }
    if (stateTimeoutMillis != null && onAssign == null && onRelease == null) {
      throw CommandFailure.usage(
          "--state-timeout says how long --on-assign and --on-release may take: give one of them,"
              + " too");
    }
    return new ConsumeRun.Settings(
        format == Format.json,
        exec,
        timeout("--exec-timeout", execTimeoutMillis),
        onAssign,
        onRelease,
        timeout("--state-timeout", stateTimeoutMillis),
        max == null ? 0 : max,
        idleExitMillis == null ? 0 : idleExitMillis);
  }

  private static long timeout(String option, Long millis) {
    OptionFormats.timeRange(option, millis, EXEC_TIMEOUT_MILLIS_MIN, EXEC_TIMEOUT_MILLIS_MAX);
    return millis == null ? EXEC_TIMEOUT_MILLIS_DEFAULT : millis;
  }
}
