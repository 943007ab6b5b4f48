package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Answers {@code evenkeel.api.sessions}: members of groups for programs that do not use the client
 * library. A session lives in the gateway that opened it; the others pass its requests on.
 */
final class SessionsApi {
  /** Most sessions of a gateway. */
  static final int SESSIONS_MAX = 1_000;

  /** Longest wait for messages. */
  static final int WAIT_MILLIS_MAX = 15_000;

  /** Most messages in an answer. */
  static final int MESSAGES_MAX = 1_000;

  private static final int MESSAGES_DEFAULT = 32;
  private static final int EXPIRES_MILLIS = 30_000;
  private static final int EXPIRES_MILLIS_MIN = 5_000;
  private static final int EXPIRES_MILLIS_MAX = 600_000;

  /** Most messages in the hands of a session, unless it says otherwise. */
  private static final int PARALLEL = 100;

  private static final List<String> PLACE = List.of("topic", "shard", "offset", "epoch");
  private static final List<String> FAILED = List.of("topic", "shard", "offset", "epoch", "error");
  private static final long FORWARD_MILLIS = 28_000;

  /** Longest text of a failure that is kept. */
  private static final int ERROR_CHARS_MAX = 4_000;

  /** Options of a consumer that have the same name and form here. */
  private static final List<String> OPTIONS =
      List.of(
          "topics",
          "member",
          "mode",
          "order",
          "parallel",
          "range",
          "filter",
          "dedup",
          "retryDelaysMillis",
          "onFailure",
          "crashesMax",
          "lockTimeMillis",
          "stallTimeoutMillis",
          "dedupTimeoutMillis");

  private static final List<String> OPEN_FIELDS =
      Stream.concat(Stream.of("action", "user", "group", "from", "expiresMs"), OPTIONS.stream())
          .toList();

  private final Vertx vertx;
  private final EvenkeelClient client;
  private final Context context;
  private final String gateway = UUID.randomUUID().toString().replace("-", "");
  private final Map<String, PolledConsumer> sessions = new HashMap<>();
  private int opening;
  private boolean stopped;
  private MessageConsumer<JsonObject> forwarded;

  SessionsApi(Vertx vertx, EvenkeelClient client) {
    this.vertx = vertx;
    this.client = client;
    context = vertx.getOrCreateContext();
  }

  Future<Void> start() {
    forwarded = vertx.eventBus().consumer(Addresses.gateway(gateway));
    forwarded.handler(
        message ->
            answerHere(message.body(), message.headers().get(Frames.POLL))
                .onSuccess(message::reply)
                .onFailure(failure -> ApiErrors.fail(message, failure)));
    return forwarded.completion();
  }

  /** Ends all sessions, which release their shards. Those that are being opened end at once. */
  Future<Void> stop() {
    stopped = true;
    Future<Void> closed =
        Future.join(List.copyOf(sessions.values()).stream().map(PolledConsumer::close).toList())
            .mapEmpty();
    return closed.eventually(
        () -> forwarded == null ? Future.succeededFuture() : forwarded.unregister());
  }

  /**
   * @param poll the name of a request for messages, by which it can be abandoned, or of the one
   *     that is to be abandoned; null: none. It is no field, because nodes of former versions
   *     refuse those that they do not know
   */
  Future<Object> answer(JsonObject request, String poll) {
    String action = JsonFields.neededText(request, "action");
    JsonFields.neededText(request, "group");
    if (action.equals("open")) {
      return open(request);
    }
    String session = JsonFields.neededText(request, "session");
    int dot = session.indexOf('.');
    if (dot < 0 || session.startsWith(gateway + ".")) {
      return answerHere(request, poll);
    }
    String other = session.substring(0, dot);
    if (!other.matches("[0-9a-f]{32}")) {
      throw unknown(session);
    }
    DeliveryOptions forward = new DeliveryOptions().setSendTimeout(FORWARD_MILLIS);
    if (poll != null) {
      forward.addHeader(Frames.POLL, poll);
    }
    return vertx
        .eventBus()
        .request(Addresses.gateway(other), request, forward)
        .map(reply -> reply.body())
        .recover(failure -> Future.failedFuture(elsewhere(session, failure)));
  }

