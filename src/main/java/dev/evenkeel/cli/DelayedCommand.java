package dev.evenkeel.cli;

import dev.evenkeel.api.CancelDelayedMessage;
import dev.evenkeel.api.DelayedMessageView;
import dev.evenkeel.api.GetDelayedMessage;
import dev.evenkeel.api.ListDelayedMessages;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel delayed}. */
@Command(
    name = "delayed",
    description = {
      "Lists and cancels delayed messages, which wait in a topic until they are due.",
      "A message has its id until it is delivered. If the topic gets other shards, the messages of"
          + " former shards get new ids."
    },
    footer = {
      "  evenkeel produce reminders --deliver-after 2h reminders.txt",
      "  evenkeel delayed list reminders --key customer-7",
      "  evenkeel delayed show reminders 1-1795194816800-17-0",
      "  evenkeel delayed cancel reminders 1-1795194816800-17-0"
    })
final class DelayedCommand extends CommandGroup {
  private static final int PAGE = 500;

  DelayedCommand() {
    super("list, show or cancel");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists the delayed messages of a topic, the first due first.",
      footer = {
        "  evenkeel delayed list reminders --limit 10",
        "  evenkeel delayed list reminders --key customer-7 --format json"
      })
  int list(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "TOPIC", description = "Name of the topic.") String topic,
      @Option(names = "--key", paramLabel = "K", description = "Only messages with this key.")
          String key,
      @Option(
              names = "--limit",
              paramLabel = "N",
              converter = OptionFormats.Limit.class,
              description = "How many messages to list at most (default: all).")
          Long limit) {
    List<DelayedMessageView> all =
        all(options.api(), topic, key, limit == null ? Long.MAX_VALUE : limit);
    return options.print(RecordJson.json(all), json -> table(all));
  }

  private static List<DelayedMessageView> all(HttpApi api, String topic, String key, long limit) {
    List<DelayedMessageView> all = new ArrayList<>();
    String from = null;
    do {
      int some = (int) Math.min(PAGE, limit - all.size());
      DelayedMessages page =
          api.read(
              Operations.LIST_DELAYED_MESSAGES, new ListDelayedMessages(topic, key, some, from));
      all.addAll(page.messages());
      from = page.next();
    } while (from != null && all.size() < limit);
    return all;
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Shows one delayed message with its payload.",
      footer = "  evenkeel delayed show reminders 1-1795194816800-17-0")
  int show(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "TOPIC", description = "Name of the topic.") String topic,
      @Parameters(paramLabel = "ID", description = "Id of the message.") String id) {
    return options.ask(
        Operations.GET_DELAYED_MESSAGE, new GetDelayedMessage(topic, id), DelayedCommand::text);
  }

  @Command(
      name = "cancel",
      mixinStandardHelpOptions = true,
      description = {
        "Cancels delayed messages: no consumer gets them.",
        "It stops at the first message that does not wait any more, because it was delivered or"
            + " cancelled. The messages before that one are cancelled."
      },
      footer = {
        "  evenkeel delayed cancel reminders 1-1795194816800-17-0",
        "  evenkeel delayed cancel reminders 1-1795194816800-17-0 0-1795194816800-3-2"
      })
  int cancel(
      @Mixin ApiOptions options,
      @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
          String topic,
      @Parameters(
              index = "1",
              arity = "1..*",
              paramLabel = "ID",
              description = "Ids of the messages, as list and produce show them.")
          List<String> ids) {
    int status = ExitStatus.DONE;
    for (String id : ids) {
      status =
          options.ask(
              Operations.CANCEL_DELAYED_MESSAGE,
              new CancelDelayedMessage(topic, id),
              done -> "cancelled " + done.id() + "\n");
    }
    return status;
  }

  private static String table(List<DelayedMessageView> messages) {
    return Table.of(
            "ID, DUE, SHARD, KEY, PAYLOAD",
            messages,
            (each, json) ->
                json.put("key", each.key())
                    .put("payload", line(Objects.toString(each.payload(), ""))))
        .text();
  }

  private static String line(String payload) {
    String text = payload.replaceAll("\\s+", " ");
    return text.length() > 60 ? text.substring(0, 57) + "..." : text;
  }

  private static String text(DelayedMessageView message) {
    return String.format(
        "id       %s\ndue      %s\nshard    %s\nkey      %s\n\n%s\n",
        message.id(),
        message.due(),
        message.shard(),
        Objects.toString(message.key(), "-"),
        Objects.toString(message.payload(), message.unreadable()));
  }
}
