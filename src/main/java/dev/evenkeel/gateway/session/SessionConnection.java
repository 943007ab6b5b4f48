package dev.evenkeel.gateway.session;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.HeavyWork;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.gateway.access.PrincipalQuota;
import dev.evenkeel.gateway.access.SessionRules;
import dev.evenkeel.gateway.session.SessionAddresses.Answerer;
import dev.evenkeel.gateway.session.Sessions.Session;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node's side of one connection at the client port. It is used on the context of its socket
 * only.
 *
 * <pre>
 * HELLO   the client has not said HELLO: it has {@code handshakeMillisMax}, then → CLOSED
 *         HELLO fits → OPEN; anything else → CLOSED
 * OPEN    requests, listening, pushes; silence, a malformed frame or GOODBYE → CLOSED
 * CLOSED  nothing is taken or sent; the socket closes
 * </pre>
 */
final class SessionConnection {
  private static final Logger LOG = LoggerFactory.getLogger(SessionConnection.class);

  /** As the audit log calls it. */
  private static final String VIA = "session";

  /** A request that names a longer timeout gets this one. */
  private static final long TIMEOUT_MILLIS_MAX = 600_000;

  /** Answers from this size on count as in flight until they are sent. */
  private static final int LARGE_ANSWER_BYTES = 16 << 10;

  private static final int QUESTION_BYTES_MAX = 2_048;

  /** How long the socket may take to send the last frames. */
  private static final long CLOSE_MILLIS_MAX = 1_000;

  private enum State {
    HELLO,
    OPEN,
    CLOSED
  }

  private final SessionListener listener;
  private final SessionPort port;
  private final FrameSocket socket;
  private final Pushes pushes;

  /** Event-bus consumers on behalf of the client, by their addresses. */
  private final Map<String, MessageConsumer<Object>> consumers = new HashMap<>(2);

  /** Counts them; null: there was none yet. */
  private FairShare.Account listening;

  /** The span that the request with {@link #tracedCorrelation} belongs to; or null. */
  private String traceparent;

  private int tracedCorrelation;

  private State state = State.HELLO;

  /** Null until HELLO. */
  private Session session;

  private int answerBytesMax;

  /** Null until HELLO. */
  private Caller caller;

  /** When the state or, if OPEN, the last bytes came. */
  private long sinceMillis;

  /** By which brokers tell it from others. */
  private final String name;

  /** Requests without an answer that may wait for messages. */
  private int fetches;

  /** How many bytes had come by then. */
  private long bytesReceived;

  /** Whether the client does not read, so that nothing is read from it. */
  private boolean held;

  /** Whether a large question is parsed, so that nothing is read from the client. */
  private boolean parsing;

  /** Requests that had come with it. */
  private final Deque<SessionFrame> waiting = new ArrayDeque<>(0);

  /** While held: when the last bytes went out. */
  private long progressMillis;

  SessionConnection(SessionListener listener, SessionPort port, FrameSocket socket) {
    this.listener = listener;
    this.port = port;
    this.socket = socket;
    pushes = new Pushes(this, port);
    name = port.node() + '.' + Long.toUnsignedString(new SplittableRandom().nextLong(), 36);
    sinceMillis = listener.nowMillis();
    socket.onFrame(this::received);
    socket.onFailure(this::failed);
    socket.onDrain(none -> drained());
    socket.onClose(none -> closed());
  }

  long nowMillis() {
    return listener.nowMillis();
  }

  /** Whether frames wait because the client does not read. */
  boolean held() {
    return held;
  }

  private void received(SessionFrame frame) {
    if (state == State.CLOSED) {
      return;
    }
    if (parsing && (frame.kind() == FrameKind.REQUEST || frame.kind() == FrameKind.TRACE)) {
      waiting.add(frame);
      return;
    }
    port.meters().bytesReceived.add(SessionFrame.HEAD_BYTES + frame.body().length());
    try {
      if (state == State.HELLO) {
        hello(frame);
      } else {
        handle(frame);
      }
    } catch (RefusedException e) {
      end(CloseReason.PROTOCOL, e.getMessage());
    }
  }

