package dev.evenkeel.cli;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.protocol.Skipped;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats a group from the API as lines and tables for people; a hyphen means unknown. */
final class GroupText {
  private static final String UNKNOWN = "-";
  private static final int HOT_KEYS_MAX = 3;

  private GroupText() {}

  static String of(GroupView group) {
    Table shards =
        Table.of(
            "TOPIC, SHARD, OWNER, NEXT nextOwner, STATE, EPOCH, COMMITTED, POSITION, END, LAG",
            group.shards(),
            (each, json) -> json.put("state", state(each)));
    return line("group", group.group()).strip()
        + line("mode", group.mode())
        + line("assignor", word(group.assignor()))
        + line("status", status(group))
        + leader(group)
        + level(group)
        + dedup(group)
        + rates(group)
        + failures(group)
        + breakers(group)
        + "\n\n"
        + members(group).text()
        + "\n"
        + shards.text();
  }

  /**
   * Whether it is paused; and while the number of shards changes, what it has to do with others.
   */
  private static String state(GroupView.Shard shard) {
    String state = shard.state() == null ? UNKNOWN : shard.state().name();
    if (shard.paused()) {
      state += ", paused";
    }
    if (shard.crashes() != null) {
      state +=
          ", careful: %d owners died, perhaps of offset %d"
              .formatted(shard.crashes().count(), shard.crashes().offset());
    }
    if (shard.skipped() != null) {
      GroupView.Shard.Skips skipped = shard.skipped();
      state +=
          ", skipped " + new Skipped(skipped.first(), skipped.last(), skipped.total(), 0).text();
    }
    if (!shard.waitsFor().isEmpty()) {
      String first =
          shard.waitsFor().stream().map(String::valueOf).collect(Collectors.joining(","));
      return state + ", after " + first;
    }
    return !shard.sealed() ? state : state + (shard.finished() ? ", finished" : ", sealed");
  }

  private static String line(String name, String value) {
    return String.format("\n%-10s%s", name, value);
  }

  private static String word(Object figure) {
    return figure == null ? UNKNOWN : figure.toString();
  }

  private static String percent(Double share) {
    return share == null ? UNKNOWN : String.format(Locale.ROOT, "%.0f %%", share * 100);
  }

  static String status(GroupView group) {
    int paused = (int) group.shards().stream().filter(GroupView.Shard::paused).count();
    return status(
        group.status(), group.members().size(), group.paused(), paused, group.topicsLeftOut());
  }

  static String status(GroupSummary group) {
    return status(
        group.status(),
        group.members(),
        group.paused(),
        group.shardsPaused(),
        group.topicsLeftOut());
  }

  /**
   * The status in the words of the web page; null if it is unknown. A status that this program does
   * not know keeps its name.
   */
  private static String status(
      String status, int members, boolean paused, long shardsPaused, long leftOut) {
    if (status == null) {
      return paused ? "paused" : null;
    }
    String assignment = members == 0 ? "no members" : assignment(status);
    String shards = assignment;
    if (paused) {
      shards = assignment.equals("OK") ? "paused" : "paused, " + assignment;
    } else if (shardsPaused > 0) {
      shards += ", " + shardsPaused + (shardsPaused == 1 ? " shard paused" : " shards paused");
    }
    return leftOut == 0
        ? shards
        : shards + ", " + leftOut + (leftOut == 1 ? " topic left out" : " topics left out");
  }

  private static String assignment(String status) {
    return switch (status) {
      case "UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS" -> "shards free, members idle";
      case "UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS" -> "shards free";
      case "HEAVY_LOAD_BALANCE_NEEDED" -> "rebalancing";
      case "HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED" -> "rebalancing, members idle";
      default -> status;
    };
  }

  /** One line in mode singleton, else none. */
  private static String leader(GroupView group) {
    if (!"singleton".equals(group.mode())) {
      return "";
    }
    GroupView.Singleton singleton = group.singleton();
    return line(
        "leader",
        singleton == null || singleton.leader() == null
            ? UNKNOWN
            : singleton.leader() + " at term " + singleton.term());
  }

  private static boolean isLevel(GroupView group) {
    return group.level() != null && group.level().range() != null;
  }

  /** One line for each figure in mode level, else none. */
  private static String level(GroupView group) {
    if (!isLevel(group)) {
      return "";
    }
    GroupView.Level level = group.level();
    String holder = level.holder();
    if (level.gap() == null) {
      holder = UNKNOWN;
    } else if (holder == null) {
      holder = "nobody";
    } else if (level.heldMs() != null) {
      double seconds = level.heldMs() / 1_000.0;
      holder = String.format(Locale.ROOT, "%s holds the round for %.1f s", holder, seconds);
    }
    Long times = level.setAside();
    return line("range", level.range().toString())
        + line("strategy", word(level.strategy()))
        + line("gap", level.gap() == null ? UNKNOWN : level.gap() + " of " + level.range())
        + line("round", word(level.round()))
        + line("holder", holder)
        + line("set aside", times == null ? UNKNOWN : times == 1 ? "once" : times + " times");
  }

