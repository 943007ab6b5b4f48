package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
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
  private boolean over;

  SessionPoll(Api api, RoutingContext context) {
    this.api = api;
    this.context = context;
  }

  /**
   * Asks. Call it once.
   *
   * @param options how many messages, and how long to wait
   */
  Future<Object> ask(JsonObject options) {
    JsonObject question = question(context, "messages").mergeIn(options);
    return api.ask(context, Addresses.API_SESSIONS, question, name)
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
      api.ask(Addresses.API_SESSIONS, question(context, "abandon"), name);
    }
  }

  /** A question about the session that the path names. */
  static JsonObject question(RoutingContext context, String action) {
    JsonObject question = new JsonObject().put("action", action);
    Requests.ofPath(context, question, "group", "group");
    Requests.ofPath(context, question, "session", "session");
    JsonRoutes.ofCaller(context, question);
    return question;
  }
}
