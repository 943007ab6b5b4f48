package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group dead-letters}. */
@Command(
    name = "dead-letters",
    description = {
      "Shows, replays and drops messages of a group whose attempts have all failed.",
      "The name of a dead letter is its original topic, shard and offset: orders/2/17."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel group dead-letters list billing",
      "  evenkeel group dead-letters show billing orders/2/17",
      "  evenkeel group dead-letters replay billing orders/2/17 orders/0/4",
      "  evenkeel group dead-letters drop billing --all"
    })
final class DeadLettersCommand extends CommandGroup {
  private static final int PAGE = 500;

  /** The parameters of a command that changes dead letters of a group. */
  static final class Some {
    @Parameters(index = "0", paramLabel = "GROUP", description = "Name of the group.")
    String group;

    @Parameters(
        index = "1",
        arity = "0..*",
        paramLabel = "TOPIC/SHARD/OFFSET",
        description = "Which dead letters.")
    final List<String> names = new ArrayList<>();

    @Option(names = "--all", description = "All dead letters of the group.")
    boolean all;

    JsonObject body() {
      if (names.isEmpty() != all) {
        throw CommandFailure.usage("name dead letters as TOPIC/SHARD/OFFSET, or say --all");
      }
      names.forEach(DeadLettersCommand::place);
      return all
          ? new JsonObject().put("all", true)
          : new JsonObject().put("deadLetters", new JsonArray(names));
    }
  }

  DeadLettersCommand() {
    super("list, show, replay or drop");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists the dead letters of a group, by topic, shard and offset.",
      footer = {"", "Example:", "  evenkeel group dead-letters list billing --format json"})
  int list(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String group,
      @Option(
              names = "--limit",
              paramLabel = "N",
              converter = OptionFormats.Limit.class,
              description = "How many dead letters to list at most (default: all).")
          Long limit) {
    return options.print(
        all(options, group, limit == null ? Long.MAX_VALUE : limit), DeadLettersCommand::table);
  }

  private static JsonArray all(ApiOptions options, String group, long limit) {
    JsonArray all = new JsonArray();
    String after = "";
    while (all.size() < limit) {
      String query = "?limit=" + Math.min(PAGE, limit - all.size()) + after;
      JsonArray page = options.api().get(path(group) + query);
      if (page.isEmpty()) {
        break;
      }
      all.addAll(page);
      after = "&after=" + HttpApi.segment(name(page.getJsonObject(page.size() - 1)));
    }
    return all;
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Shows one dead letter with its payload.",
      footer = {"", "Example:", "  evenkeel group dead-letters show billing orders/2/17"})
  int show(
      @Mixin ApiOptions options,
      @Parameters(paramLabel = "GROUP", description = "Name of the group.") String group,
      @Parameters(paramLabel = "TOPIC/SHARD/OFFSET", description = "Which dead letter.")
          String name) {
    return options.get(path(group) + "/" + place(name), DeadLettersCommand::text);
  }

  @Command(
      name = "replay",
      mixinStandardHelpOptions = true,
      description = "Delivers dead letters to the group again, as if they were new.",
      footer = {"", "Example:", "  evenkeel group dead-letters replay billing --all"})
  int replay(@Mixin ApiOptions options, @Mixin Some some) {
    return change(options, "replay", some);
  }

  @Command(
      name = "drop",
      mixinStandardHelpOptions = true,
      description = "Deletes dead letters.",
      footer = {"", "Example:", "  evenkeel group dead-letters drop billing orders/2/17"})
  int drop(@Mixin ApiOptions options, @Mixin Some some) {
    return change(options, "drop", some);
  }

  private static int change(ApiOptions options, String what, Some some) {
    return options.call(
        "POST",
        path(some.group) + "/" + what,
        some.body(),
        (JsonObject answer) -> done(what, answer.getLong("count")));
  }

  private static String done(String what, long count) {
    String past = what.equals("drop") ? "dropped" : what + "ed";
    return past + " " + count + (count == 1 ? " dead letter\n" : " dead letters\n");
  }

  private static String path(String group) {
    return "/api/groups/" + HttpApi.segment(group) + "/dead-letters";
  }

  private static String name(JsonObject letter) {
    return "%s/%s/%s"
        .formatted(letter.getString("topic"), letter.getInteger("shard"), letter.getLong("offset"));
  }

  /** The path of a dead letter in the API, from the name that the user gave. */
  private static String place(String name) {
    String[] parts = name.split("/", -1);
    boolean right =
        parts.length == 3
            && !parts[0].isEmpty()
            && parts[1].matches("\\d{1,9}")
            && parts[2].matches("\\d{1,18}");
    if (!right) {
      throw CommandFailure.usage("'" + name + "' is no TOPIC/SHARD/OFFSET, like orders/2/17");
    }
    return HttpApi.segment(parts[0]) + "/" + parts[1] + "/" + parts[2];
  }

  private static String table(JsonArray letters) {
    return Table.of(
            "TOPIC topic, SHARD shard, OFFSET offset, KEY key, ATTEMPTS attempts, "
                + "LAST FAILED lastFailed, ERROR error",
            letters,
            letter -> letter.put("error", line(letter.getString("error"))))
        .text();
  }

  private static String line(String error) {
    String text = error == null ? "" : error.replaceAll("\\s+", " ");
    // The beginning and the end tell most; the middle is usually the command.
    return text.length() > 80
        ? text.substring(0, 35) + "..." + text.substring(text.length() - 42)
        : text;
  }

  private static String text(JsonObject letter) {
    return String.format(
        "origin        %s\n"
            + "key           %s\n"
            + "attempts      %s\n"
            + "first failed  %s\n"
            + "last failed   %s\n"
            + "error         %s\n\n"
            + "%s\n",
        name(letter),
        letter.getString("key") == null ? "-" : letter.getString("key"),
        letter.getInteger("attempts"),
        letter.getString("firstFailed"),
        letter.getString("lastFailed"),
        letter.getString("error"),
        letter.getString("payload", letter.getString("payloadBase64", "")));
  }
}
