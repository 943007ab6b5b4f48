package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel topic}. */
@Command(
    name = "topic",
    description =
        "Creates, lists, describes, configures, reads, reshards and deletes topics, over the HTTP"
            + " API.",
    footer = {
      "",
      "Examples:",
      "  evenkeel topic create orders --shards 4",
      "  evenkeel topic create audit --shards 1 --retention 7d",
      "  evenkeel topic list",
      "  evenkeel topic describe orders --format json",
      "  evenkeel topic configure orders --retention 3d",
      "  evenkeel topic messages orders --key customer-1",
      "  evenkeel topic reshard orders --shards 12",
      "  evenkeel topic delete orders --http http://10.0.0.1:8080"
    },
    subcommands = MessagesCommand.class)
final class TopicCommand extends CommandGroup {
  TopicCommand() {
    super("create, list, describe, configure, messages, reshard or delete");
  }

  @Command(
      name = "create",
      mixinStandardHelpOptions = true,
      description = "Creates a topic.",
      footer = {
        "",
        "Examples:",
        "  evenkeel topic create orders --shards 4",
        "  evenkeel topic create audit --shards 1 --retention 7d --max-shard-bytes 1GiB",
        "  evenkeel topic create returns --copy-from orders"
      })
  int create(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NAME", description = "Name of the topic.") String name,
      @Option(
              names = "--shards",
              paramLabel = "N",
              converter = OptionFormats.ShardCount.class,
              description =
                  "How many shards the topic has, and so how many consumers of a group can share"
                      + " the work. Required, unless --copy-from names a topic that has as many.")
          Integer shards,
      @Mixin TopicSettings settings) {
    HttpApi api = options.api();
    JsonObject original = settings.original(api);
    if (shards == null && original == null) {
      throw CommandFailure.usage(
          "Missing required option: '--shards=N', or --copy-from TOPIC to have as many as that");
    }
    int count = shards != null ? shards : original.getInteger("shards");
    JsonObject body = settings.json(original).put("name", name).put("shards", count);
    return options.print(
        api.call("POST", "/api/topics", body),
        answer -> "created topic " + name + " with " + count + " shards\n");
  }

  @Command(
      name = "configure",
      mixinStandardHelpOptions = true,
      description = {
        "Changes settings of a topic while it is in use, and prints all that it has now.",
        "Settings that are not named stay as they are. --copy-from does not change the number of"
            + " shards."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel topic configure orders --retention 3d",
        "  evenkeel topic configure orders --max-age 7d --max-shard-bytes off",
        "  evenkeel topic configure returns --copy-from orders"
      })
  int configure(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NAME", description = "Name of the topic.") String name,
      @Mixin TopicSettings settings) {
    if (!settings.areGiven()) {
      throw CommandFailure.usage(
          "nothing to change: give --retention, --max-age, --max-shard-bytes or --copy-from");
    }
    HttpApi api = options.api();
    JsonObject body = settings.json(settings.original(api));
    return options.print(
        api.call("PATCH", "/api/topics/" + HttpApi.segment(name), body),
        (JsonObject topic) -> "topic " + name + ": " + TopicSettings.line(topic) + "\n");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists all topics.",
      footer = {"", "Example:", "  evenkeel topic list"})
  int list(@Mixin ApiOptions options) {
    return options.get(
        "/api/topics",
        (JsonArray topics) ->
            Table.of(
                    "TOPIC name, SHARDS shards, MESSAGES messages, BYTES bytes, RETENTION kept,"
                        + " MAX AGE maxAge, MAX BYTES maxBytes",
                    topics,
                    each ->
                        each.put("kept", TopicSettings.retention(each))
                            .put("maxAge", TopicSettings.maxAge(each))
                            .put("maxBytes", TopicSettings.maxBytes(each)))
                .text());
  }

  @Command(
      name = "describe",
      mixinStandardHelpOptions = true,
      description = "Shows a topic, its shards, and what their data groups store.",
      footer = {"", "Example:", "  evenkeel topic describe orders"})
  int describe(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NAME", description = "Name of the topic.") String name) {
    return options.get(
        "/api/topics/" + HttpApi.segment(name),
        (JsonObject topic) ->
            heading(topic)
                + Table.of(
                        "SHARD name, START start, END end, BYTES bytes, DELAYED delayed,"
                            + " LEADER leader",
                        topic.getJsonArray("shardList"),
                        each -> each.put("name", shardName(each)))
                    .text()
                + "\n"
                + Table.of(
                        "LOG GROUP group, LEADER leader, LIVE liveBytes, DEAD deadBytes,"
                            + " LOST lostMessages",
                        topic.getJsonArray("logGroups", new JsonArray()))
                    .text());
  }

  @Command(
      name = "reshard",
      mixinStandardHelpOptions = true,
      description = {
        "Gives a topic another number of shards, up or down, while it is in use.",
        "The present shards are sealed: they take no more messages. New ones take their place."
            + " A group consumes a new shard as soon as it has consumed the sealed shards from which"
            + " keys come to it, so that messages of a key stay in order. No message is lost or"
            + " comes twice. Sealed shards go once retention has dropped their messages."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel topic reshard orders --shards 12",
        "  evenkeel topic describe orders",
      })
  int reshard(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NAME", description = "Name of the topic.") String name,
      @Option(
              names = "--shards",
              paramLabel = "N",
              converter = OptionFormats.ShardCount.class,
              required = true,
              description = "How many shards producers write to from then on.")
          int shards) {
    return options.call(
        "POST",
        "/api/topics/" + HttpApi.segment(name) + "/reshard",
        new JsonObject().put("shards", shards),
        answer -> "topic " + name + " has " + shards + " shards now\n");
  }

  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      description = "Deletes a topic with all its messages.",
      footer = {"", "Example:", "  evenkeel topic delete orders"})
  int delete(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "NAME", description = "Name of the topic.") String name) {
    return options.call(
        "DELETE",
        "/api/topics/" + HttpApi.segment(name),
        null,
        answer -> "deleted topic " + name + "\n");
  }

  private static String shardName(JsonObject shard) {
    return shard.getInteger("shard") + (shard.getBoolean("sealed", false) ? " (sealed)" : "");
  }

  private static String heading(JsonObject topic) {
    String bytes = TopicSettings.maxBytes(topic);
    return String.format(
        "topic      %s\n"
            + "shards     %s\n"
            + "messages   %s\n"
            + "bytes      %s\n"
            + "delayed    %s\n"
            + "retention  %s\n"
            + "max age    %s\n"
            + "max bytes  %s\n\n",
        topic.getString("name"),
        topic.getInteger("shards"),
        shown(topic.getLong("messages")),
        shown(topic.getLong("bytes")),
        delayed(topic),
        TopicSettings.retention(topic),
        TopicSettings.maxAge(topic),
        bytes.equals("off") ? bytes : bytes + " a shard");
  }

  private static String delayed(JsonObject topic) {
    Long nextDue = topic.getLong("nextDueMillis");
    String shown = shown(topic.getLong("delayed"));
    return nextDue == null ? shown : shown + ", the next due at " + Instant.ofEpochMilli(nextDue);
  }

  private static String shown(Long number) {
    return number == null ? "-" : number.toString();
  }
}