  private void hello(SessionFrame frame) {
    if (frame.kind() != FrameKind.HELLO) {
      throw Refusal.INVALID.error("the first frame is %s: it must be HELLO", frame.kind());
    }
    Hello hello = Handshake.check(frame.body(), port.clusterName());
    caller = port.access().caller(hello.token(), socket.sslSession());
    if (!caller.needsCheck()) {
      welcome(hello);
      return;
    }
    socket.pause();
    caller
        .check(Strangers.source(socket.remoteAddress()))
        .onComplete(
            done -> {
              if (state == State.HELLO) {
                socket.resume();
                welcome(hello);
              }
            });
  }

  private void welcome(Hello hello) {
    Principal principal;
    try {
      principal = caller.principal();
    } catch (RefusedException e) {
      unauthenticated(e);
      return;
    }
    answerBytesMax =
        Math.max(
            port.limits().get(SessionOptions.BODY_BYTES_MAX),
            Math.min(hello.answerBytesMax(), Hello.ANSWER_BYTES_MAX));
    try {
      session = port.sessions().welcomed(hello.session(), principal.name());
    } catch (Limit.Reached e) {
      // No REFUSAL: a client would take its token for wrong.
      port.meters().refused(e);
      end(CloseReason.LIMIT, e.getMessage());
      return;
    }
    socket.room(session.room());
    port.strangers().left(this);
    state = State.OPEN;
    sinceMillis = listener.nowMillis();
    socket.bodyBytesMax(port.limits().get(SessionOptions.BODY_BYTES_MAX));
    send(FrameKind.WELCOME, 0, port.welcome().get().to(principal.name()).toJson().toBuffer());
  }

  private void unauthenticated(RefusedException refused) {
    port.access().audit().denied(null, socket.remoteHost(), VIA, "connect", refused.words());
    if (refused.refusal().retriable()) {
      // Nobody knows yet who it is: with this reason, the client tries again.
      port.meters().refused(refused);
      end(CloseReason.LIMIT, refused.getMessage());
      return;
    }
    send(FrameKind.REFUSAL, 0, SessionFrame.refusal(refused.refusal(), refused.getMessage()));
    end(CloseReason.UNAUTHENTICATED, refused.getMessage());
  }

  private void handle(SessionFrame frame) {
    switch (frame.kind()) {
      case REQUEST -> request(frame);
      case LISTEN -> listen(frame.correlation(), frame.address());
      case UNLISTEN -> unlisten(frame.address());
      case PUSH_ANSWER -> pushes.answered(frame.correlation(), frame.body());
      case PING -> send(FrameKind.PONG, frame.correlation());
      case PONG -> {}
      case GOODBYE -> end(CloseReason.CLIENT, null);
      case TRACE -> trace(frame);
      case HELLO, WELCOME, ANSWER, REFUSAL, PUSH ->
          throw Refusal.INVALID.error(
              "a client cannot send %s on an open connection", frame.kind());
    }
  }

  // ---- requests ----

  private void request(SessionFrame frame) {
    Principal principal = principal();
    if (principal == null) {
      return;
    }
    Asked asked =
        new Asked(
            principal,
            frame.correlation(),
            frame.address(),
            frame.requestBody(),
            frame.body().length(),
            Math.max(1, Math.min(frame.timeoutMillis(), TIMEOUT_MILLIS_MAX)),
            takeTraceparent(frame.correlation()),
            null,
            null);
    port.meters().requests.increment();
    Answerer answerer;
    try {
      if (SessionAddresses.isApi(asked.address)) {
        JsonSize.check(asked.address, asked.body);
        if (asked.body.length() > JsonSize.HEAVY_BYTES) {
          parse(asked);
          return;
        }
      }
      answerer = port.addresses().answerer(principal, session.id(), asked.address, asked.body);
      String act =
          principal.bound() ? port.addresses().rules().act(asked.address, asked.body) : null;
      asked = act == null ? asked : asked.acting(act);
      count(asked.address, asked.bytes);
    } catch (RefusedException e) {
      denied(principal, asked.address, e);
      refuse(asked.correlation, e);
      return;
    }
    request(asked, answerer);
  }