  /** What deduplication saves, or would save: some lines; none if nothing is known. */
  static String dedup(GroupView group) {
    GroupView.Dedup dedup = group.dedup();
    if (dedup == null) {
      return "";
    }
    boolean on = dedup.mode() != null && !dedup.mode().equals("off");
    String lines = "";
    if (on) {
      lines += line("dedup", dedup.mode() + ": " + percent(dedup.savedShare()));
      lines += " of the work saved";
      if (dedup.accepted() != null) {
        lines += dedupCounts(dedup);
      }
    }
    GroupView.Dedup.Repetition repeats = dedup.repetition();
    if (repeats != null && repeats.level() != null) {
      Integer distance = repeats.smallestDistance();
      lines += line("repeats", repeats.level());
      lines += distance == null ? "" : ", every " + distance + " at the closest";
      if (!on && !repeats.level().equals("none")) {
        lines += "; --dedup would save " + percent(repeats.declinedShare());
      }
    }
    return lines;
  }

  private static String dedupCounts(GroupView.Dedup dedup) {
    String counts =
        String.format(
            Locale.ROOT,
            ", %d declined, %d accepted, %d waited%n          now %d at work, %d waiting; %d"
                + " evicted, %d lost, %d unguarded",
            dedup.declined(),
            dedup.accepted(),
            dedup.blocked(),
            dedup.processing(),
            dedup.waiting(),
            dedup.evicted(),
            dedup.lost(),
            dedup.unguarded());
    List<String> keys =
        dedup.hot().stream()
            .limit(HOT_KEYS_MAX)
            .map(each -> each.key() + " (" + each.declined() + ")")
            .toList();
    return keys.isEmpty() ? counts : counts + line("hottest", String.join(", ", keys));
  }

  /** What the rate limits of the members do: one line; none without limits. */
  static String rates(GroupView group) {
    GroupView.Rates rates = group.rates();
    if (rates == null || rates.dropped() == null) {
      return "";
    }
    long shards = rates.shardsWaiting();
    return String.format(
        Locale.ROOT,
        "%nrates     %d waiting now%s; %d had to wait, %d dropped",
        rates.waiting(),
        shards == 0 ? "" : " (the most in " + shards + (shards == 1 ? " shard)" : " shards)"),
        rates.delayed(),
        rates.dropped());
  }

  /** The failures: one line; none if nothing has failed. */
  static String failures(GroupView group) {
    GroupView.Failures failures = group.failures();
    if (failures == null) {
      return line("failures", UNKNOWN);
    }
    return failures.equals(new GroupView.Failures(0, 0, 0, 0))
        ? ""
        : String.format(
            "%nfailures  %d to be tried again, %d parked behind them, %d shards wait; %d dead"
                + " letters",
            failures.retriesWaiting(),
            failures.parked(),
            failures.shardsWaiting(),
            failures.deadLetters());
  }

  /** The members whose circuit breaker is open: one line; none if there is none. */
  static String breakers(GroupView group) {
    List<String> open =
        group.members().stream()
            .filter(member -> member.breaker() == GroupView.Member.Breaker.OPEN)
            .map(GroupView.Member::member)
            .toList();
    return open.isEmpty()
        ? ""
        : line(
            "breaker",
            "open: most messages fail at %s, where one at a time is tried"
                .formatted(String.join(", ", open)));
  }

  /** The table of members; its columns depend on the mode. */
  private static Table members(GroupView group) {
    Map<String, GroupView.Level.Bar> bars = new HashMap<>();
    if (isLevel(group) && group.level().bars() != null) {
      group.level().bars().forEach(bar -> bars.put(bar.member(), bar));
    }
    String shown =
        isLevel(group)
            // They own no shards; the figures show how level they are.
            ? "FINISHED, IN HAND, CONSUMED, HEARTBEAT"
            : "broadcast".equals(group.mode())
                // Each member reads all shards, and keeps its own offsets.
                ? "CONSUMED, LAG, PASSED OVER, HEARTBEAT"
                : "SHARDS, CONSUMED, HEARTBEAT, STUCK";
    return Table.of(
        "MEMBER, HOST, NODE, " + shown,
        group.members(),
        (each, json) -> {
          GroupView.Level.Bar bar = bars.get(each.member());
          Long silent = each.lastHeartbeatMs();
          json.put("finished", bar == null ? null : bar.finished())
              .put("inHand", bar == null ? null : bar.inHand())
              .put("shards", each.shards() == null ? null : each.shards().size())
              .put("heartbeat", silent == null ? null : silent + " ms ago")
              .put("stuck", stuck(each));
        });
  }

  /** The shards on which a member finishes nothing, and for how long; null if unknown. */
  private static String stuck(GroupView.Member member) {
    if (member.stuck() == null || member.stuckMs() == null) {
      return null;
    }
    return member.stuck().isEmpty()
        ? "no"
        : "%s for %s s".formatted(String.join(" ", member.stuck()), member.stuckMs() / 1_000);
  }
}
