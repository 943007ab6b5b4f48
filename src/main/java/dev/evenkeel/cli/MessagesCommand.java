package dev.evenkeel.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel topic messages}. */
@Command(
    name = "messages",
    description = {
      "Prints messages of a topic, as consume --format json does, and consumes none.",
      "It reads the shards from the first message that is kept to the last, and prints their"
          + " messages by timestamp."
    },
    footer = {
      "  evenkeel topic messages orders --limit 10",
      "  evenkeel topic messages orders --shard 2 --offset 17 --limit 1",
      "  evenkeel topic messages orders --at 2026-01-31T12:00:00Z --key customer-1",
      "  evenkeel topic messages orders --at latest --follow --format text"
    })
final class MessagesCommand implements Callable<Integer> {
  /** How long a line may take that is written when the stop comes. */
  private static final long STOP_MILLIS_MAX = 2_000;

  enum Format {
    text,
    json
  }

  @Mixin private HttpOption http;

  @Parameters(paramLabel = "NAME", description = "Name of the topic.")
  private String topic;

  @Option(
      names = "--shard",
      paramLabel = "S",
      converter = OptionFormats.ShardNumber.class,
      description = "Only this shard (default: all).")
  private Integer shard;

  @Option(
      names = "--offset",
      paramLabel = "O",
      converter = OptionFormats.Offset.class,
      description = "Begin at this offset; without --shard, at this offset of each shard.")
  private Long offset;

  @Option(
      names = "--at",
      paramLabel = "TIME",
      description =
          "Begin at the first message that is as new: a time like 2026-01-31T12:00:00Z,"
              + " milliseconds since 1970, earliest or latest.")
  private String at;

  @Option(names = "--key", paramLabel = "K", description = "Only messages with this key.")
  private String key;

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = OptionFormats.Limit.class,
      description = "End after N messages.")
  private Long limit;

  @Option(
      names = "--follow",
      description = "At the end of the shards, wait for new messages, until Ctrl-C or SIGTERM.")
  private boolean follow;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "json",
      description = "Payloads alone, or one JSON object a line (default: ${DEFAULT-VALUE}).")
  private Format format;

  @Override
  public Integer call() throws Exception {
    MessagesRun.Settings settings = settings();
    HttpApi api = http.api();
    StopSignal signal = follow ? StopSignal.installEarly(STOP_MILLIS_MAX) : null;
    int status = ExitStatus.FAILED;
    try {
      MessagesRun run =
          new MessagesRun(
              api, settings, Terminal.output(new FileOutputStream(FileDescriptor.out)), System.err);
      if (signal != null) {
        signal.onStop(run::stop);
      }
      run.run();
      status = ExitStatus.DONE;
    } finally {
      if (signal != null) {
        signal.ended(status);
      }
    }
    return status;
  }

  private MessagesRun.Settings settings() {
    CommandFailure.refuseIf(
        offset != null && at != null,
        "--offset and --at both say where to begin: give one of them");
    return new MessagesRun.Settings(
        topic,
        shard,
        offset,
        at == null ? null : OptionFormats.start("--at", at),
        key,
        limit == null ? Long.MAX_VALUE : limit,
        follow,
        format == Format.json);
  }
}
