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
import dev.evenkeel.api.Need;
import dev.evenkeel.api.OpenSession;
import dev.evenkeel.api.OpenSession.OpenedSession;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PollMessages;
import dev.evenkeel.api.PollMessages.PolledMessages;
import dev.evenkeel.api.PolledMessageView;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.client.internal.member.AddressHandler;
import dev.evenkeel.client.internal.member.AddressOptions;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Answers {@code evenkeel.api.sessions}: members of groups for programs that do not use the client
 * library. A session lives in the gateway that opened it; the others pass its requests on.
 */
final class SessionsApi {
  /** Most sessions of a gateway. */
  static final int SESSIONS_MAX = 1_000;

  /** Longest text of a failure that is kept. */
  private static final int ERROR_CHARS_MAX = 4_000;

  private final Vertx vertx;
  private final EvenkeelClient client;
  private final OwnedByGateway<MemberSession> sessions;
  private final SessionRoom room;

  SessionsApi(Vertx vertx, EvenkeelClient client) {
    this.vertx = vertx;
    this.client = client;
    room = new SessionRoom(vertx);
    sessions =
        new OwnedByGateway<>(vertx, "session", Scarce.SESSIONS, SESSIONS_MAX, this::answerHere);
  }

  Future<Void> start() {
    return sessions.start();
  }

  /** Ends all sessions, which release their shards. Those that are being opened end at once. */
  Future<Void> stop() {
    return sessions.stop();
  }

  /**
   * @param poll the name of a request for messages, by which it can be abandoned, or of the one
   *     that is to be abandoned; null: none. It is no field, because nodes of former versions
   *     refuse those that they do not know
   */
  Future<Object> answer(JsonObject request, String poll) {
    return sessions.answer(request, poll);
  }

  private Future<Object> answerHere(JsonObject request, String poll) {
    return new ApiAnswers()
        .on(Operations.OPEN_SESSION, this::open)
        .on(Operations.POLL_MESSAGES, asked -> poll(asked, poll))
        .on(Operations.GIVE_RESULTS, this::results)
        .on(Operations.ABANDON_POLL, asked -> abandon(asked, poll))
        .on(
            Operations.EXTEND_SESSION,
            asked ->
                Future.succeededFuture(
                    new ExtendedSession(asked.in().session(), session(asked.in()).expiresMillis())))
        .on(
            Operations.CLOSE_SESSION,
            asked ->
                session(asked.in()).close().map(closed -> new ClosedSession(asked.in().session())))
        .answer(ApiAddresses.SESSIONS, request);
  }

  private MemberSession session(InSession in) {
    MemberSession session =
        sessions.get(in.session(), each -> each.options().getGroup().equals(in.group()));
    session.use(in.user());
    return session;
  }

  /** A session that gets its messages by requests. */
  private PolledConsumer polled(InSession in) {
    MemberSession session = session(in);
    if (session instanceof AddressSession other) {
      throw Refusal.INVALID.error(
          "the node sends the messages of this session to the address '%s': reply there, nobody can"
              + " ask for them or give results",
          other.address());
    }
    return (PolledConsumer) session;
  }

  private Future<AbandonedPoll> abandon(AbandonPoll asked, String poll) {
    PolledConsumer session = polled(asked.in());
    if (poll == null) {
      throw Refusal.INVALID.error("the header '%s' must name a request", Frames.POLL);
    }
    session.abandon(poll);
    return Future.succeededFuture(new AbandonedPoll(asked.in().session()));
  }

  private Future<OpenedSession> open(OpenSession asked) {
    JsonObject json = RecordJson.of(OpenSession.class).write(asked);
    List<Need> needs = Operations.OPEN_SESSION.needs(json);
    AddressOptions address = AddressOptions.takeFrom(json);
    ConsumerOptions options = options(asked, json);
    SessionRoom.Room its = room.take(asked.user());
    its.limit(options);
    Consumer<String> onEnd =
        id -> {
          its.give();
          sessions.ended(id);
        };
    try {
      return open(asked, needs, address, options, onEnd).onFailure(failure -> its.give());
    } catch (RefusedException e) {
      its.give();
      throw e;
    }
  }

  /**
   * @param onEnd gets the id of a session that has ended
   */
  private Future<OpenedSession> open(
      OpenSession asked,
      List<Need> needs,
      AddressOptions address,
      ConsumerOptions options,
      Consumer<String> onEnd) {
    if (address == null) {
      return opened(
          asked.user(),
          () -> ofUser(asked.user()).stream(options, Finishing.MANUAL),
          (stream, id) ->
              new PolledConsumer(
                  vertx, stream, options, asked.user(), asked.expiresMs(), () -> onEnd.accept(id)));
    }
    AddressHandler handler = address.handler(vertx, options);
    return opened(
        asked.user(),
        () -> ofUser(asked.user()).consumer(options, handler),
        (consumer, id) ->
            new AddressSession(
                vertx,
                consumer,
                handler,
                options,
                asked.user(),
                asked.expiresMs(),
                () -> requireAll(needs, asked.user()),
                () -> onEnd.accept(id)));
  }

  /** Members that it starts are the user's. */
  private EvenkeelClient ofUser(String user) {
    return EvenkeelClientImpl.onBehalfOf(client, user);
  }

  /** Refuses a user who may not open such a session any more. */
  private void requireAll(List<Need> needs, String user) {
    Access access = LocalObjects.get(vertx, Access.class);
    if (access != null) {
      needs.forEach(access.named(user)::require);
    }
  }

  private <T> Future<OpenedSession> opened(
      String user, Supplier<Future<T>> join, BiFunction<T, String, MemberSession> make) {
    return sessions
        .open(user, join, make)
        .map(
            opened ->
                new OpenedSession(
                    opened.id(), opened.owned().member(), opened.owned().expiresMillis()));
  }

  private static ConsumerOptions options(OpenSession asked, JsonObject json) {
    if (asked.mode().equals("broadcast")) {
      throw Refusal.INVALID.error(
          "mode broadcast keeps its offsets in a directory of the consumer: a session has none");
    }
    List.of("from", "expiresMs", "user").forEach(json::remove);
    return new ConsumerOptions(json).setStart(StartAt.parse(asked.from()));
  }

  private Future<PolledMessages> poll(PollMessages asked, String poll) {
    return polled(asked.in())
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
    PolledConsumer session = polled(asked.in());
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
