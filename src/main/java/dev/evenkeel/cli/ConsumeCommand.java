package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code evenkeel consume}. */
@Command(
    name = "consume",
    description = {
      "Joins a group, and prints the messages of a topic or runs a command for each.",
      "A message is finished when its line is written, or when its command exits with status 0. A"
          + " failed message is retried, and finally becomes a dead letter. Ctrl-C and SIGTERM"
          + " release the shards and commit."
    },
    footer = {
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
      "  evenkeel consume orders --group eu --filter header:region=eu --filter header:region=uk",
      "  evenkeel consume orders --group late --from 2026-01-31T12:00:00Z --idle-exit 10s",
      "  evenkeel consume orders --group sums --exec ./add.sh \\",
      "      --on-assign 'cat > sum.$EVENKEEL_SHARD' --on-release 'cat sum.$EVENKEEL_SHARD'"
    })
final class ConsumeCommand implements Callable<Integer> {
  private static final long EXEC_TIMEOUT_MILLIS_MIN = 100;

  /** Each time runs a command, and may write a mebibyte to the log. */
  private static final long STATE_EVERY_MILLIS_MIN = 100;

  private static final long STATE_EVERY_MILLIS_MAX = 24 * 3600 * 1000;

  private static final long EXEC_TIMEOUT_MILLIS_MAX = 86_400_000;

  /** Long enough for slow work, and short enough that a hanging command ends some time. */
  private static final long EXEC_TIMEOUT_MILLIS_DEFAULT = 600_000;

  enum Format {
    text,
    json
  }

  @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
  private String topic;

  private final ConsumeOptions options = new ConsumeOptions();
  private final CommandOptions flags = options.flags;

  private final Supplier<String> exec =
      flags.text(
          "--exec",
          "CMD",
          "Run by sh -c for each message, payload on stdin, and EVENKEEL_TOPIC, _SHARD, _OFFSET,"
              + " _KEY, _LENGTH, _ATTEMPT, _EPOCH, _MEMBER, in mode singleton _TERM, in the"
              + " environment. _LENGTH is the bytes of the payload. A header is in"
              + " EVENKEEL_HEADER_NAME, with capital letters, and _ for what is no letter or"
              + " digit.");

  private final Supplier<Long> execTimeoutMillis =
      flags.time(
          "--exec-timeout", "Kill a command after this time and count a failure (default: 10m).");

  private final Supplier<String> onAssign =
      flags.text(
          "--on-assign", "CMD", "Run when this member gets a shard, with its state on stdin.");

  private final Supplier<String> onReshard =
      flags.text(
          "--on-reshard",
          "CMD",
          "Run after --on-assign when the topic has other shards now, once for each former shard"
              + " whose state goes to this shard, with that state on stdin and"
              + " EVENKEEL_PARENT_SHARD in the environment. Without it, this member ends when it"
              + " gets such a shard.");

  private final Supplier<String> onRelease =
      flags.text(
          "--on-release",
          "CMD",
          "Run when this member releases a shard; its output becomes the state of the shard.");

  private final Supplier<Long> stateEveryMillis =
      flags.time(
          "--state-every",
          "Also run --on-release after a message if the last time was this long ago, and store its"
              + " output as the state while this member keeps the shard (needs --delivery"
              + " effectively-once; default: never).");

  private final Supplier<Long> stateTimeoutMillis =
      flags.time(
          "--state-timeout",
          "Kill --on-assign, --on-reshard or --on-release after this time and count a failure"
              + " (default: 10m).");

  private final Supplier<Format> format =
      flags.constant(
          "--format",
          "text|json",
          Format.class,
          "text",
          "Payloads alone, or one JSON object a line");

  private final Supplier<Long> max =
      flags.number("--max", null, 1, Long.MAX_VALUE, "Leave after N messages.");

  private final Supplier<Long> idleExitMillis =
      flags.someTime(
          "--idle-exit",
          null,
          "Leave when no message has come for this time, counted from the first assignment, and"
              + " none is known to be due: as long as the group is paused, a retry waits or a shard"
              + " cannot be read, the member stays.");

  private final Supplier<String> tracing =
      flags.text(
          "--tracing",
          "URL",
          "OpenTelemetry collector that gets a span of each attempt and each fetch by OTLP over"
              + " HTTP.");

  @Mixin private ClusterOption cluster;

  /** The command with all its options. */
  static CommandLine line() {
    ConsumeCommand command = new ConsumeCommand();
    return command.flags.addTo(new CommandLine(command));
  }

  @Override
  public Integer call() throws Exception {
    Logging.client();
    ConsumeRun.Settings settings = settings();
    ConsumerOptions consumer = options.options(topic, settings);
    SpanExport spans = SpanExport.to("--tracing", tracing.get(), "evenkeel-consume");
    consumer.setTracing(spans == null ? TracingPolicy.IGNORE : TracingPolicy.ALWAYS);
    StopSignal signal = StopSignal.installEarly(ConsumeRun.STOP_MILLIS_MAX);
    return ClientConnection.run(
        cluster.options(),
        spans,
        signal,
        client -> {
          ConsumeRun run =
              new ConsumeRun(
                  client,
                  consumer,
                  settings,
                  Terminal.output(new FileOutputStream(FileDescriptor.out)));
          CompletableFuture<Void> ended = run.start();
          signal.onStop(run::stop);
          try {
            ended.get();
          } catch (ExecutionException e) {
            throw CommandErrors.failure(e.getCause());
          }
          return ExitStatus.DONE;
        });
  }

  private ConsumeRun.Settings settings() {
    CommandFailure.refuseIf(
        execTimeoutMillis.get() != null && exec.get() == null,
        "--exec-timeout says how long --exec may take: give --exec, too");
    CommandFailure.refuseIf(
        stateTimeoutMillis.get() != null && onAssign.get() == null && onRelease.get() == null,
        "--state-timeout says how long --on-assign and --on-release may take: give one of them,"
            + " too");
    CommandFailure.refuseIf(
        onReshard.get() != null && onAssign.get() == null,
        "--on-reshard runs after --on-assign, which gets the shard ready: give --on-assign, too");
    return new ConsumeRun.Settings(
        format.get() == Format.json,
        exec.get(),
        timeout("--exec-timeout", execTimeoutMillis.get()),
        onAssign.get(),
        onReshard.get(),
        onRelease.get(),
        stateEvery(),
        timeout("--state-timeout", stateTimeoutMillis.get()),
        max.get() == null ? 0 : max.get(),
        idleExitMillis.get() == null ? 0 : idleExitMillis.get());
  }

  private long stateEvery() {
    if (stateEveryMillis.get() == null) {
      return 0;
    }
    OptionFormats.timeRange(
        "--state-every", stateEveryMillis.get(), STATE_EVERY_MILLIS_MIN, STATE_EVERY_MILLIS_MAX);
    return stateEveryMillis.get();
  }

  private static long timeout(String option, Long millis) {
    OptionFormats.timeRange(option, millis, EXEC_TIMEOUT_MILLIS_MIN, EXEC_TIMEOUT_MILLIS_MAX);
    return millis == null ? EXEC_TIMEOUT_MILLIS_DEFAULT : millis;
  }
}
