package dev.evenkeel.gateway;

import dev.evenkeel.api.AbandonPoll;
import dev.evenkeel.api.AbandonPoll.AbandonedPoll;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.CloseSession.ClosedSession;
import dev.evenkeel.api.ExtendSession.ExtendedSession;
import dev.evenkeel.api.GiveResults;
import dev.evenkeel.api.GiveResults.Failed;
import dev.evenkeel.api.GiveResults.Place;
import dev.evenkeel.api.GiveResults.Refused;
import dev.evenkeel.api.GiveResults.RefusedResults;
import dev.evenkeel.api.InSession;
import dev.evenkeel.api.OpenSession;
import dev.evenkeel.api.OpenSession.OpenedSession;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PollMessages;
import dev.evenkeel.api.PollMessages.PolledMessages;
import dev.evenkeel.api.PolledMessageView;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.LogPosition;
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
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Answers {@code evenkeel.api.sessions}: members of groups for programs that do not use the client
 * library. A session lives in the gateway that opened it; the others pass its requests on.
 */
final class SessionsApi {
  /** Most sessions of a gateway. */
  static final int SESSIONS_MAX = 1_000;

  private static final long FORWARD_MILLIS = 28_000;

  /** Longest text of a failure that is kept. */
  private static final int ERROR_CHARS_MAX = 4_000;

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
    String session = request.getValue("session") instanceof String id ? id : "";
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
      return new ApiAnswers()
          .on(Operations.OPEN_SESSION, this::open)
          .on(Operations.POLL_MESSAGES, asked -> poll(asked, poll))
          .on(Operations.GIVE_RESULTS, this::results)
          .on(Operations.ABANDON_POLL, asked -> abandon(asked, poll))
          .on(
              Operations.EXTEND_SESSION,
              asked ->
                  Future.succeededFuture(
                      new ExtendedSession(
                          asked.in().session(), session(asked.in()).expiresMillis())))
          .on(
              Operations.CLOSE_SESSION,
              asked ->
                  session(asked.in())
                      .close()
                      .map(closed -> new ClosedSession(asked.in().session())))
          .answer(ApiAddresses.SESSIONS, request);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
  }

  private PolledConsumer session(InSession in) {
    PolledConsumer session = sessions.get(in.session());
    if (session == null || !session.options().getGroup().equals(in.group())) {
      throw unknown(in.session());
    }
    session.use(in.user());
    return session;
  }

  private Future<AbandonedPoll> abandon(AbandonPoll asked, String poll) {
    PolledConsumer session = session(asked.in());
    if (poll == null) {
      throw Refusal.INVALID.error("the header '%s' must name a request", Frames.POLL);
    }
    session.abandon(poll);
    return Future.succeededFuture(new AbandonedPoll(asked.in().session()));
  }

  private Future<OpenedSession> open(OpenSession asked) {
    if (sessions.size() + opening >= SESSIONS_MAX) {
      throw Refusal.OVERLOADED.error(
          "this node has %d sessions: close some, or open one on another node", SESSIONS_MAX);
    }
    ConsumerOptions options = options(asked);
    String id = gateway + "." + UUID.randomUUID().toString().replace("-", "");
    opening++;
    Promise<OpenedSession> opened = Promise.promise();
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
                                          asked.user(),
                                          asked.expiresMs(),
                                          () -> sessions.remove(id));
                                  sessions.put(id, session);
                                  opened.complete(
                                      new OpenedSession(id, session.member(), asked.expiresMs()));
                                })));
    return opened.future();
  }

  private static RefusedException stopping() {
    return Refusal.UNAVAILABLE.error("this node stops: open the session on another node");
  }

  private static ConsumerOptions options(OpenSession asked) {
    if (asked.mode().equals("broadcast")) {
      throw Refusal.INVALID.error(
          "mode broadcast keeps its offsets in a directory of the consumer: a session has none");
    }
    JsonObject options = RecordJson.of(OpenSession.class).write(asked);
    List.of("from", "expiresMs", "user").forEach(options::remove);
    return new ConsumerOptions(options).setStart(StartAt.parse(asked.from()));
  }

  private Future<PolledMessages> poll(PollMessages asked, String poll) {
    return session(asked.in())
        .poll(poll, asked.max(), asked.waitMs(), asked.again())
        .map(given -> new PolledMessages(given.stream().map(SessionsApi::view).toList()));
  }

  private static PolledMessageView view(Delivery delivery) {
    Message message = delivery.message();
    LogPosition log = delivery.logPosition();
    return new PolledMessageView(
        delivery.topic(),
        delivery.shard(),
        delivery.offset(),
        delivery.epoch(),
        TextOrBytes.of(message.key()),
        TextOrBytes.of(message.headers()),
        TextOrBytes.of(message.payload()),
        delivery.attempt(),
        message.timestampMillis(),
        log == null ? null : log.groupName(),
        log == null ? null : (Long) log.index());
  }

  private Future<RefusedResults> results(GiveResults asked) {
    PolledConsumer session = session(asked.in());
    if (asked.done() == null && asked.failed() == null) {
      throw Refusal.INVALID.error("give 'done' or 'failed', or both");
    }
    List<Refused> refused = new ArrayList<>();
    for (Place each : orNone(asked.done())) {
      settle(session, each, refused, session::done);
    }
    for (Failed each : orNone(asked.failed())) {
      String shown = each.error() == null ? "the consumer gave no reason" : each.error();
      settle(
          session,
          each.place(),
          refused,
          delivery ->
              session.failed(
                  delivery, shown.substring(0, Math.min(ERROR_CHARS_MAX, shown.length()))));
    }
    return Future.succeededFuture(new RefusedResults(refused));
  }

  private static <T> List<T> orNone(List<T> list) {
    return list == null ? List.of() : list;
  }

  private static void settle(
      PolledConsumer session, Place place, List<Refused> refused, Consumer<Delivery> end) {
    try {
      end.accept(session.given(place.topic(), place.shard(), place.offset(), place.epoch()));
    } catch (RefusedException e) {
      if (e.refusal() != Refusal.FENCED) {
        throw e;
      }
      refused.add(new Refused(place, e.refusal().name()));
    }
  }
}
