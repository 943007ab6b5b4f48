package dev.evenkeel.gateway;

import dev.evenkeel.api.ReplayDeadLetters.DeadLetterCount;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Replays and drops the dead letters of a group on all shards. */
record DeadLetterChanges(ClusterCalls calls, FailedMessages failed, DeadLettersApi letters) {
  /**
   * Replays dead letters as retries, or drops them. With {@code dryRun}, only counts them.
   *
   * @param replay false: drops them
   */
  Future<DeadLetterCount> change(
      String group, List<String> names, boolean all, boolean dryRun, boolean replay) {
    if (all == (names != null)) {
      throw Refusal.INVALID.error("give either 'deadLetters', a list of names, or 'all': true");
    }
    return calls
        .newestTopics()
        .compose(
            view -> {
              if (all) {
                return dryRun ? counted(view, group) : everything(view, group, replay);
              }
              Map<Shard, NavigableSet<Long>> offsets = offsets(view, names);
              return dryRun ? counted(group, offsets) : named(view, group, offsets, replay);
            })
        .map(count -> new DeadLetterCount(group, count, dryRun));
  }

  private static Map<Shard, NavigableSet<Long>> offsets(ClusterView view, List<String> names) {
    Map<Shard, NavigableSet<Long>> offsets = new TreeMap<>();
    for (FailedMessages.Id id : FailedMessages.ids(view, names)) {
      offsets.computeIfAbsent(id.shard(), any -> new TreeSet<>()).add(id.offset());
    }
    return offsets;
  }

  /** How many dead letters the group has. */
  private Future<Long> counted(ClusterView view, String group) {
    return failed
        .figures(view, group)
        .map(figures -> figures.stream().mapToLong(FailureFigures::dead).sum());
  }

  /** How many of these messages are dead letters of the group. */
  private Future<Long> counted(String group, Map<Shard, NavigableSet<Long>> offsets) {
    List<Supplier<Future<Long>>> steps = new ArrayList<>();
    offsets.forEach((shard, of) -> steps.add(() -> counted(group, shard, of, of.first())));
    return sum(steps);
  }

  private Future<Long> counted(String group, Shard shard, NavigableSet<Long> of, long from) {
    return letters
        .read(group, shard, from, Page.LIMIT_MAX, 0)
        .compose(
            answer -> {
              List<Long> found = answer.letters().stream().map(DeadLetter::offset).toList();
              long count = found.stream().filter(of::contains).count();
              Long next = found.isEmpty() ? null : of.higher(found.get(found.size() - 1));
              return next == null
                  ? Future.succeededFuture(count)
                  : counted(group, shard, of, next).map(more -> count + more);
            });
  }

  private Future<Long> named(
      ClusterView view, String group, Map<Shard, NavigableSet<Long>> offsets, boolean replay) {
    List<Supplier<Future<Long>>> steps = new ArrayList<>();
    offsets.forEach(
        (shard, set) -> {
          List<Long> of = List.copyOf(set);
          for (int from = 0; from < of.size(); from += Limits.OUTCOMES_A_COMMAND_MAX) {
            int to = Math.min(of.size(), from + Limits.OUTCOMES_A_COMMAND_MAX);
            List<Long> some = of.subList(from, to);
            steps.add(
                () -> submit(view, group, shard, some, replay).map(done -> (long) done.size()));
          }
        });
    return sum(steps);
  }

  /** Does one step after the other. */
  private static Future<Long> sum(List<Supplier<Future<Long>>> steps) {
    Future<Long> sum = Future.succeededFuture(0L);
    for (Supplier<Future<Long>> step : steps) {
      sum = sum.compose(count -> step.get().map(done -> count + done));
    }
    return sum;
  }

  private Future<Long> everything(ClusterView view, String group, boolean replay) {
    return failed
        .figures(view, group)
        .compose(
            figures -> {
              List<Supplier<Future<Long>>> steps = new ArrayList<>();
              figures.forEach(
                  each -> steps.add(() -> whole(view, group, each.shard(), each.dead(), replay)));
              return sum(steps);
            });
  }

  /**
   * Changes at most {@code left} dead letters of a shard, so that those that fail again meanwhile
   * are not replayed again.
   */
  private Future<Long> whole(
      ClusterView view, String group, Shard shard, long left, boolean replay) {
    if (left <= 0) {
      return Future.succeededFuture(0L);
    }
    int max = (int) Math.min(left, Limits.OUTCOMES_A_COMMAND_MAX);
    // Without messages: they would be read from all over the disk, and one may be damaged.
    return letters
        .read(group, shard, 0, max, 0)
        .compose(
            answer -> {
              List<Long> offsets = answer.letters().stream().map(DeadLetter::offset).toList();
              if (offsets.isEmpty()) {
                return Future.succeededFuture(0L);
              }
              return submit(view, group, shard, offsets, replay)
                  .compose(
                      done ->
                          done.isEmpty()
                              ? Future.succeededFuture(0L)
                              : whole(view, group, shard, left - done.size(), replay)
                                  .map(more -> more + done.size()));
            });
  }

  private Future<List<Long>> submit(
      ClusterView view, String group, Shard shard, List<Long> offsets, boolean replay) {
    int dataGroup = view.shardGroups().of(shard);
    DataCommand command =
        replay
            ? new DataCommand.ReplayDeadLetters(group, shard, offsets)
            : new DataCommand.DropDeadLetters(group, shard, offsets);
    return calls
        .toDataLeader(dataGroup, Calls.SUBMIT_DATA, new Calls.ToGroup(dataGroup, command))
        .map(reply -> ((Reply.OfOffsets) Calls.taken(reply)).offsets());
  }
}
