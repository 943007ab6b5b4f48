package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;

import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Joins the commits of all members to one log group into entries. Commits gather while as many
 * entries as allowed are in flight; an idle log group takes the next request at once.
 *
 * <p>Runs on one context.
 */
final class CommitQueue {
  private static final int ENTRIES_IN_FLIGHT_MAX = 2;

  /** Positions that wait for an entry. Past it requests are refused. */
  private static final int WAITING_MAX = 100_000;

  private record Pending(List<Position> positions, Promise<Reply> promise) {}

  private final LogGroup log;
  private final Context context;
  private final LongSupplier nowMillis;
  private final Deque<Pending> waiting = new ArrayDeque<>();
  private int positionsWaiting;
  private int entriesInFlight;

  /**
   * @param nowMillis the clock that entries name
   */
  CommitQueue(LogGroup log, Context context, LongSupplier nowMillis) {
    this.log = log;
    this.context = context;
    this.nowMillis = nowMillis;
  }

  /** Whether a command can be joined with others. */
  static boolean takes(DataCommand command) {
    return command instanceof CommitMany
        || command instanceof DataCommand.Commit commit && commit.state() == null;
  }

  /**
   * Commits what the command names.
   *
   * @param command for which {@link #takes} is true
   * @return the reply that the command would get alone; fails as {@link LogGroup#append} does, or
   *     OVERLOADED if too much waits
   * @throws dev.evenkeel.protocol.RefusedException as {@link DataCommand#check} does
   */
  Future<Reply> commit(DataCommand command) {
    command.check();
    if (command instanceof CommitMany many) {
      return join(many.positions());
    }
    DataCommand.Commit one = (DataCommand.Commit) command;
    return join(List.of(
            new Position(one.group(), one.shard(), one.epoch(), one.offset(), one.stateOffset())))
        .map(reply -> single((Reply.OfCommits) reply));
  }

  private static Reply single(Reply.OfCommits reply) {
    if (reply.refused().isEmpty()) {
      return Reply.DONE;
    }
    RefusedCommit refused = reply.refused().get(0);
    return Reply.refused(refused.refusal(), refused.detail());
  }

  private Future<Reply> join(List<Position> positions) {
    if (positionsWaiting + positions.size() > WAITING_MAX) {
      return Future.failedFuture(
          OVERLOADED.error(positionsWaiting + " commits wait for log group " + log.name()));
    }
    Pending pending = new Pending(positions, Promise.promise());
    positionsWaiting += positions.size();
    waiting.add(pending);
    dispatch();
    return pending.promise().future();
  }

  private void dispatch() {
    while (entriesInFlight < ENTRIES_IN_FLIGHT_MAX && !waiting.isEmpty()) {
      List<Pending> joined = take();
      List<Position> positions = new ArrayList<>();
      joined.forEach(each -> positions.addAll(each.positions()));
      positionsWaiting -= positions.size();
      entriesInFlight++;
      append(positions.size() == 1 ? positions.get(0).command() : new CommitMany(positions))
          .onComplete(reply -> finish(joined, reply));
    }
  }

  /** Requests for one entry: the log takes no two positions of one lease in an entry. */
  private List<Pending> take() {
    List<Pending> joined = new ArrayList<>();
    Set<LeaseKey> leases = new HashSet<>();
    int size = 0;
    while (!waiting.isEmpty()) {
      List<Position> next = waiting.peek().positions();
      size += next.size();
      boolean repeats =
          next.stream().anyMatch(each -> leases.contains(new LeaseKey(each.shard(), each.group())));
      if (!joined.isEmpty() && (size > Limits.COMMITS_A_COMMAND_MAX || repeats)) {
        break;
      }
      next.forEach(each -> leases.add(new LeaseKey(each.shard(), each.group())));
      joined.add(waiting.remove());
    }
    return joined;
  }

  private Future<Reply> append(DataCommand command) {
    byte[] entry = Entry.of(command, nowMillis.getAsLong());
    return Future.fromCompletionStage(log.append(entry), context).map(ReplyCodec::decode);
  }

  private void finish(List<Pending> joined, AsyncResult<Reply> answer) {
    entriesInFlight--;
    int from = 0;
    for (Pending each : joined) {
      int to = from + each.positions().size();
      if (answer.failed()) {
        each.promise().fail(Answers.unwrap(answer.cause()));
      } else {
        each.promise().complete(share(answer.result(), from, to));
      }
      from = to;
    }
    dispatch();
  }

  /** The part of a reply that is about the positions {@code from} to {@code to}. */
  private static Reply.OfCommits share(Reply reply, int from, int to) {
    List<RefusedCommit> refused = new ArrayList<>();
    if (reply instanceof Reply.Refused all) {
      for (int i = from; i < to; i++) {
        refused.add(new RefusedCommit(i - from, all.refusal(), all.detail()));
      }
    } else if (reply instanceof Reply.OfCommits of) {
      for (RefusedCommit each : of.refused()) {
        if (each.index() >= from && each.index() < to) {
          refused.add(new RefusedCommit(each.index() - from, each.refusal(), each.detail()));
        }
      }
    }
    return new Reply.OfCommits(refused);
  }
}
