package dev.evenkeel.cli;

import dev.evenkeel.api.ClearQuota;
import dev.evenkeel.api.ListQuotas;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.QuotaView;
import dev.evenkeel.api.SetQuota;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.ByteSizes;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel quota}. */
@Command(
    name = "quota",
    description = {
      "Limits what producers, users, topics and groups may send and get, over the HTTP API.",
      "A quota holds over the whole cluster. It may be set before its topic, group or producer"
          + " exists, and a change counts within about a second."
    },
    footer = {
      "  evenkeel quota set topic orders --bytes 10MiB/s",
      "  evenkeel quota set producer importer --messages 500",
      "  evenkeel quota set principal shop --bytes 1MiB/s --messages 1000/s",
      "  evenkeel quota set group reports --bytes 5MiB/s",
      "  evenkeel quota set group-rate smtp --messages 30/m",
      "  evenkeel quota list",
      "  evenkeel quota clear topic orders"
    })
final class QuotaCommand extends CommandGroup {
  private static final String KINDS = "producer|principal|topic|group|group-rate";
  private static final String KIND_HELP =
      "What is limited. producer: what the producer of that name sends. principal: what all"
          + " programs of that user send. topic: what all producers send to it. group: what its"
          + " members fetch. group-rate: how many messages the handlers of all its members start.";

  QuotaCommand() {
    super("set, list or clear");
  }

  static final class Kind implements ITypeConverter<QuotaKind> {
    @Override
    public QuotaKind convert(String text) {
      try {
        return QuotaKind.of(text);
      } catch (RefusedException e) {
        throw CommandFailure.usage(e.getMessage());
      }
    }
  }

  /** Bytes per second, such as {@code 1000000}, {@code 10MB/s} or {@code 512KiB/s}. */
  static final class BytesPerSecond implements ITypeConverter<Long> {
    private static final Pattern DECIMAL = Pattern.compile("(?i)(\\d{1,9})(kb|mb|gb)");
    private static final Map<String, Long> UNITS =
        Map.of("kb", 1_000L, "mb", 1_000_000L, "gb", 1_000_000_000L);

    @Override
    public Long convert(String text) {
      String size = text.trim().replaceFirst("/s$", "");
      Matcher decimal = DECIMAL.matcher(size);
      try {
        return decimal.matches()
            ? Long.parseLong(decimal.group(1))
                * UNITS.get(decimal.group(2).toLowerCase(Locale.ROOT))
            : ByteSizes.parse(size);
      } catch (IllegalArgumentException e) {
        throw CommandFailure.usage("write 1000000, 512KiB/s, 10MiB/s or 10MB/s");
      }
    }
  }

  /** Messages per period. */
  record Messages(long count, long periodMillis) {}

  /** A number of messages per second, or a rate such as {@code 30/m}. */
  static final class MessagesPerPeriod implements ITypeConverter<Messages> {
    @Override
    public Messages convert(String text) {
      String trimmed = text.trim();
      if (trimmed.matches("\\d{1,12}")) {
        return new Messages(Long.parseLong(trimmed), 1_000);
      }
      try {
        Rate rate = Rate.parse(trimmed);
        return new Messages(rate.permits(), rate.periodMillis());
      } catch (RefusedException e) {
        throw CommandFailure.usage("write 500, 500/s, 30/m or 1/10s");
      }
    }
  }

  @Command(
      name = "set",
      mixinStandardHelpOptions = true,
      description = {
        "Sets a quota in place of the one that there was.",
        "Producers over a quota wait. If that would take more than about a second, the node refuses"
            + " the request with OVERLOADED and the producer tries again; over HTTP the status is"
            + " 429. Members of a group over a quota get their messages later."
      },
      footer = {
        "  evenkeel quota set topic orders --bytes 10MiB/s",
        "  evenkeel quota set producer importer --messages 500",
        "  evenkeel quota set group-rate smtp --messages 30/m"
      })
  int set(
      @Mixin ApiOptions options,
      @Parameters(index = "0", paramLabel = KINDS, converter = Kind.class, description = KIND_HELP)
          QuotaKind kind,
      @Parameters(index = "1", paramLabel = "NAME", description = "Name of what is limited.")
          String name,
      @Option(
              names = "--bytes",
              paramLabel = "SIZE/s",
              converter = BytesPerSecond.class,
              description =
                  "Bytes per second, as 1000000, 512KiB/s, 10MiB/s or 10MB/s. Batches count as they"
                      + " are sent: compressed ones are smaller.")
          Long bytes,
      @Option(
              names = "--messages",
              paramLabel = "RATE",
              converter = MessagesPerPeriod.class,
              description = "Messages per second, as 500, or per another period, as 30/m or 1/10s.")
          Messages messages) {
    CommandFailure.refuseIf(
        bytes == null && messages == null,
        "nothing to limit: give --bytes or --messages; to remove a quota, use 'quota clear'");
    if (bytes != null) {
      OptionFormats.range("--bytes", bytes, 1, Quota.BYTES_MAX);
    }
    if (messages != null) {
      OptionFormats.range("--messages", messages.count(), 1, Quota.MESSAGES_MAX);
    }
    return options.ask(
        Operations.SET_QUOTA,
        new SetQuota(
            kind,
            name,
            bytes,
            messages == null ? null : (Long) messages.count(),
            messages == null ? null : (Long) messages.periodMillis()),
        quota -> "quota of " + kind.word() + " " + name + ": " + line(quota) + "\n");
  }

  @Command(
      name = "list",
      description = "Lists all quotas, and how much of them was used in the last seconds.",
      footer = {"  evenkeel quota list", "  evenkeel quota list --format json"})
  int list(@Mixin ApiOptions options) {
    return options.ask(Operations.LIST_QUOTAS, new ListQuotas(), QuotaCommand::table);
  }

  private static String table(List<QuotaView> quotas) {
    return Table.of(
            "KIND, NAME, BYTES/S, MESSAGES, USED BYTES/S usedBytesPerSecond,"
                + " USED MESSAGES/S usedMessagesPerSecond",
            quotas,
            (each, json) -> json.put("bytes/s", bytes(each)).put("messages", messages(each)))
        .text();
  }

  @Command(
      name = "clear",
      mixinStandardHelpOptions = true,
      description = "Removes a quota, if there is one.",
      footer = "  evenkeel quota clear topic orders")
  int clear(
      @Mixin ApiOptions options,
      @Parameters(index = "0", paramLabel = KINDS, converter = Kind.class, description = KIND_HELP)
          QuotaKind kind,
      @Parameters(index = "1", paramLabel = "NAME", description = "Name of what was limited.")
          String name) {
    return options.tell(
        Operations.CLEAR_QUOTA,
        new ClearQuota(kind, name),
        "cleared the quota of " + kind.word() + " " + name);
  }

  private static String bytes(QuotaView quota) {
    return quota.bytesPerSecond() == null ? null : ByteSizes.format(quota.bytesPerSecond());
  }

  private static String messages(QuotaView quota) {
    if (quota.messages() == null) {
      return null;
    }
    String period = Durations.format(quota.periodMillis());
    return quota.messages() + "/" + (period.matches("1[smhd]") ? period.substring(1) : period);
  }

  /** The limits in one line. */
  private static String line(QuotaView quota) {
    String bytes = bytes(quota);
    String messages = messages(quota);
    if (bytes == null) {
      return messages + " messages";
    }
    return bytes + " bytes/s" + (messages == null ? "" : ", " + messages + " messages");
  }
}
