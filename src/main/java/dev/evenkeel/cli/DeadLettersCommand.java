package dev.evenkeel.cli;

import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.api.DescribeDeadLetter;
import dev.evenkeel.api.DropDeadLetters;
import dev.evenkeel.api.ListDeadLetters;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ReplayDeadLetters;
import dev.evenkeel.api.ReplayDeadLetters.DeadLetterCount;
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
      "  evenkeel group dead-letters list billing",
      "  evenkeel group dead-letters show billing orders/2/17",
      "  evenkeel group dead-letters replay billing orders/2/17 orders/0/4",
      "  evenkeel group dead-letters drop billing --all"
    })
final class DeadLettersCommand extends CommandGroup {
  private static final int PAGE = 500;

  /** The parameters of a command that changes dead letters of a group. */
  static final class Some extends ApiOptions.OfGroup {
    @Parameters(
        index = "1",
        arity = "0..*",
        paramLabel = "TOPIC/SHARD/OFFSET",
        description = "Which dead letters.")
    final List<String> names = new ArrayList<>();

    @Option(names = "--all", description = "All dead letters of the group.")
    boolean all;

    /** Null: all. */
    private List<String> checked() {
      CommandFailure.refuseIf(
          names.isEmpty() != all, "name dead letters as TOPIC/SHARD/OFFSET, or say --all");
      names.forEach(DeadLettersCommand::place);
      return all ? null : names;
    }
  }

  DeadLettersCommand() {
    super("list, show, replay or drop");
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Lists the dead letters of a group, by topic, shard and offset.",
      footer = "  evenkeel group dead-letters list billing --format json")
  int list(
      @Mixin ApiOptions.OfGroup of,
      @Option(
              names = "--limit",
              paramLabel = "N",
              converter = OptionFormats.Limit.class,
              description = "How many dead letters to list at most (default: all).")
          Long limit) {
    List<DeadLetterView> letters = all(of, limit == null ? Long.MAX_VALUE : limit);
    return of.print(RecordJson.json(letters), any -> table(letters));
  }

  private static List<DeadLetterView> all(ApiOptions.OfGroup of, long limit) {
    List<DeadLetterView> all = new ArrayList<>();
    String after = null;
    while (all.size() < limit) {
      int size = (int) Math.min(PAGE, limit - all.size());
      List<DeadLetterView> page =
          of.api().read(Operations.LIST_DEAD_LETTERS, new ListDeadLetters(of.group, after, size));
      if (page.isEmpty()) {
        break;
      }
      all.addAll(page);
      after = page.get(page.size() - 1).name();
    }
    return all;
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Shows one dead letter with its payload.",
      footer = "  evenkeel group dead-letters show billing orders/2/17")
  int show(
      @Mixin ApiOptions.OfGroup of,
      @Parameters(
              index = "1",
              paramLabel = "TOPIC/SHARD/OFFSET",
              description = "Which dead letter.")
          String name) {
    return of.ask(
        Operations.DESCRIBE_DEAD_LETTER,
        new DescribeDeadLetter(of.group, place(name)),
        DeadLettersCommand::text);
  }

  @Command(
      name = "replay",
      description = "Delivers dead letters to the group again, as if they were new.",
      footer = "  evenkeel group dead-letters replay billing --all")
  int replay(@Mixin Some of) {
    return of.ask(
        Operations.REPLAY_DEAD_LETTERS,
        new ReplayDeadLetters(of.group, of.checked(), of.all, false),
        counted -> done("replayed", counted));
  }

  @Command(
      name = "drop",
      description = "Deletes dead letters.",
      footer = "  evenkeel group dead-letters drop billing orders/2/17")
  int drop(@Mixin Some of) {
    return of.ask(
        Operations.DROP_DEAD_LETTERS,
        new DropDeadLetters(of.group, of.checked(), of.all, false),
        counted -> done("dropped", counted));
  }

  private static String done(String what, DeadLetterCount done) {
    return what + " " + done.count() + (done.count() == 1 ? " dead letter\n" : " dead letters\n");
  }

  /** The name of a dead letter, as the user gave it. */
  private static String place(String name) {
    String[] parts = name.split("/", -1);
    boolean right =
        parts.length == 3
            && !parts[0].isEmpty()
            && parts[1].matches("\\d{1,9}")
            && parts[2].matches("\\d{1,18}");
    CommandFailure.refuseIf(!right, "'" + name + "' is no TOPIC/SHARD/OFFSET, like orders/2/17");
    return name;
  }

  private static String table(List<DeadLetterView> letters) {
    return Table.of(
            "TOPIC, SHARD, OFFSET, KEY, ATTEMPTS, LAST FAILED, ERROR",
            letters,
            (letter, json) -> json.put("error", line(letter.error())))
        .text();
  }

  private static String line(String error) {
    String text = error == null ? "" : error.replaceAll("\\s+", " ");
    // The beginning and the end tell most; the middle is usually the command.
    return text.length() > 80
        ? text.substring(0, 35) + "..." + text.substring(text.length() - 42)
        : text;
  }

  private static String text(DeadLetterView letter) {
    return String.format(
        "origin        %s\n"
            + "key           %s\n"
            + "attempts      %s\n"
            + "first failed  %s\n"
            + "last failed   %s\n"
            + "error         %s\n\n"
            + "%s\n",
        letter.name(),
        letter.key() == null || letter.key().text() == null ? "-" : letter.key().text(),
        letter.attempts(),
        letter.firstFailed(),
        letter.lastFailed(),
        letter.error(),
        letter.payload() == null
            ? "(to see the payload, you need the permission group:GROUP or consume:TOPIC)"
            : letter.payload());
  }
}
