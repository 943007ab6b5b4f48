package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;

import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A request that has not been answered, with one fetch or many. Once there is something for one of
 * its fetches, all that came in the same turn of the event loop is sent.
 *
 * <p>Runs on one context.
 */
final class WaitingFetch {
  private final FetchService service;
  private final WaitingFetches waiting;
  private final List<FetchRequest> fetches;
  private final boolean many;
  private final Promise<Buffer> promise = Promise.promise();

  /** Answers by the indices of the fetches; null: none yet. */
  private final Future<?>[] answers;

  /** Fetches for which this request still waits. */
  private final boolean[] open;

  private int openCount;
  private int bytesLeft = Limits.FETCH_MANY_BYTES_MAX;
  private long timer = -1;

  /** The answer is sent in a moment. */
  private boolean ending;

  // With a filter

  /** By the indices of the fetches: nothing below this offset is wanted; -1: see the fetch. */
  private final long[] passed;

  /** Fetches whose messages are being looked at. */
  private final boolean[] looking;

  private int lookingCount;

  /** Fetches that wait together with those of other requests. */
  private final FilterWatch.Member[] watched;

  /** Whether it has waited long enough: it is answered when nothing is being looked at. */
  private boolean late;

  WaitingFetch(FetchService service, List<FetchRequest> fetches, boolean many) {
    this.service = service;
    waiting = service.waiting();
    this.fetches = fetches;
    this.many = many;
    answers = new Future<?>[fetches.size()];
    open = new boolean[fetches.size()];
    boolean filters = filters();
    passed = new long[filters ? fetches.size() : 0];
    looking = new boolean[passed.length];
    watched = new FilterWatch.Member[passed.length];
    Arrays.fill(passed, -1);
  }

  private boolean filters() {
    return fetches.get(0).filters();
  }

  List<FetchRequest> fetches() {
    return fetches;
  }

  Future<Buffer> future() {
    return promise.future();
  }

  /** Answers at once if there is something, and else waits. */
  Future<Buffer> begin() {
    boolean any = false;
    for (int i = 0; i < fetches.size(); i++) {
      any |= look(i);
    }
    FetchRequest first = fetches.get(0);
    if (!any && (first.waitMillis() > 0 || lookingCount > 0)) {
      if (!waiting.hasRoom(fetches.size())) {
        leaveAll();
        throw OVERLOADED.error(waiting.count() + " fetches wait already");
      }
      await();
      return promise.future();
    }
    leaveAll();
    if (!any && !first.group().isEmpty()) {
      service.meters().fetchedNothing();
    }
    return answer();
  }

  /** Looks whether there is something for a fetch. Returns whether there is. */
  private boolean look(int index) {
    int bytesMax = many ? Math.min(fetch(index).bytesMax(), bytesLeft) : fetch(index).bytesMax();
    if (bytesMax <= 0) {
      return false;
    }
    Future<Buffer> answer;
    try {
      answer = filters() ? filter(index) : service.tryServe(fetch(index), !many, bytesMax);
    } catch (RefusedException refused) {
      answer = Future.failedFuture(refused);
    }
    if (answer == null) {
      return false;
    }
    set(index, answer, bytesMax);
    return true;
  }

  private void set(int index, Future<Buffer> answer, int bytesMax) {
    bytesLeft -= answer.succeeded() ? answer.result().length() : bytesMax;
    answers[index] = answer;
  }

  /** The fetch, without what it does not want. */
  private FetchRequest fetch(int index) {
    FetchRequest fetch = fetches.get(index);
    return passed.length == 0 || passed[index] < 0 ? fetch : fetch.from(passed[index]);
  }

  // With a filter

  /** The answer, if it can be given now. Else what there is is looked at on another thread. */
  private Future<Buffer> filter(int index) {
    if (looking[index] || service.mustWait(this, fetch(index))) {
      return null;
    }
    if (watched[index] == null) {
      // With others, if that is possible.
      FilterWatch.Member member = new FilterWatch.Member(this, index, fetch(index));
      if (service.watch(member)) {
        watched[index] = member;
      }
    }
    if (watched[index] != null) {
      FetchRequest now = waiting.now(watched[index]);
      return service.noticeFor(now, now.offset() - fetches.get(index).offset());
    }
    lookAlone(index);
    return null;
  }

  private void lookAlone(int index) {
    Future<FilteredBatches.Found> found =
        service.filter(fetch(index), () -> !promise.future().isComplete());
    looking[index] = true;
    lookingCount++;
    // Not now: the other thread may be that fast, and the request does not wait yet.
    found.onComplete(
        looked ->
            service.later(
                () -> {
                  looking[index] = false;
                  lookingCount--;
                  if (open[index]) {
                    looked(index, looked.result(), looked.cause());
                  }
                }));
  }

  private void looked(int index, FilteredBatches.Found found, Throwable failure) {
    if (failure != null) {
      answers[index] = Future.failedFuture(failure);
      answered(index);
    } else if (found.frame() != null && ending && found.bytes() > bytesLeft) {
      // There is no room for it: it is fetched again.
      return;
    } else if (found.frame() != null) {
      long over = found.next() - fetches.get(index).offset() - found.messages();
      try {
        set(index, Future.succeededFuture(service.filtered(fetch(index), found, over)), 0);
      } catch (RefusedException refused) {
        answers[index] = Future.failedFuture(refused);
      }
      answered(index);
    } else {
      passed[index] = found.next();
      if (!late && look(index)) {
        answered(index);
      }
    }
    if (late && lookingCount == 0 && !ending) {
      end();
    }
  }

