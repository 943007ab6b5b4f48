package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Joins the append requests of one log group into entries. Requests gather while as many entries as
 * allowed are in flight; an idle log group takes the next request at once. Bodies are not copied.
 *
 * <p>Runs on one context.
 */
final class Appender {
  private record Pending(
      int batches,
      int messages,
      int level,
      ByteBuffer body,
      long startNanos,
      Promise<AppendResults> promise) {}

  /**
   * @param requests not joined into an entry yet
   * @param bytes not answered yet
   */
  record Queue(int requests, long bytes, int entriesInFlight) {}

  private final ServeContext serve;
  private final LogGroup log;
  private final Deque<Pending> waiting = new ArrayDeque<>();
  private int entriesInFlight;
  private long waitingBytes;

  Appender(ServeContext serve, LogGroup log) {
    this.serve = serve;
    this.log = log;
  }

  /**
   * Appends batches that have been checked. {@code body} must not change afterwards.
   *
   * @param messages in all of the batches
   * @param level the feature level that a node needs to read the batches
   * @return results in the order of the batches; fails as {@link LogGroup#append} does, TOO_LARGE
   *     if the body does not fit into an entry, OVERLOADED if too much waits
   */
  Future<AppendResults> append(int batches, int messages, int level, ByteBuffer body) {
    int bytes = body.remaining();
    if (Entry.HEADER_BYTES + bytes > Limits.ENTRY_BYTES_MAX) {
      return refused(
          TOO_LARGE,
          "append of %s bytes: at most %s are allowed"
              .formatted(bytes, Limits.ENTRY_BYTES_MAX - Entry.HEADER_BYTES));
    }
    if (waitingBytes + bytes > serve.options().appendBytesWaitingMax()) {
      return refused(OVERLOADED, waitingBytes + " bytes wait for log group " + log.name());
    }
    Pending pending =
        new Pending(batches, messages, level, body, System.nanoTime(), Promise.promise());
    waitingBytes += bytes;
    waiting.add(pending);
    dispatch();
    return pending.promise().future();
  }

  private static Future<AppendResults> refused(Refusal refusal, String detail) {
    return Future.failedFuture(new RefusedException(refusal, detail));
  }

  private void dispatch() {
    while (entriesInFlight < serve.options().entriesInFlightMax() && !waiting.isEmpty()) {
      List<Pending> joined = new ArrayList<>();
      int level = FeatureLevel.FIRST;
      int bytes = Entry.HEADER_BYTES;
      int batches = 0;
      int taken = 0;
      while (!waiting.isEmpty()) {
        Pending next = waiting.peek();
        bytes += next.body().remaining();
        batches += next.batches();
        if (!joined.isEmpty()
            && (bytes > Limits.ENTRY_BYTES_MAX || batches > AppendBody.BATCHES_MAX)) {
          break;
        }
        taken = batches;
        level = Math.max(level, next.level());
        joined.add(waiting.remove());
      }
      List<ByteBuffer> parts = new ArrayList<>(1 + joined.size());
      parts.add(ByteBuffer.wrap(Entry.header(level, Entry.APPEND, serve.node().nowMillis())));
      joined.forEach(each -> parts.add(each.body()));
      entriesInFlight++;
      serve.meters().joined(taken);
      send(parts).whenComplete((reply, failure) -> serve.run(() -> finish(joined, reply, failure)));
    }
  }

  Queue queue() {
    return new Queue(waiting.size(), waitingBytes, entriesInFlight);
  }

  private CompletableFuture<ByteBuffer> send(List<ByteBuffer> parts) {
    try {
      return log.append(parts);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void finish(List<Pending> joined, ByteBuffer reply, Throwable failure) {
    entriesInFlight--;
    for (Pending each : joined) {
      waitingBytes -= each.body().remaining();
    }
    if (failure != null) {
      Throwable cause = Answers.unwrap(failure);
      joined.forEach(each -> each.promise().fail(cause));
    } else {
      share(joined, AppendResults.decode(reply));
    }
    dispatch();
  }

  private void share(List<Pending> joined, AppendResults results) {
    int from = 0;
    for (Pending each : joined) {
      int to = from + each.batches();
      if (to > results.results().size()) {
        each.promise()
            .fail(INDETERMINATE.error("log group " + log.name() + " answered too few results"));
      } else {
        AppendResults answer = results.share(from, to);
        serve.meters().appended(each.startNanos(), each.body(), each.messages(), answer);
        each.promise().complete(answer);
      }
      from = to;
    }
  }
}
