package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;

/**
 * One fetch of a {@link WaitingRequest}.
 *
 * <pre>
 * state    what happens                                        next state
 * WAITING  it looks, and there is an answer                    CLOSED
 *          it looks: no filter, or held by a pause or a debt   WAITING
 *          it looks, with a filter, near the end of the shard  WATCHED
 *          it looks, with a filter, elsewhere                  LOOKING
 * WATCHED  the watch finds something, or owners have news      CLOSED
 *          the watch finds something for a paused group        WAITING
 *          the watch cannot look for it                        LOOKING, or WAITING if paused
 *          its progress is looked at                           WAITING, and it looks
 * LOOKING  messages are found, or it fails                     CLOSED
 *          messages are found for which there is no room       WAITING
 *          no messages are found                               WAITING, and it looks
 * all      its request ends, or it is given up                 CLOSED
 * </pre>
 *
 * <p>Runs on one context.
 */
final class WaitingFetch {
  private enum State {
    /** Looks when something changes. */
    WAITING,
    /** Waits together with others, see {@link FilterWatch}. */
    WATCHED,
    /** Another thread looks at its messages. */
    LOOKING,
    /** Waits no more: has an answer, or gets none. */
    CLOSED
  }

  private final FetchService service;
  private final WaitingRequest request;
  private final FetchRequest asked;

  /** What was asked, from where nothing has been looked at. */
  private FetchRequest wanted;

  private State state = State.WAITING;

  /** Its place in the watch; null unless WATCHED. */
  private FilterWatch.Member member;

  /** Null: none yet. */
  private Future<Buffer> answer;

  WaitingFetch(FetchService service, WaitingRequest request, FetchRequest asked) {
    this.service = service;
    this.request = request;
    this.asked = asked;
    wanted = asked;
  }

  /** The fetch as it came. */
  FetchRequest asked() {
    return asked;
  }

  WaitingRequest request() {
    return request;
  }

  /** Null: none yet. */
  Future<Buffer> answer() {
    return answer;
  }

  boolean isLooking() {
    return state == State.LOOKING;
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  /** Something has changed: looks, and has its request answered if there is something. */
  void again() {
    if (look()) {
      request.answered(this);
    }
  }

  /** Looks whether there is an answer now. Returns whether. */
  boolean look() {
    int bytesMax = request.bytesMax(asked);
    if (bytesMax <= 0) {
      return false;
    }
    Future<Buffer> found;
    try {
      found =
          switch (state) {
            case WAITING -> whileWaiting(bytesMax);
            case WATCHED -> whileWatched();
            case LOOKING, CLOSED -> null;
          };
    } catch (RefusedException refused) {
      found = Future.failedFuture(refused);
    }
    if (found != null) {
      answer = found;
      request.take(found.succeeded() ? found.result().length() : bytesMax);
    }
    return found != null;
  }

  private Future<Buffer> whileWaiting(int bytesMax) {
    if (!asked.filters()) {
      return service.tryServe(wanted, request.asker(), request.isSingle(), bytesMax);
    }
    if (service.mustWait(this, wanted)) {
      return null;
    }
    FilterWatch.Member joining = new FilterWatch.Member(this, wanted);
    if (!service.watch(joining)) {
      lookAlone();
      return null;
    }
    state = State.WATCHED;
    member = joining;
    return noticeFor();
  }

  private Future<Buffer> whileWatched() {
    return service.mustWait(this, wanted) ? null : noticeFor();
  }

  private Future<Buffer> noticeFor() {
    FetchRequest now = service.waiting().now(member);
    return service.noticeFor(now, now.offset() - asked.offset());
  }

  private void lookAlone() {
    state = State.LOOKING;
    // Not now: the other thread may be that fast, and the request does not wait yet.
    service
        .filter(wanted, request.asker(), this::isLooking)
        .onComplete(
            looked ->
                service.later(
                    () -> {
                      if (state == State.LOOKING) {
                        state = State.WAITING;
                        looked(looked.result(), looked.cause());
                      }
                    }));
  }

  private void looked(FilteredBatches.Found found, Throwable failure) {
    if (failure != null) {
      answer(Future.failedFuture(failure));
    } else if (found.frame() == null) {
      wanted = wanted.from(found.next());
      if (!request.isLate()) {
        again();
      }
    } else if (request.hasRoom(found.bytes())) {
      answer(filtered(found));
    }
    // If there is no room, it is fetched again.
    request.looked();
  }

  private Future<Buffer> filtered(FilteredBatches.Found found) {
    try {
      long over = found.next() - asked.offset() - found.messages();
      Buffer frame = service.filtered(wanted, found, over);
      request.take(frame.length());
      return Future.succeededFuture(frame);
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
  }

  /** The watch has found something that the fetch wants. */
  void found(FilteredBatches.Found found) {
    unwatch();
    if (!service.pauses().holds(wanted)) {
      looked(found, null);
    }
  }

  /** The watch cannot look for the fetch, which looks for itself. */
  void leave() {
    if (state == State.WATCHED) {
      unwatch();
      if (!service.pauses().holds(wanted)) {
        lookAlone();
      }
    }
  }

  private void unwatch() {
    if (state == State.WATCHED) {
      state = State.WAITING;
      wanted = wanted.from(Math.max(wanted.offset(), service.waiting().unwatch(member)));
      member = null;
    }
  }

  /** Leaves the watch to see whether its filter has passed over messages. */
  boolean hasProgress() {
    unwatch();
    return !isClosed() && passedOver() > 0;
  }

  /** How many messages the filter has passed over. */
  private long passedOver() {
    return wanted.offset() - asked.offset();
  }

  /** Gets an answer without messages. */
  void answerNothing() {
    if (!isClosed()) {
      unwatch();
      answer(nothing());
    }
  }

  /** The same owner has sent a later fetch: nobody waits for the answer to this one. */
  void giveUp() {
    if (!isClosed() && request.isSingle()) {
      answer(nothing());
    } else if (!isClosed()) {
      close();
      request.gaveUp();
    }
  }

  /** An answer without messages. */
  Future<Buffer> nothing() {
    return service.nothing(wanted, passedOver());
  }

  private void answer(Future<Buffer> given) {
    answer = given;
    request.answered(this);
  }

  /** The request ends; the answer tells what the filter has passed over. */
  void end() {
    if (!isClosed()) {
      close();
      if (passedOver() > 0) {
        answer = nothing();
      }
    }
  }

  /** Waits no more. */
  void close() {
    drop();
    service.waiting().remove(this);
  }

  /** Does not wait. */
  void drop() {
    unwatch();
    state = State.CLOSED;
  }
}