  /** How many messages the filter has passed over. */
  private long passedOver(int index) {
    long from = fetches.get(index).offset();
    return passed.length == 0 || passed[index] < 0 ? 0 : passed[index] - from;
  }

  /** Something has come that the fetch wants. */
  void found(int index, FilteredBatches.Found found) {
    unwatch(index);
    if (open[index] && !service.pauses().holds(fetch(index))) {
      looked(index, found, null);
    }
  }

  /** Looks for itself, and no longer together with others. */
  void leave(int index) {
    unwatch(index);
    if (open[index] && !looking[index] && !service.pauses().holds(fetch(index))) {
      lookAlone(index);
    }
  }

  private void leaveAll() {
    for (int i = 0; i < watched.length; i++) {
      unwatch(i);
    }
  }

  private void unwatch(int index) {
    FilterWatch.Member member = filters() ? watched[index] : null;
    if (member != null) {
      watched[index] = null;
      passed[index] = Math.max(member.wanted.offset(), waiting.unwatch(member));
    }
  }

  // Waiting

  private void await() {
    Arrays.fill(open, true);
    openCount = open.length;
    waiting.add(this);
    wait(fetches.get(0).waitMillis());
  }

  private void wait(int millis) {
    // Nobody waits for it if there is no lease.
    boolean counts = filters() && !fetches.get(0).group().isEmpty();
    int now = counts ? Math.min(millis, waiting.progressMillis()) : millis;
    timer = service.vertx().setTimer(Math.max(1, now), id -> waited(millis - now));
  }

  private void waited(int leftMillis) {
    if (leftMillis > 0 && lookingCount == 0 && !progress()) {
      if (!promise.future().isComplete()) {
        wait(leftMillis);
      }
      return;
    }
    late = true;
    if (lookingCount == 0) {
      if (!ending) {
        service.meters().fetchedNothing();
      }
      end();
    }
  }

  /** Whether a filter has passed over messages. */
  private boolean progress() {
    for (int i = 0; i < passed.length; i++) {
      if (open[i]) {
        unwatch(i);
        if (passedOver(i) > 0) {
          return true;
        }
        again(i);
      }
    }
    return false;
  }

  /** Looks again at the fetches of a shard. */
  void again(Shard shard) {
    for (int i = 0; i < open.length; i++) {
      if (open[i] && fetches.get(i).shard().equals(shard)) {
        again(i);
      }
    }
  }

  /** Looks again at a fetch. */
  void again(int index) {
    if (open[index] && look(index)) {
      answered(index);
    }
  }

  /** A fetch of the group for this shard, if there is one, gets an answer without messages. */
  void answerNothing(Shard shard, String group) {
    for (int i = 0; i < open.length; i++) {
      FetchRequest each = fetches.get(i);
      if (open[i] && each.shard().equals(shard) && each.group().equals(group)) {
        unwatch(i);
        answers[i] = nothing(i);
        answered(i);
      }
    }
  }

  /** A fetch of the same owner for this shard, if there is one, is no longer awaited. */
  void giveUp(FetchRequest later) {
    for (int i = 0; i < open.length; i++) {
      FetchRequest each = fetches.get(i);
      boolean same =
          each.shard().equals(later.shard())
              && each.group().equals(later.group())
              && each.epoch() == later.epoch();
      if (open[i] && same && !many) {
        answers[i] = nothing(i);
        answered(i);
      } else if (open[i] && same) {
        close(i);
      }
    }
    if (openCount == 0) {
      end();
    }
  }

  private Future<Buffer> nothing(int index) {
    return service.nothing(fetch(index), passedOver(index));
  }

  private void answered(int index) {
    close(index);
    if (!many) {
      end();
    } else if (!ending) {
      ending = true;
      service.later(this::end);
    }
  }

  private void close(int index) {
    open[index] = false;
    openCount--;
    waiting.closed();
    unwatch(index);
    Shard shard = fetches.get(index).shard();
    for (int i = 0; i < open.length; i++) {
      if (open[i] && fetches.get(i).shard().equals(shard)) {
        return;
      }
    }
    waiting.gone(this, shard);
  }

  /** No longer waits for anything. */
  private void stop() {
    service.vertx().cancelTimer(timer);
    for (int i = 0; i < open.length; i++) {
      if (open[i]) {
        close(i);
        if (answers[i] == null && passedOver(i) > 0) {
          answers[i] = nothing(i);
        }
      }
    }
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

  @SuppressWarnings("unchecked")
  private Future<Buffer> answer() {
    if (!many) {
      return answers[0] == null ? nothing(0) : (Future<Buffer>) answers[0];
    }
    List<Future<?>> there = Arrays.stream(answers).filter(each -> each != null).toList();
    return Future.join(there).transform(done -> Future.succeededFuture(joined()));
  }

  private Buffer joined() {
    List<FetchManyAnswer.Part> parts = new ArrayList<>();
    for (int i = 0; i < answers.length; i++) {
      Future<?> answer = answers[i];
      if (answer != null) {
        Buffer frame =
            answer.succeeded() ? (Buffer) answer.result() : Frames.refusal(answer.cause());
        parts.add(new FetchManyAnswer.Part(i, frame));
      }
    }
    return new FetchManyAnswer(parts).encode();
  }
}
