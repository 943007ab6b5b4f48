package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
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
      "",
      "Examples:",
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
        "",
        "Examples:",
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
    return options.print(
        all(options.api(), topic, key, limit == null ? Long.MAX_VALUE : limit),
        DelayedCommand::table);
  }

  private static JsonArray all(HttpApi api, String topic, String key, long limit) {
    JsonArray all = new JsonArray();
    String ofKey = key == null ? "" : "&key=" + HttpApi.segment(key);
    String from = "";
    while (from != null && all.size() < limit) {
      String query = "?limit=" + Math.min(PAGE, limit - all.size()) + ofKey + from;
      JsonObject page = api.get(path(topic) + query);
      all.addAll(page.getJsonArray("messages"));
      String next = page.getString("next");
      from = next == null ? null : "&from=" + HttpApi.segment(next);
    }
    return all;
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Shows one delayed message with its payload.",
      footer = {"", "Example:", "  evenkeel delayed show reminders 1-1795194816800-17-0"})
  int show(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "TOPIC", description = "Name of the topic.") String topic,
      @Parameters(paramLabel = "ID", description = "Id of the message.") String id) {
    return options.get(path(topic) + "/" + HttpApi.segment(id), DelayedCommand::text);
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
        "",
        "Examples:",
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
    HttpApi api = options.api();
    int status = ExitStatus.DONE;
    for (String id : ids) {
      JsonObject answer = api.call("DELETE", path(topic) + "/" + HttpApi.segment(id), null);
      status = options.print(answer, done -> "cancelled " + done.getString("id") + "\n");
    }
    return status;
  }

  private static String path(String topic) {
    return "/api/topics/" + HttpApi.segment(topic) + "/delayed";
  }

  private static String table(JsonArray messages) {
    return Table.of(
            "ID id, DUE due, SHARD shard, KEY key, PAYLOAD payload",
            messages,
            message ->
                message
                    .put("key", bytes(message, "key"))
                    .put("payload", line(bytes(message, "payload"))))
        .text();
  }

  /** Text, or bytes in Base64. */
  private static String bytes(JsonObject message, String field) {
    String text = message.getString(field);
    return text != null ? text : message.getString(field + "Base64");
  }

  private static String line(String payload) {
    String text = payload == null ? "" : payload.replaceAll("\\s+", " ");
    return text.length() > 60 ? text.substring(0, 57) + "..." : text;
  }

  private static String text(JsonObject message) {
    String key = bytes(message, "key");
    String payload = bytes(message, "payload");
    return String.format(
        "id       %s\ndue      %s\nshard    %s\nkey      %s\n\n%s\n",
        message.getString("id"),
        message.getString("due"),
        message.getInteger("shard"),
        key == null ? "-" : key,
        payload == null ? message.getString("unreadable") : payload);
  }
}