  /**
   * A request of the client.
   *
   * @param bytes of the whole frame
   * @param traceparent its span, or null
   * @param json the body of a large question, which was parsed; else null
   * @param act what it changes for others beside questions, for the audit log; null: nothing
   */
  private record Asked(
      Principal principal,
      int correlation,
      String address,
      Buffer body,
      int bytes,
      long timeoutMillis,
      String traceparent,
      JsonObject json,
      String act) {
    Asked parsed(JsonObject question) {
      return new Asked(
          principal, correlation, address, body, bytes, timeoutMillis, traceparent, question, act);
    }

    Asked acting(String words) {
      return new Asked(
          principal, correlation, address, body, bytes, timeoutMillis, traceparent, json, words);
    }
  }

  /**
   * Parses a large question on another thread. Until that is done, nothing more is read from the
   * client, so its requests keep their order.
   */
  private void parse(Asked asked) {
    count(asked.address, asked.bytes);
    parsing = true;
    socket.pause();
    HeavyWork.of(port.vertx())
        .run(
            asked.principal.name(),
            asked.body.length(),
            () -> SessionRules.api(asked.principal, asked.address, asked.body))
        .onComplete(done -> parsed(asked, done));
  }

  private void parsed(Asked asked, AsyncResult<JsonObject> question) {
    parsing = false;
    if (state != State.OPEN) {
      countDone(asked.address, asked.bytes);
      return;
    }
    if (question.succeeded()) {
      request(asked.parsed(question.result()), Answerer.HERE);
    } else {
      RefusedException refused = RefusedException.of(question.cause());
      countDone(asked.address, asked.bytes);
      denied(asked.principal, asked.address, refused);
      refuse(asked.correlation, refused);
    }
    while (!parsing && state == State.OPEN && !waiting.isEmpty()) {
      received(waiting.remove());
    }
    if (!parsing && !held) {
      sinceMillis = listener.nowMillis();
      socket.resume();
    }
  }

  /** The request was counted and may be passed on. */
  private void request(Asked asked, Answerer answerer) {
    Principal principal = asked.principal;
    String address = asked.address;
    DeliveryOptions options =
        asked.json == null
            ? FrameCodec.options(asked.body, asked.timeoutMillis)
            : new DeliveryOptions().setSendTimeout(asked.timeoutMillis);
    if (SessionAddresses.namesSender(address)) {
      options.addHeader(Frames.SESSION, session.id());
    }
    boolean broker = SessionAddresses.isBroker(address);
    boolean namesUser = SessionAddresses.namesUser(address);
    if (broker) {
      options.addHeader(Frames.CONNECTION, name);
    }
    if (principal.bound() && (namesUser || broker || SessionAddresses.isApi(address))) {
      options.addHeader(Frames.USER, principal.name());
      if (namesUser && SessionAddresses.isDispatcher(address)) {
        options.addHeader(Frames.MAY_CONSUME, String.join(",", principal.topicsToConsume()));
      }
    }
    if (asked.traceparent != null) {
      options.addHeader(Frames.TRACEPARENT, asked.traceparent);
    }
    if (answerer == Answerer.ELSEWHERE) {
      port.meters().relayed.increment();
    } else {
      options.setLocalOnly(true);
    }
    PrincipalQuota.Turn turn =
        asked.json == null
            ? PrincipalQuota.turn(port.vertx(), principal, address, asked.body)
            : address.equals(ApiAddresses.PRODUCE)
                ? PrincipalQuota.turn(port.vertx(), principal, asked.json)
                : null;
    if (turn == null) {
      pass(asked, options);
      return;
    }
    turn.come()
        .onComplete(
            done -> {
              if (done.succeeded() && state == State.OPEN) {
                pass(asked, options)
                    .onSuccess(answer -> turn.answered(answer.body()))
                    .onFailure(turn::failed);
                return;
              }
              countDone(address, asked.bytes);
              if (state == State.OPEN) {
                refuse(asked.correlation, RefusedException.of(done.cause()));
              }
            });
  }

  /** A question whether the session is alive must not fail because the session is busy. */
  private static boolean isQuestion(String address, int bytes) {
    return bytes <= QUESTION_BYTES_MAX && address.equals(Addresses.DEDUP_HEARD);
  }

  private void count(String address, int bytes) {
    if (isQuestion(address, bytes)) {
      session.question();
    } else {
      session.request(bytes);
    }
  }

