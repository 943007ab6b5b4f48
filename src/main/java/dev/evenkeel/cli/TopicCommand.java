package dev.evenkeel.cli;

import dev.evenkeel.api.ConfigureTopic;
import dev.evenkeel.api.CreateTopic;
import dev.evenkeel.api.DeleteTopic;
import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.DescribeTopic.LogGroupDetail;
import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.ListTopics;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.ReshardTopic;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.api.TopicView.Figures;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code evenkeel topic}. */
@Command(
    name = "topic",
    description =
        "Creates, lists, describes, configures, reads, reshards and deletes topics, over the HTTP"
            + " API.",
    footer = {
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
        "  evenkeel topic create orders --shards 4",
        "  evenkeel topic create audit --shards 1 --retention 7d --max-shard-bytes 1GiB",
        "  evenkeel topic create returns --copy-from orders"
      })
  int create(
      @Mixin ApiOptions.OfTopic of,
      @Option(
              names = "--shards",
              paramLabel = "N",
              converter = OptionFormats.ShardCount.class,
              description =
                  "How many shards the topic has, and so how many consumers of a group can share"
                      + " the work. Required, unless --copy-from names a topic that has as many.")
          Integer shards,
      @Mixin TopicOptions settings) {
    TopicView original = settings.original(of.api());
    CommandFailure.refuseIf(
        shards == null && original == null,
        "Missing required option: '--shards=N', or --copy-from TOPIC to have as many as that");
    int count = shards != null ? shards : original.shards();
    return of.tell(
        Operations.CREATE_TOPIC,
        new CreateTopic(of.name, count, settings.limits(original)),
        "created topic " + of.name + " with " + count + " shards");
  }

  @Command(
      name = "configure",
      description = {
        "Changes settings of a topic while it is in use, and prints all that it has now.",
        "Settings that are not named stay as they are. --copy-from does not change the number of"
            + " shards."
      },
      footer = {
        "  evenkeel topic configure orders --retention 3d",
        "  evenkeel topic configure orders --max-age 7d --max-shard-bytes off",
        "  evenkeel topic configure returns --copy-from orders"
      })
  int configure(@Mixin ApiOptions.OfTopic of, @Mixin TopicOptions settings) {
    CommandFailure.refuseIf(
        !settings.areGiven(), "nothing to change: give " + TopicOptions.names());
    return of.ask(
        Operations.CONFIGURE_TOPIC,
        new ConfigureTopic(of.name, settings.limits(settings.original(of.api()))),
        topic -> "topic " + of.name + ": " + TopicOptions.shown(topic, "%s %s", ", ") + "\n");
  }

  @Command(name = "list", description = "Lists all topics.", footer = "  evenkeel topic list")
  int list(@Mixin ApiOptions options) {
    return options.ask(Operations.LIST_TOPICS, new ListTopics(), TopicCommand::table);
  }

  private static String table(List<TopicView> topics) {
    List<String> heads = new ArrayList<>(List.of("TOPIC", "SHARDS", "MESSAGES", "BYTES"));
    heads.addAll(TopicOptions.titles());
    Table table = new Table(heads.toArray(String[]::new));
    for (TopicView each : topics) {
      List<Object> cells = new ArrayList<>(List.of(each.name(), each.shards()));
      cells.add(each.figures().messages());
      cells.add(each.figures().bytes());
      cells.addAll(TopicOptions.values(each));
      table.row(cells.toArray());
    }
    return table.text();
  }

  @Command(
      name = "describe",
      description = "Shows a topic, its shards, and what their data groups store.",
      footer = "  evenkeel topic describe orders")
  int describe(@Mixin ApiOptions.OfTopic of) {
    return of.ask(
        Operations.DESCRIBE_TOPIC,
        new DescribeTopic(of.name),
        topic ->
            heading(topic.topic())
                + shards(topic.shardList())
                + "\n"
                + logGroups(topic.logGroups()));
  }

  private static String shards(List<ShardDetail> shards) {
    return Table.of(
            "SHARD, START, END, BYTES, DELAYED, LEADER",
            shards,
            (each, json) -> json.put("shard", each.shard() + (each.sealed() ? " (sealed)" : "")))
        .text();
  }

  private static String logGroups(List<LogGroupDetail> groups) {
    return Table.of(
            "LOG GROUP group, LEADER, LIVE liveBytes, DEAD deadBytes, LOST lostMessages", groups)
        .text();
  }

  @Command(
      name = "reshard",
      mixinStandardHelpOptions = true,
      description = {
        "Gives a topic another number of shards, up or down, while it is in use.",
        "The present shards are sealed: they take no more messages. New ones take their place. A"
            + " group consumes a new shard as soon as it has consumed the sealed shards from which"
            + " keys come to it, so that messages of a key stay in order. No message is lost or"
            + " comes twice. Sealed shards go once retention has dropped their messages."
      },
      footer = {
        "  evenkeel topic reshard orders --shards 12",
        "  evenkeel topic describe orders",
      })
  int reshard(
      @Mixin ApiOptions.OfTopic of,
      @Option(
              names = "--shards",
              paramLabel = "N",
              converter = OptionFormats.ShardCount.class,
              required = true,
              description = "How many shards producers write to from then on.")
          int shards) {
    return of.tell(
        Operations.RESHARD_TOPIC,
        new ReshardTopic(of.name, shards),
        "topic " + of.name + " has " + shards + " shards now");
  }

  @Command(
      name = "delete",
      description = "Deletes a topic with all its messages.",
      footer = "  evenkeel topic delete orders")
  int delete(@Mixin ApiOptions.OfTopic of) {
    return of.tell(Operations.DELETE_TOPIC, new DeleteTopic(of.name), "deleted topic " + of.name);
  }

  private static String heading(TopicView topic) {
    String form = "%-10s %s";
    return String.format(
            "topic      %s\n"
                + "shards     %s\n"
                + "messages   %s\n"
                + "bytes      %s\n"
                + "delayed    %s\n",
            topic.name(),
            topic.shards(),
            shown(topic.figures().messages()),
            shown(topic.figures().bytes()),
            delayed(topic.figures()))
        + TopicOptions.shown(topic, form, "\n")
        + "\n\n";
  }

  private static String delayed(Figures figures) {
    Long nextDue = figures.nextDueMillis();
    String shown = shown(figures.delayed());
    return nextDue == null ? shown : shown + ", the next due at " + Instant.ofEpochMilli(nextDue);
  }

  private static String shown(Long number) {
    return number == null ? "-" : number.toString();
  }
}
