package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A request that has not been answered, with one fetch or many. Once there is something for one of
 * its fetches, all that came in the same turn of the event loop is sent.
 *
 * <p>Runs on one context.
 */
final class WaitingRequest {
  private final FetchService service;
  private final WaitingFetches waiting;
  private final Asker asker;
  private final List<WaitingFetch> fetches;
  private final FetchRequest first;
  private final boolean single;
  private final Promise<Buffer> promise = Promise.promise();
  private int bytesLeft = Limits.FETCH_MANY_BYTES_MAX;
  private long timer = -1;

  /** The answer is sent in a moment. */
  private boolean ending;

  /** Whether it has waited long enough: it is answered when nothing is being looked at. */
  private boolean late;

  /**
   * @param asker who has sent it
   * @param fetches all of one group, and with the same filter and wait
   * @param single whether there is one, which is answered as it is
   */
  WaitingRequest(FetchService service, Asker asker, List<FetchRequest> fetches, boolean single) {
    this.service = service;
    this.asker = asker;
    waiting = service.waiting();
    this.fetches = fetches.stream().map(each -> new WaitingFetch(service, this, each)).toList();
    first = fetches.get(0);
    this.single = single;
  }

  /**
   * Answers at once if there is something, and else waits.
   *
   * @throws RefusedException OVERLOADED if it would have to wait and there is no room for it. One
   *     with a filter is refused before it looks: to look, it gets a place in the index of each of
   *     its shards, which takes long
   */
  Future<Buffer> begin() {
    boolean filters = first.filters();
    if (filters) {
      waiting.take(this);
    }
    boolean any = false;
    for (WaitingFetch each : fetches) {
      any |= each.look();
    }
    if (!any && (first.waitMillis() > 0 || anyLooks())) {
      if (!filters) {
        waiting.take(this);
      }
      waiting.add(this);
      wait(first.waitMillis());
      return promise.future();
    }
    fetches.forEach(WaitingFetch::drop);
    if (filters) {
      waiting.give(this);
    }
    if (!any && !first.group().isEmpty()) {
      service.meters().fetchEmpty.increment();
    }
    return answer();
  }

  List<WaitingFetch> fetches() {
    return fetches;
  }

  /** Who has sent it. */
  Asker asker() {
    return asker;
  }

  boolean isSingle() {
    return single;
  }

  boolean isLate() {
    return late;
  }

  /** Most bytes of the answer to a fetch; 0 or less: there is no room. */
  int bytesMax(FetchRequest fetch) {
    return single ? fetch.bytesMax() : Math.min(fetch.bytesMax(), bytesLeft);
  }

  /** Whether so many bytes can be sent with the others, if these are sent in a moment. */
  boolean hasRoom(long bytes) {
    return !ending || bytes <= bytesLeft;
  }

  /** The answer gets so many bytes more. */
  void take(int bytes) {
    bytesLeft -= bytes;
  }

  private boolean anyLooks() {
    return fetches.stream().anyMatch(WaitingFetch::isLooking);
  }

  private void wait(int millis) {
    // Nobody waits for it if there is no lease.
    boolean counts = first.filters() && !first.group().isEmpty();
    int now = counts ? Math.min(millis, waiting.progressMillis()) : millis;
    timer = service.vertx().setTimer(Math.max(1, now), id -> waited(millis - now));
  }

  private void waited(int leftMillis) {
    if (leftMillis > 0 && !anyLooks() && !hasProgress()) {
      if (!promise.future().isComplete()) {
        wait(leftMillis);
      }
      return;
    }
    late = true;
    if (!anyLooks()) {
      if (!ending) {
        service.meters().fetchEmpty.increment();
      }
      end();
    }
  }

  /** Whether a filter has passed over messages; those fetches that have none look again. */
  private boolean hasProgress() {
    for (WaitingFetch each : fetches) {
      if (each.hasProgress()) {
        return true;
      }
      each.again();
    }
    return false;
  }

  /** A fetch has looked at messages. */
  void looked() {
    if (late && !ending && !anyLooks()) {
      end();
    }
  }

  /** A fetch has its answer. */
  void answered(WaitingFetch fetch) {
    fetch.close();
    if (single) {
      end();
    } else if (!ending) {
      ending = true;
      service.later(this::end);
    }
  }

  /** A fetch was closed without an answer. */
  void gaveUp() {
    if (fetches.stream().allMatch(WaitingFetch::isClosed)) {
      end();
    } else {
      looked();
    }
  }

  private void stop() {
    service.vertx().cancelTimer(timer);
    waiting.ended(this);
    fetches.forEach(WaitingFetch::end);
  }

  /** Ends without an answer to any fetch. */
  void refuse(RefusedException why) {
    stop();
    promise.tryFail(why);
  }

  /** Sends what there is. */
  private void end() {
    if (promise.future().isComplete()) {
      return;
    }
    stop();
    answer().onComplete(promise::tryComplete, promise::tryFail);
  }

  private Future<Buffer> answer() {
    if (single) {
      WaitingFetch only = fetches.get(0);
      return only.answer() == null ? only.nothing() : only.answer();
    }
    List<Future<Buffer>> there =
        fetches.stream().map(WaitingFetch::answer).filter(each -> each != null).toList();
    return Future.join(there).transform(done -> Future.succeededFuture(joined()));
  }

  private Buffer joined() {
    List<FetchManyAnswer.Part> parts = new ArrayList<>();
    for (int i = 0; i < fetches.size(); i++) {
      Future<Buffer> answer = fetches.get(i).answer();
      if (answer != null) {
        Buffer frame = answer.succeeded() ? answer.result() : Frames.refusal(answer.cause());
        parts.add(new FetchManyAnswer.Part(i, frame));
      }
    }
    return new FetchManyAnswer(parts).encode();
  }
}
