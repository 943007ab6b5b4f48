package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Joins the append requests of one log group into entries. Requests gather while as many entries as
 * allowed are in flight; an idle log group takes the next request at once. Bodies are not copied
 * here. A request whose batches are still being checked keeps its place among those of its
 * producers: others do not wait for it.
 *
 * <p>Runs on one context.
 */
final class Appender {
  private record Pending(
      List<AppendBody.Item> items,
      int messages,
      int level,
      ByteBuffer body,
      Future<Void> checked,
      Asker asker,
      long startNanos,
      Promise<AppendResults> promise) {
    Set<Object> senders() {
      Set<Object> senders = new HashSet<>(2);
      for (AppendBody.Item item : items) {
        long producer = item.batch().producerId();
        senders.add(producer != 0 ? (Object) producer : String.valueOf(asker.connection()));
      }
      return senders;
    }

    int batches() {
      return items.size();
    }

    int cost() {
      return REQUEST_BYTES + body.remaining();
    }
  }

  /**
   * @param requests not joined into an entry yet
   * @param bytes not answered yet, and {@link #REQUEST_BYTES} for each request
   */
  record Queue(int requests, long bytes, int entriesInFlight) {}

  /** What a request takes beside its bytes: what is known of it, and of its batches. */
  static final int REQUEST_BYTES = 512;

  private final ServeContext serve;
  private final LogGroup log;
  private final Deque<Pending> waiting = new ArrayDeque<>();

  /** Requests keep their order if they have one of the senders in common. */
  private record Held(Pending pending, Set<Object> senders) {}

  /** Requests that are being checked, and those behind them of the same producers. */
  private List<Held> held = new ArrayList<>();

  /** How many of those a sender has. */
  private final Map<Object, Integer> heldBySender = new HashMap<>();

  private int entriesInFlight;
  private long waitingBytes;

  Appender(ServeContext serve, LogGroup log) {
    this.serve = serve;
    this.log = log;
  }

  /**
   * Appends batches once they are checked. {@code body} must not change afterwards.
   *
   * @param items the batches of the body
   * @param messages in all of the batches
   * @param level the feature level that a node needs to read the batches
   * @param checked fails with the refusal of the request; completes on this context
   * @param asker who has sent the request
   * @return results in the order of the batches; fails as {@code checked} and {@link
   *     LogGroup#append} do, TOO_LARGE if the body does not fit into an entry, OVERLOADED if too
   *     much waits
   */
  Future<AppendResults> append(
      List<AppendBody.Item> items,
      int messages,
      int level,
      ByteBuffer body,
      Future<Void> checked,
      Asker asker) {
    int bytes = body.remaining();
    if (Entry.HEADER_BYTES + bytes > Limits.ENTRY_BYTES_MAX) {
      return refused(
          TOO_LARGE,
          "append of %s bytes: at most %s are allowed"
              .formatted(bytes, Limits.ENTRY_BYTES_MAX - Entry.HEADER_BYTES));
    }
    Pending pending =
        new Pending(
            items, messages, level, body, checked, asker, System.nanoTime(), Promise.promise());
    if (waitingBytes + pending.cost() > serve.appendBytesMax(serve.groups().size())) {
      return refused(OVERLOADED, waitingBytes + " bytes wait for log group " + log.name());
    }
    waitingBytes += pending.cost();
    if (checked.succeeded() && !isBehind(pending)) {
      waiting.add(pending);
      dispatch();
    } else {
      hold(pending);
      if (!checked.succeeded()) {
        checked.onComplete(done -> release());
      }
    }
    return pending.promise().future();
  }

  private boolean isBehind(Pending pending) {
    return !held.isEmpty() && pending.senders().stream().anyMatch(heldBySender::containsKey);
  }

  private void hold(Pending pending) {
    Set<Object> senders = pending.senders();
    held.add(new Held(pending, senders));
    senders.forEach(each -> heldBySender.merge(each, 1, Integer::sum));
  }

  /** Lets requests go on that are checked, unless one in front of them is not. */
  private void release() {
    Set<Object> behind = new HashSet<>();
    List<Held> stay = new ArrayList<>();
    for (Held one : held) {
      Pending each = one.pending();
      Set<Object> senders = one.senders();
      boolean ends = each.checked().failed();
      if (ends || each.checked().succeeded() && Collections.disjoint(senders, behind)) {
        senders.forEach(
            its -> heldBySender.computeIfPresent(its, (any, n) -> n == 1 ? null : n - 1));
        if (ends) {
          waitingBytes -= each.cost();
          each.promise().fail(each.checked().cause());
        } else {
          waiting.add(each);
        }
      } else {
        behind.addAll(senders);
        stay.add(one);
      }
    }
    held = stay;
    dispatch();
  }

  private static Future<AppendResults> refused(Refusal refusal, String detail) {
    return Future.failedFuture(new RefusedException(refusal, detail));
  }

  private void dispatch() {
    while (!waiting.isEmpty()
        && entriesInFlight < serve.options().get(BrokerOptions.ENTRIES_IN_FLIGHT_MAX)) {
      List<Pending> joined = new ArrayList<>();
      int level = FeatureLevel.FIRST;
      int bytes = Entry.HEADER_BYTES;
      int batches = 0;
      int taken = 0;
      for (Pending next = waiting.peek(); next != null; next = waiting.peek()) {
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
      Bytes head = Entry.appending(level, serve.node().nowMillis());
      List<ByteBuffer> bodies = new ArrayList<>(joined.size());
      for (Pending each : joined) {
        each.items().forEach(item -> AppendHead.write(head, item));
        bodies.add(each.body());
      }
      entriesInFlight++;
      serve.meters().joined(taken);
      send(head, bodies)
          .whenComplete((reply, failure) -> serve.run(() -> finish(joined, reply, failure)));
    }
  }

  Queue queue() {
    return new Queue(waiting.size() + held.size(), waitingBytes, entriesInFlight);
  }

  private CompletableFuture<ByteBuffer> send(Bytes head, List<ByteBuffer> bodies) {
    try {
      return log.append(head.view(), bodies);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void finish(List<Pending> joined, ByteBuffer reply, Throwable failure) {
    entriesInFlight--;
    for (Pending each : joined) {
      waitingBytes -= each.cost();
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
