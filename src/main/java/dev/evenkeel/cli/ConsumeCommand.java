package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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
  /** Printing takes no worker; this only bounds the lines that wait to be written. */
  private static final int LINES_WAITING_MAX = 4_096;

  private static final int PARALLEL_MAX = 1_024;

  /** A command that hangs must end some time, and one that works hard must not be cut. */
  private static final long EXEC_TIMEOUT_MILLIS_DEFAULT = 600_000;

  enum Order {
    shard,
    key,
    none
  }

  enum Format {
    text,
    json
  }

  @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
  private String topic;

  @Option(
      names = "--group",
      paramLabel = "G",
      required = true,
      description = "Group that shares the messages.")
  private String group;

  @Option(
      names = "--member",
      paramLabel = "NAME",
      description = "Name in the group; a second member of the same name takes over.")
  private String member;

  @Mixin private ModeOptions mode;

  @Mixin private BroadcastOptions broadcast;

  @Mixin private DedupOptions dedup;

  @Mixin private RateOptions rates;

  @Option(
      names = "--assignor",
      paramLabel = "NAME",
      description =
          "Who gets which shard: sticky, average, consistent-hash, or another that the nodes have;"
              + " all members must agree (default: what the group has, else sticky).")
  private String assignor;

  @Option(
      names = "--stuck-timeout",
      paramLabel = "TIME",
      description =
          "Lose a shard of which messages are in hand and none was finished for so long (default:"
              + " never).")
  private String stuckTimeout;

  @Option(
      names = "--lock-time",
      paramLabel = "TIME",
      defaultValue = "50s",
      description =
          "How long a hand-over waits for this member's release at most (default:"
              + " ${DEFAULT-VALUE}).")
  private String lockTime;

  @Option(
      names = "--crash-lock-time",
      paramLabel = "TIME",
      description =
          "How long shards wait after this member's death for a release (default: not at all).")
  private String crashLockTime;

  @Option(
      names = "--order",
      paramLabel = "shard|key|none",
      description =
          "What is kept in order; none: all in parallel (default: shard; in mode level: none).")
  private Order order;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "16",
      description = "Commands that run at once, at most (default: ${DEFAULT-VALUE}).")
  private int parallel;

  @Option(
      names = "--from",
      paramLabel = "earliest|latest|TIMESTAMP",
      defaultValue = "earliest",
      description =
          "Where a new group begins; a timestamp is milliseconds since 1970 or"
              + " 2026-01-31T12:00:00Z (default: ${DEFAULT-VALUE}).")
  private String from;

  @Mixin private FailureOptions failures;

  @Mixin private DeliveryOptions delivery;

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
      description =
          "A command that has not ended after so long is ended, and has failed (default: 10m).")
  private String execTimeout;

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
      description =
          "--on-assign or --on-release that has not ended after so long is ended, and has failed"
              + " (default: 10m).")
  private String stateTimeout;

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
      description = "Leave when nothing came for so long since the first assignment.")
  private String idleExit;

  @Mixin private ClusterOption cluster;

  @Override
  public Integer call() throws Exception {
    ConsumerOptions options = options();
    ConsumeRun.Settings settings =
        new ConsumeRun.Settings(
            format == Format.json,
            exec,
            execTimeoutMillis(),
            onAssign,
            onRelease,
            stateTimeoutMillis(),
            max(),
            idleExitMillis());
    Logging.client();
    StopSignal signal = StopSignal.installEarly(ConsumeRun.STOP_MILLIS_MAX);
    EvenkeelClient client = ClientConnection.connect(cluster.nodes);
    int status = ExitStatus.FAILED;
    try {
      ConsumeRun run =
          new ConsumeRun(client, options, settings, new FileOutputStream(FileDescriptor.out));
      CompletableFuture<Void> ended = run.start();
      signal.onStop(run::stop);
      await(ended);
      status = ExitStatus.DONE;
    } finally {
      ClientConnection.close(client);
      signal.ended(status);
    }
    return status;
  }

  private static void await(CompletableFuture<Void> ended) throws InterruptedException {
    try {
      ended.get();
    } catch (ExecutionException e) {
      throw CommandErrors.failure(e.getCause());
    }
  }

  private ConsumerOptions options() {
    mode.onlyIfSpread("--assignor", assignor);
    mode.onlySharded("--stuck-timeout", stuckTimeout);
    mode.onlySharded("--crash-lock-time", crashLockTime);
    mode.onlySharded("--on-assign", onAssign);
    mode.onlySharded("--on-release", onRelease);
    if (parallel < 1 || parallel > PARALLEL_MAX) {
      throw CommandFailure.usage(
          "--parallel " + parallel + ": it must be from 1 to " + PARALLEL_MAX);
    }
    try {
      Names.check("topic", topic);
      Names.check("group", group);
      if (member != null) {
        Names.check("member", member);
      }
      if (assignor != null) {
        Names.check("assignor", assignor);
      }
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.getMessage());
    }
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup(group)
            .setMember(member)
            .setTopics(List.of(topic))
            .setStart(start(from))
            .setAssignor(assignor)
            .setStuckTimeoutMillis(
                stuckTimeout == null
                    ? null
                    : (Long)
                        CommandTimes.millis("--stuck-timeout", stuckTimeout, 1_000, 86_400_000))
            .setLockTimeMillis(CommandTimes.millis("--lock-time", lockTime, 0, 3_600_000))
            .setCrashLockTimeMillis(
                crashLockTime == null
                    ? 0
                    : CommandTimes.millis("--crash-lock-time", crashLockTime, 0, 3_600_000));
    mode.apply(options);
    broadcast.apply(options);
    failures.apply(options, mode);
    dedup.apply(options);
    if (order != null) {
      options.setOrder(ConsumerOptions.Order.valueOf(order.name().toUpperCase(Locale.ROOT)));
    }
    rates.apply(options);
    boolean states = onAssign != null || onRelease != null;
    boolean whole = exec != null && onAssign != null && onRelease != null;
    delivery.apply(options, mode, states, whole, max != null);
    if (exec != null) {
      return options.setParallel(parallel);
    }
    if (dedup.on() || rates.on()) {
      // One that waits for its key, or for its turn, must not be passed by those behind it.
      return options.setParallel(LINES_WAITING_MAX);
    }
    // Lines are written in the order in which messages are handed out, which is a shard's own, and
    // no line fails alone: so every order holds without waiting for one line before the next.
    return options.setOrder(ConsumerOptions.Order.NONE).setParallel(LINES_WAITING_MAX);
  }

  /**
   * {@code earliest}, {@code latest}, milliseconds since 1970, or ISO-8601 (UTC if it says none).
   */
  static StartAt start(String text) {
    if (text.equals("earliest")) {
      return StartAt.EARLIEST;
    }
    if (text.equals("latest")) {
      return StartAt.LATEST;
    }
    try {
      if (text.matches("\\d{1,18}")) {
        return StartAt.timestamp(Long.parseLong(text));
      }
      if (text.matches("\\d{4}-\\d{2}-\\d{2}")) {
        return at(LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC));
      }
      boolean zoned = text.matches(".*T.*([zZ]|[+-]\\d{2}(:?\\d{2})?)");
      return at(OffsetDateTime.parse(zoned ? text : text + "Z").toInstant());
    } catch (DateTimeException e) {
      throw CommandFailure.usage(
          "--from '"
              + text
              + "': write earliest, latest, milliseconds since 1970, or 2026-01-31T12:00:00Z");
    }
  }

  private static StartAt at(Instant instant) {
    return StartAt.timestamp(Math.max(0, instant.toEpochMilli()));
  }

  private long max() {
    if (max == null) {
      return 0;
    }
    if (max < 1) {
      throw CommandFailure.usage("--max " + max + ": it must be at least 1");
    }
    return max;
  }

  private long execTimeoutMillis() {
    if (execTimeout == null) {
      return EXEC_TIMEOUT_MILLIS_DEFAULT;
    }
    if (exec == null) {
      throw CommandFailure.usage("--exec-timeout says how long --exec may take: give --exec, too");
    }
    return CommandTimes.millis("--exec-timeout", execTimeout, 100, 86_400_000);
  }

  private long stateTimeoutMillis() {
    if (stateTimeout == null) {
      return EXEC_TIMEOUT_MILLIS_DEFAULT;
    }
    if (onAssign == null && onRelease == null) {
      throw CommandFailure.usage(
          "--state-timeout says how long --on-assign and --on-release may take: give one of them,"
              + " too");
    }
    return CommandTimes.millis("--state-timeout", stateTimeout, 100, 86_400_000);
  }

  private long idleExitMillis() {
    if (idleExit == null) {
      return 0;
    }
    try {
      long millis = Durations.parseMillis(idleExit);
      if (millis > 0) {
        return millis;
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage("--idle-exit '" + idleExit + "': write 200ms, 5s, 2m or 1h");
  }
}
