package dev.evenkeel.gateway.http;

import dev.evenkeel.api.AbandonPoll;
import dev.evenkeel.api.AbandonWatch;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PollMessages;
import dev.evenkeel.api.WatchCandidate;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.UUID;

/**
 * A question that waits for its answer, on behalf of an HTTP request. It has a name, by which it is
 * taken back if the caller goes before it has the answer: then it waits no longer, and the next
 * question gets what it was given.
 */
final class LongPoll {
  private final Api api;
  private final RoutingContext context;
  private final String address;
  private final JsonObject question;
  private final JsonObject gone;
  private final String name = UUID.randomUUID().toString();
  private boolean over;

  private LongPoll(
      Api api, RoutingContext context, String address, JsonObject question, JsonObject gone) {
    this.api = api;
    this.context = context;
    this.address = address;
    this.question = question;
    this.gone = gone;
  }

  /** For messages of a session. */
  static LongPoll of(Api api, RoutingContext context, PollMessages question) {
    return new LongPoll(
        api,
        context,
        ApiAddresses.SESSIONS,
        Operations.POLL_MESSAGES.ask(question),
        Operations.ABANDON_POLL.ask(new AbandonPoll(question.in())));
  }

  /** For news of a candidate. */
  static LongPoll of(Api api, RoutingContext context, WatchCandidate question) {
    return new LongPoll(
        api,
        context,
        ApiAddresses.ELECTIONS,
        Operations.WATCH_CANDIDATE.ask(question),
        Operations.ABANDON_WATCH.ask(new AbandonWatch(question.in())));
  }

  /** Asks. Call it once. */
  Future<Object> ask() {
    return api.ask(context, address, question, name)
        // Also an answer that did not come in time, or that the caller must not see.
        .onFailure(failure -> abandon());
  }

  /** Asks, and sends the answer to the caller. Call it once. */
  void answer() {
    context.addEndHandler(
        ended -> {
          if (ended.failed()) {
            abandon();
          }
        });
    ask()
        .onSuccess(answer -> written(Api.send(context, 200, answer)))
        .onFailure(failure -> Api.fail(context, failure));
  }

  /** The outcome of writing the answer to the caller. */
  void written(Future<Void> answer) {
    answer.onComplete(written -> over = true, failure -> abandon());
  }

  /** The caller has gone. Does nothing if it got the answer. */
  void abandon() {
    if (!over) {
      over = true;
      api.ask(address, gone, name);
    }
  }
}