  private void countDone(String address, int bytes) {
    if (isQuestion(address, bytes)) {
      session.questionDone();
    } else {
      session.requestDone(bytes);
    }
  }

  private void trace(SessionFrame frame) {
    if (port.spans() != null) {
      traceparent = RequestSpans.traceparent(frame.body());
      tracedCorrelation = frame.correlation();
    }
  }

  /** The span of the request that has come, or null. */
  private String takeTraceparent(int correlation) {
    String named = traceparent;
    traceparent = null;
    return tracedCorrelation == correlation ? named : null;
  }

  /** Passes a request on to whoever answers. */
  private Future<Message<Object>> pass(Asked asked, DeliveryOptions options) {
    String address = asked.address;
    Buffer body = asked.body;
    Object question =
        asked.json != null
            ? asked.json
            : address.equals(Addresses.VIEW)
                ? SessionRules.viewQuestion(asked.principal, body)
                : body;
    boolean fetch = SessionAddresses.mayWait(address, body);
    fetches += fetch ? 1 : 0;
    Supplier<Future<Message<Object>>> request =
        () -> port.vertx().eventBus().request(address, question, options);
    return (port.spans() == null ? request.get() : port.spans().of(address, body, options, request))
        .onComplete(
            done -> {
              countDone(address, asked.bytes);
              fetches -= fetch ? 1 : 0;
              audit(asked, done);
              if (state == State.OPEN) {
                answer(asked.correlation, address, done, given -> shown(asked, given));
              }
            });
  }

  private void denied(Principal principal, String address, RefusedException refused) {
    if (refused.refusal() == Refusal.FORBIDDEN) {
      port.access()
          .audit()
          .denied(principal.name(), socket.remoteHost(), VIA, address, refused.words());
    }
  }

  /** Notes an administrative act. */
  private void audit(Asked asked, AsyncResult<Message<Object>> done) {
    String act = asked.act;
    if (SessionAddresses.ofSettings(asked.address)) {
      JsonObject question = question(asked);
      boolean changes = question != null && ApiRules.changes(asked.address, question);
      act = changes ? ApiRules.words(asked.address, question) : null;
    }
    if (act != null) {
      String failure = done.succeeded() ? null : done.cause().getMessage();
      port.access().audit().acted(asked.principal.name(), socket.remoteHost(), VIA, act, failure);
    }
  }

  /** The question to an API address; null: it is not JSON, and had no effect. */
  private static JsonObject question(Asked asked) {
    try {
      return asked.json == null ? new JsonObject(asked.body) : asked.json;
    } catch (DecodeException | ClassCastException e) {
      return null;
    }
  }

  private Buffer shown(Asked asked, Buffer answer) {
    if (asked.address.equals(Addresses.VIEW)) {
      return port.addresses().rules().visibleView(asked.principal, answer);
    }
    Buffer visible =
        SessionAddresses.visible(asked.principal, asked.address, () -> question(asked), answer);
    return port.addresses().rules().owned(asked.principal, asked.address, asked.body, visible);
  }

  /** A large question is passed on as JSON, and is answered so. */
  private static Buffer buffer(Object answer) {
    return answer instanceof JsonObject || answer instanceof JsonArray
        ? Json.encodeToBuffer(answer)
        : VertxLink.buffer(answer);
  }

  private void answer(
      int correlation,
      String address,
      AsyncResult<Message<Object>> done,
      UnaryOperator<Buffer> visible) {
    if (done.failed()) {
      refuse(correlation, VertxLink.refusal(address, done.cause()));
      return;
    }
    Buffer answer = visible.apply(buffer(done.result().body()));
    int bytes = answer.length();
    if (bytes < LARGE_ANSWER_BYTES) {
      send(FrameKind.ANSWER, correlation, answer);
    } else if (bytes > answerBytesMax) {
      refuse(
          correlation,
          Refusal.TOO_LARGE.error(
              "an answer of %s bytes: at most %s are possible; ask for less at once",
              bytes, answerBytesMax));
    } else {
      answerLarge(correlation, answer);
    }
  }