  /** What became of a request that was passed on: it may have had an effect, with no answer. */
  static RefusedException elsewhere(String session, Throwable failure) {
    RefusedException refused = RefusedException.parse(failure.getMessage());
    boolean gone =
        refused == null
            && failure instanceof ReplyException reply
            && reply.failureType() == ReplyFailure.NO_HANDLERS;
    return refused != null
        ? refused
        : gone
            ? unknown(session)
            : Refusal.INDETERMINATE.error(
                "the node of session %s does not answer: the request may have had an effect",
                session);
  }

  private static RefusedException unknown(String session) {
    return Refusal.UNKNOWN_SESSION.error(
        "there is no session '%s': it has ended, or its node has; open another one", session);
  }

  private Future<Object> answerHere(JsonObject request, String poll) {
    try {
      String id = JsonFields.neededText(request, "session");
      PolledConsumer session = sessions.get(id);
      if (session == null
          || !session.options().getGroup().equals(JsonFields.neededText(request, "group"))) {
        throw unknown(id);
      }
      session.use(JsonFields.text(request, "user"));
      String action = JsonFields.neededText(request, "action");
      return switch (action) {
        case "messages" -> messages(session, request, poll);
        case "results" -> results(session, request);
        case "abandon" -> {
          onlyFields(request);
          if (poll == null) {
            throw JsonFields.invalid("the header '" + Frames.POLL + "' must name a request");
          }
          session.abandon(poll);
          yield Future.succeededFuture(new JsonObject().put("session", id));
        }
        case "extend" -> {
          onlyFields(request);
          yield Future.succeededFuture(
              new JsonObject().put("session", id).put("expiresMs", session.expiresMillis()));
        }
        case "close" -> {
          onlyFields(request);
          yield session.close().map(closed -> new JsonObject().put("session", id));
        }
        default ->
            throw JsonFields.invalid(
                "unknown action '"
                    + action
                    + "': use open, messages, results, abandon, extend or close");
      };
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
  }

  private static void onlyFields(JsonObject request, String... more) {
    JsonFields.onlyFields(
        request,
        Stream.concat(Stream.of("action", "user", "group", "session"), Stream.of(more)).toList());
  }

  private Future<Object> open(JsonObject request) {
    JsonFields.onlyFields(request, OPEN_FIELDS);
    if (sessions.size() + opening >= SESSIONS_MAX) {
      throw Refusal.OVERLOADED.error(
          "this node has %d sessions: close some, or open one on another node", SESSIONS_MAX);
    }
    ConsumerOptions options = options(request);
    long expires =
        JsonFields.number(
            request, "expiresMs", EXPIRES_MILLIS, EXPIRES_MILLIS_MIN, EXPIRES_MILLIS_MAX);
    String user = JsonFields.text(request, "user");
    String id = gateway + "." + UUID.randomUUID().toString().replace("-", "");
    opening++;
    Promise<Object> opened = Promise.promise();
    // On an event loop of its own: this one answers requests.
    EventLoops.forHandlers(vertx)
        .runOnContext(
            none ->
                client.stream(options, Finishing.MANUAL)
                    .onComplete(
                        done ->
                            context.runOnContext(
                                back -> {
                                  opening--;
                                  if (done.failed()) {
                                    opened.fail(done.cause());
                                    return;
                                  }
                                  if (stopped) {
                                    opened.fail(stopping());
                                    done.result().close();
                                    return;
                                  }
                                  PolledConsumer session =
                                      new PolledConsumer(
                                          vertx,
                                          done.result(),
                                          options,
                                          user,
                                          expires,
                                          () -> sessions.remove(id));
                                  sessions.put(id, session);
                                  opened.complete(
                                      new JsonObject()
                                          .put("session", id)
                                          .put("member", session.member())
                                          .put("expiresMs", expires));
                                })));
    return opened.future();
  }

  private static RefusedException stopping() {
    return Refusal.UNAVAILABLE.error("this node stops: open the session on another node");
  }

  private static ConsumerOptions options(JsonObject request) {
    JsonArray topics = JsonFields.arrayField(request, "topics");
    if (topics == null || topics.isEmpty() || !topics.stream().allMatch(String.class::isInstance)) {
      throw JsonFields.invalid("the field 'topics' must be an array of names, at least one");
    }
    if ("broadcast".equals(request.getValue("mode"))) {
      throw JsonFields.invalid(
          "mode broadcast keeps its offsets in a directory of the consumer: a session has none");
    }
    JsonObject json = new JsonObject().put("group", request.getValue("group"));
    for (String name : OPTIONS) {
      if (request.getValue(name) != null) {
        json.put(name, request.getValue(name));
      }
    }
    if (!json.containsKey("parallel")) {
      json.put("parallel", PARALLEL);
    }
    ConsumerOptions options = new ConsumerOptions(json);
    Object from = request.getValue("from");
    if (from != null) {
      options.setStart(StartAt.parse(from.toString()));
    }
    return options;
  }

  private static Future<Object> messages(PolledConsumer session, JsonObject request, String poll) {
    onlyFields(request, "max", "waitMs", "again");
    int max = (int) JsonFields.number(request, "max", MESSAGES_DEFAULT, 1, MESSAGES_MAX);
    long wait = JsonFields.number(request, "waitMs", WAIT_MILLIS_MAX, 0, WAIT_MILLIS_MAX);
    return session
        .poll(poll, max, wait, JsonFields.flag(request, "again"))
        .map(
            given -> {
              JsonArray messages = new JsonArray();
              given.forEach(delivery -> messages.add(json(delivery)));
              return new JsonObject().put("messages", messages);
            });
  }

  private static JsonObject json(Delivery delivery) {
    Message message = delivery.message();
    JsonObject json =
        new JsonObject()
            .put("topic", delivery.topic())
            .put("shard", delivery.shard())
            .put("offset", delivery.offset())
            .put("epoch", delivery.epoch());
    TextOrBase64.put(json, "key", message.key());
    JsonObject headers = new JsonObject();
    message.headers().forEach((name, value) -> headers.put(name, TextOrBase64.value(value)));
    json.put("headers", headers);
    TextOrBase64.put(json, "payload", message.payload());
    json.put("attempt", delivery.attempt()).put("timestamp", message.timestampMillis());
    MessagesApi.put(json, delivery.logPosition());
    return json;
  }

  private static Future<Object> results(PolledConsumer session, JsonObject request) {
    onlyFields(request, "done", "failed");
    JsonArray done = JsonFields.arrayField(request, "done");
    JsonArray failed = JsonFields.arrayField(request, "failed");
    if (done == null && failed == null) {
      throw JsonFields.invalid("give 'done' or 'failed', or both");
    }
    JsonArray refused = new JsonArray();
    for (JsonObject each : objects(done)) {
      JsonFields.onlyFields(each, PLACE);
      settle(session, each, refused, session::done);
    }
    for (JsonObject each : objects(failed)) {
      JsonFields.onlyFields(each, FAILED);
      String error = JsonFields.text(each, "error");
      String shown = error == null ? "the consumer gave no reason" : error;
      settle(
          session,
          each,
          refused,
          delivery ->
              session.failed(
                  delivery, shown.substring(0, Math.min(ERROR_CHARS_MAX, shown.length()))));
    }
    return Future.succeededFuture(new JsonObject().put("refused", refused));
  }

  private static List<JsonObject> objects(JsonArray array) {
    if (array == null) {
      return List.of();
    }
    if (!array.stream().allMatch(JsonObject.class::isInstance)) {
      throw JsonFields.invalid(
          "'done' and 'failed' have entries like"
              + " {\"topic\":\"orders\",\"shard\":2,\"offset\":17,\"epoch\":4}");
    }
    return array.stream().map(JsonObject.class::cast).toList();
  }

  private static void settle(
      PolledConsumer session, JsonObject named, JsonArray refused, Consumer<Delivery> end) {
    try {
      end.accept(
          session.given(
              JsonFields.neededText(named, "topic"),
              (int) needed(named, "shard", Integer.MAX_VALUE),
              needed(named, "offset", Long.MAX_VALUE),
              needed(named, "epoch", Long.MAX_VALUE)));
    } catch (RefusedException e) {
      if (e.refusal() != Refusal.FENCED) {
        throw e;
      }
      refused.add(
          new JsonObject()
              .put("topic", named.getValue("topic"))
              .put("shard", named.getValue("shard"))
              .put("offset", named.getValue("offset"))
              .put("epoch", named.getValue("epoch"))
              .put("reason", e.refusal().name()));
    }
  }

  private static long needed(JsonObject json, String field, long max) {
    if (json.getValue(field) == null) {
      throw JsonFields.invalid("the field '" + field + "' is missing");
    }
    return JsonFields.number(json, field, -1, 0, max);
  }
}
