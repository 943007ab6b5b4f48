package dev.evenkeel.demo;

import dev.evenkeel.demo.DemoScript.Event;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Describes an event in one line, from what the cluster reports. Pure. */
public final class DemoStory {

  /**
   * One move of a shard, from {@code GET /api/rebalances}; null means unknown or none.
   *
   * @param pauseMillis from the end of the old owner's last handler to the new owner's first fetch
   * @param releaseMillis from the request for the shard to its release
   * @param redelivered messages that were delivered again to the new owner
   */
  public record Move(
      int shard,
      long epoch,
      String from,
      String to,
      Long pauseMillis,
      Long releaseMillis,
      Long redelivered) {}

  /**
   * The outcome of an event.
   *
   * @param event null: somebody else ended the process
   * @param member the member concerned
   * @param pid the member's process
   * @param moves the moves since the event, in any order
   * @param carried the counts that moved with the shards, added up
   * @param settledMillis until every shard had a living owner again; null: not yet
   */
  public record Outcome(
      Event event, String member, long pid, List<Move> moves, long carried, Long settledMillis) {}

  private DemoStory() {}

  public static String line(Outcome outcome) {
    String text = event(outcome);
    List<Move> own = own(outcome);
    String other = others(outcome.moves().size() - own.size());
    if (outcome.settledMillis() == null) {
      return text + ": not every shard has an owner yet; see evenkeel group describe";
    }
    if (own.isEmpty()) {
      return text + ": no shard of its own travels" + other;
    }
    return text + ": " + travel(outcome, own) + carried(outcome.carried()) + pauses(own) + other;
  }

  private static String event(Outcome outcome) {
    String who = outcome.member() + " (pid " + outcome.pid() + ")";
    if (outcome.event() == null) {
      return who + " was ended by somebody else";
    }
    return switch (outcome.event()) {
      case JOIN -> who + " joins";
      case LEAVE -> who + " leaves cleanly";
      case KILL -> who + " is killed by SIGKILL";
    };
  }

  private static List<Move> own(Outcome outcome) {
    Function<Move, String> side = outcome.event() == Event.JOIN ? Move::to : Move::from;
    return outcome.moves().stream()
        .filter(move -> outcome.member().equals(side.apply(move)))
        .toList();
  }

  private static String travel(Outcome outcome, List<Move> own) {
    if (outcome.event() == Event.JOIN) {
      return shards(own.size()) + " to it" + from(names(own, Move::from));
    }
    String to = names(own, Move::to);
    String where = to.isEmpty() ? "" : " to " + to;
    boolean sudden = outcome.event() != Event.LEAVE;
    return (sudden ? "within " + seconds(outcome.settledMillis()) + " " : "")
        + (own.size() == 1 ? "its shard travels" : "its " + own.size() + " shards travel")
        + where;
  }

  private static String shards(int count) {
    return count == 1 ? "1 shard travels" : count + " shards travel";
  }

  private static String from(String names) {
    return names.isEmpty() ? "" : " from " + names;
  }

  private static String names(List<Move> moves, Function<Move, String> side) {
    TreeSet<String> names =
        moves.stream()
            .map(side)
            .filter(Objects::nonNull)
            .collect(Collectors.toCollection(TreeSet::new));
    if (names.size() < 2) {
      return String.join("", names);
    }
    String last = names.pollLast();
    return String.join(", ", names) + " and " + last;
  }

  private static String carried(long messages) {
    return messages == 0 ? "" : ", with the counts of " + number(messages) + " messages";
  }

  private static String pauses(List<Move> moves) {
    String again = again(moves);
    String pause = range(moves, Move::pauseMillis);
    if (!pause.isEmpty()) {
      return "; paused " + pause + again;
    }
    String release = range(moves, Move::releaseMillis);
    return (release.isEmpty() ? "" : "; released in " + release) + again;
  }

  private static String again(List<Move> moves) {
    long sum =
        moves.stream().map(Move::redelivered).filter(Objects::nonNull).mapToLong(n -> n).sum();
    return sum == 0 ? "" : "; " + number(sum) + " messages come again";
  }

  /** The range of the known values. */
  private static String range(List<Move> moves, Function<Move, Long> figure) {
    List<Long> known = moves.stream().map(figure).filter(Objects::nonNull).sorted().toList();
    if (known.isEmpty()) {
      return "";
    }
    long least = known.get(0);
    long most = known.get(known.size() - 1);
    return (least == most ? "" : least + " to ") + most + " ms";
  }

  private static String others(int moves) {
    return moves == 0 ? "" : "; " + moves + " more to even things out";
  }

  private static String seconds(long millis) {
    return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
  }

  private static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