  private void answerLarge(int correlation, Buffer answer) {
    int bytes = answer.length();
    try {
      session.take(bytes);
    } catch (RefusedException e) {
      port.meters().refused(e);
      refuse(
          correlation,
          Refusal.INDETERMINATE.error(
              "an answer of %s bytes was dropped: %s", bytes, e.getMessage()));
      return;
    }
    send(FrameKind.ANSWER, correlation, answer).onComplete(sent -> session.give(bytes));
  }

  private void refuse(int correlation, RefusedException refused) {
    port.meters().refused(refused);
    send(
        FrameKind.REFUSAL,
        correlation,
        SessionFrame.refusal(refused.refusal(), refused.getMessage()));
  }

  // ---- listening ----

  private void listen(int correlation, String address) {
    try {
      Principal principal = principal();
      if (principal == null) {
        return;
      }
      SessionAddresses.checkListening(principal, address, session.id());
      if (SessionAddresses.SHARED.contains(address)) {
        listener.listen(address, this);
        send(FrameKind.ANSWER, correlation);
        return;
      }
      MessageConsumer<Object> consumer = consumer(principal, address);
      consumer
          .completion()
          .onComplete(
              done -> {
                if (state != State.OPEN) {
                  return;
                }
                if (done.succeeded()) {
                  send(FrameKind.ANSWER, correlation);
                } else {
                  if (consumers.remove(address, consumer)) {
                    listening.give(1);
                  }
                  refuse(
                      correlation,
                      Refusal.UNAVAILABLE.error(
                          "node %s cannot listen at '%s': %s", port.node(), address, done.cause()));
                }
              });
    } catch (RefusedException e) {
      refuse(correlation, e);
    }
  }

  private MessageConsumer<Object> consumer(Principal principal, String address) {
    MessageConsumer<Object> present = consumers.get(address);
    if (present != null) {
      return present;
    }
    if (consumers.size() >= port.limits().get(SessionOptions.LISTENING_MAX)) {
      throw Limit.LISTENING.reached(
          "this connection listens at %s addresses",
          port.limits().get(SessionOptions.LISTENING_MAX));
    }
    if (consumers.isEmpty()) {
      // A token that is another user's now counts for the former one until then.
      listening = port.listening().of(principal.name());
    }
    if (!listening.tryTake(1)) {
      throw Limit.LISTENING.reached(listening.refusal());
    }
    Buffer head = SessionFrame.addressed(address);
    MessageConsumer<Object> made =
        port.vertx()
            .eventBus()
            .consumer(
                address,
                message ->
                    push(
                        head,
                        VertxLink.buffer(message.body()),
                        message.replyAddress() == null ? null : message));
    consumers.put(address, made);
    return made;
  }

  private void unlisten(String address) {
    listener.unlisten(address, this);
    MessageConsumer<Object> consumer = consumers.remove(address);
    if (consumer != null) {
      listening.give(1);
      consumer.unregister();
    }
  }

  /**
   * Pushes a message to the client.
   *
   * @param address as the beginning of a frame
   * @param asked the message if its sender wants an answer, else null
   */
  void push(Buffer address, Buffer body, Message<?> asked) {
    if (state == State.OPEN && !pushes.push(address, body, asked)) {
      cutOff("it reads no pushes");
    }
  }

  // ---- sending ----

  Future<Void> send(FrameKind kind, int correlation, Buffer... parts) {
    Future<Void> sent = socket.send(kind, correlation, parts);
    int bytes = SessionFrame.HEAD_BYTES;
    for (Buffer part : parts) {
      bytes += part.length();
    }
    port.meters().bytesSent.add(bytes);
    if (socket.writeQueueFull()) {
      hold();
      sent.onComplete(done -> progressMillis = listener.nowMillis());
    }
    return sent;
  }

  /** Until the client reads, its requests are not read, so that no more answers come up. */
  private void hold() {
    if (!held) {
      held = true;
      progressMillis = listener.nowMillis();
      socket.pause();
    }
  }

  private void drained() {
    if (held) {
      held = false;
      sinceMillis = listener.nowMillis();
      pushes.drained();
      if (!held && !parsing) {
        socket.resume();
      }
    }
  }

  // ---- the end ----

