package dev.evenkeel.gateway.http;

import dev.evenkeel.api.AbandonPoll;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PollMessages;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.UUID;

/**
 * A question for messages of a session, on behalf of an HTTP request. It has a name, by which it is
 * taken back if the caller goes before it has the answer: then it waits no longer, and the next
 * question gets the messages.
 */
final class SessionPoll {
  private final Api api;
  private final RoutingContext context;
  private final String name = UUID.randomUUID().toString();
  private final PollMessages question;
  private boolean over;

  SessionPoll(Api api, RoutingContext context, PollMessages question) {
    this.api = api;
    this.context = context;
    this.question = question;
  }

  /** Asks. Call it once. */
  Future<Object> ask() {
    JsonObject asked = Operations.POLL_MESSAGES.ask(question);
    return api.ask(context, ApiAddresses.SESSIONS, asked, name)
        // Also an answer that did not come in time, or that the caller must not see.
        .onFailure(failure -> abandon());
  }

  /** The outcome of writing the answer to the caller. */
  void written(Future<Void> answer) {
    answer.onComplete(written -> over = true, failure -> abandon());
  }

  /** The caller has gone. Does nothing if it got the answer. */
  void abandon() {
    if (!over) {
      over = true;
      JsonObject gone = Operations.ABANDON_POLL.ask(new AbandonPoll(question.in()));
      api.ask(ApiAddresses.SESSIONS, gone, name);
    }
  }
}