  /** Checks the deadlines. */
  void tick(long nowMillis) {
    switch (state) {
      case HELLO -> {
        if (nowMillis - sinceMillis > port.limits().get(SessionOptions.HANDSHAKE_MILLIS_MAX)) {
          end(
              CloseReason.HANDSHAKE,
              "no HELLO within "
                  + port.limits().get(SessionOptions.HANDSHAKE_MILLIS_MAX)
                  + " ms: send it first");
        }
      }
      case OPEN -> {
        pushes.expire(nowMillis);
        if (socket.bytesReceived() != bytesReceived) {
          bytesReceived = socket.bytesReceived();
          sinceMillis = nowMillis;
        }
        if (principal() == null) {
          return;
        }
        long silenceMillisMax = port.limits().silenceMillisMax();
        if (held) {
          if (nowMillis - progressMillis > silenceMillisMax) {
            cutOff("it has taken no bytes for " + silenceMillisMax + " ms");
          }
        } else if (!parsing && nowMillis - sinceMillis > silenceMillisMax) {
          end(
              CloseReason.SILENT,
              "nothing came within %s ms: send at least a PING every %s ms"
                  .formatted(
                      silenceMillisMax, port.limits().get(SessionOptions.KEEP_ALIVE_MILLIS)));
        }
      }
      case CLOSED -> {
        if (nowMillis - sinceMillis > CLOSE_MILLIS_MAX) {
          socket.abort();
        }
      }
    }
  }

  /** The client's user as it is now. If there is none any more, ends the connection: null. */
  private Principal principal() {
    try {
      return caller.principal();
    } catch (RefusedException e) {
      end(CloseReason.UNAUTHENTICATED, e.getMessage());
      return null;
    }
  }

  private void failed(Throwable failure) {
    if (failure instanceof RefusedException malformed && state != State.CLOSED) {
      port.meters().refused(malformed);
      boolean limited = malformed instanceof Limit.Reached;
      end(limited ? CloseReason.LIMIT : CloseReason.PROTOCOL, malformed.getMessage());
    }
    // Anything else closes the socket.
  }

  /** It has not said HELLO, and others come. From any thread. */
  void makeRoom() {
    listener.later(
        () -> {
          if (state == State.HELLO) {
            RefusedException full =
                Limit.HALF_OPEN.reached(
                    "%s connections to this node have not said HELLO yet",
                    port.limits().get(SessionOptions.HALF_OPEN_MAX));
            port.meters().refused(full);
            end(CloseReason.LIMIT, full.getMessage());
          }
        });
  }

  /** The node stops. */
  void stop() {
    end(CloseReason.STOPPING, "this node is stopping");
  }

  /** Ends the connection of a client that does not read, so that it gets no GOODBYE either. */
  private void cutOff(String why) {
    if (state == State.OPEN) {
      LOG.warn(
          "the connection of session {} from {} is closed: {}", session.id(), socket.remote(), why);
      release(CloseReason.NOT_READING);
      socket.abort();
    }
  }

  /**
   * @param goodbye null: says nothing
   */
  private void end(CloseReason reason, String goodbye) {
    if (state == State.CLOSED) {
      return;
    }
    release(reason);
    if (goodbye != null) {
      LOG.debug("the connection from {} is closed: {}", socket.remote(), goodbye);
      send(FrameKind.GOODBYE, 0, Buffer.buffer(goodbye));
    }
    socket.close();
  }

  private void closed() {
    listener.forget(this);
    if (state != State.CLOSED) {
      release(CloseReason.CLIENT);
    }
  }

  private void release(CloseReason reason) {
    port.strangers().left(this);
    state = State.CLOSED;
    sinceMillis = listener.nowMillis();
    port.meters().closed(reason);
    consumers.values().forEach(MessageConsumer::unregister);
    if (listening != null) {
      listening.give(consumers.size());
    }
    consumers.clear();
    waiting.clear();
    SessionAddresses.SHARED.forEach(address -> listener.unlisten(address, this));
    pushes.end();
    if (fetches > 0) {
      port.vertx().eventBus().publish(Addresses.CONNECTIONS_ENDED, Buffer.buffer(name));
    }
    if (session == null) {
      port.sessions().left();
    } else if (port.sessions().left(session) && reason == CloseReason.CLIENT) {
      port.vertx()
          .eventBus()
          .publish(
              Addresses.SESSIONS_ENDED,
              new JsonObject().put("session", session.id()).put("node", port.node()));
    }
  }
}
