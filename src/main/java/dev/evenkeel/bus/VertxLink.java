package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A link over one clustered Vert.x that somebody else makes and closes: a node, or an application
 * that has its own. When the connection is lost, the link stays lost; the owner of the Vert.x makes
 * another link with another Vert.x.
 */
public final class VertxLink implements Link {
  private final Vertx vertx;
  private final String clusterMember;

  /** On whose behalf it sends requests; null: nobody's. */
  private final String user;

  /** Has the state: this link, or the one from which it was made. */
  private final VertxLink root;

  private final List<Consumer<State>> stateHandlers = new CopyOnWriteArrayList<>();
  private final List<Registration> registrations = new CopyOnWriteArrayList<>();
  private volatile State state = State.CONNECTED;

  /**
   * @param clusterMember id of the member behind {@code vertx}
   */
  public VertxLink(Vertx vertx, String clusterMember) {
    this.vertx = vertx;
    this.clusterMember = clusterMember;
    user = null;
    root = this;
    FrameCodec.register(vertx);
  }

  private VertxLink(VertxLink root, String user) {
    vertx = root.vertx;
    clusterMember = root.clusterMember;
    this.user = user;
    this.root = root;
  }

  /** The same link, whose requests name a user: see {@link #requestFor}. It need not be closed. */
  public VertxLink onBehalfOf(String user) {
    return new VertxLink(root, user);
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    return request(address, body, timeoutMillis, null);
  }

  @Override
  public Future<Buffer> request(
      String address, Buffer body, long timeoutMillis, String traceparent) {
    return request(user, address, body, timeoutMillis, traceparent);
  }

  private Future<Buffer> request(
      String sender, String address, Buffer body, long timeoutMillis, String traceparent) {
    State now = state();
    if (now != State.CONNECTED) {
      return Future.failedFuture(notConnected(now));
    }
    DeliveryOptions options = FrameCodec.options(body, timeoutMillis);
    if (traceparent != null) {
      options.addHeader(Frames.TRACEPARENT, traceparent);
    }
    if (sender != null) {
      options.addHeader(Frames.USER, sender);
    }
    return send(vertx, address, address, body, options);
  }

  @Override
  public Future<Buffer> requestFor(String user, String address, Buffer body, long timeoutMillis) {
    return request(user, address, body, timeoutMillis, null);
  }

  /** The refusal of a request in any state but CONNECTED; the request is not sent. */
  public static RefusedException notConnected(State state) {
    return new RefusedException(
        Refusal.UNAVAILABLE,
        state == State.CLOSED ? "the link is closed" : "no node of the cluster can be reached");
  }

  /** Sends a request over the event bus of {@code vertx}. Fails as {@link Link#request} says. */
  public static Future<Buffer> send(Vertx vertx, String address, Buffer body, long timeoutMillis) {
    return send(vertx, address, address, body, FrameCodec.options(body, timeoutMillis));
  }

  /**
   * Sends a request by way of an address.
   *
   * @param address who is asked, for the message of a failure
   */
  static Future<Buffer> send(
      Vertx vertx, String by, String address, Buffer body, DeliveryOptions options) {
    return vertx
        .eventBus()
        .<Object>request(by, body, options)
        .transform(
            answered ->
                answered.succeeded()
                    ? Future.succeededFuture(buffer(answered.result().body()))
                    : Future.failedFuture(refusal(address, answered.cause())));
  }

  /** The bytes of a body on the event bus; JSON becomes its text. */
  public static Buffer buffer(Object body) {
    return body instanceof Buffer buffer
        ? buffer
        : Buffer.buffer(body == null ? "" : body.toString());
  }

  /**
   * The refusal for a failure of the event bus: whether the request may have had an effect, and
   * what happened in words.
   */
  public static RefusedException refusal(String address, Throwable cause) {
    if (cause instanceof ReplyException reply) {
      switch (reply.failureType()) {
        case NO_HANDLERS:
          return new RefusedException(
              Refusal.UNAVAILABLE,
              Addresses.who(address)
                  + " is not there: it is stopped, starting, or cut off from this part of the"
                  + " cluster");
        case RECIPIENT_FAILURE:
          RefusedException refused = RefusedException.parse(reply.getMessage());
          return refused != null
              ? refused
              : new RefusedException(Refusal.UNAVAILABLE, reply.getMessage());
        default:
          break;
      }
    }
    return new RefusedException(
        Refusal.INDETERMINATE,
        Addresses.who(address)
            + " has not answered"
            + (cause instanceof ReplyException ? " in time" : ": " + cause.getMessage())
            + "; it may be paused, overloaded or cut off");
  }

  @Override
  public Listening listen(String address, Consumer<Buffer> handler) {
    return register(address, message -> handler.accept(buffer(message.body())));
  }

  @Override
  public Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    return register(
        address, message -> serve(server, buffer(message.body())).onSuccess(message::reply));
  }

  /**
   * The answer of {@code server} to {@code request}. It never fails: a failure becomes an answer by
   * {@link Frames#refusal(Throwable)}.
   */
  public static Future<Buffer> serve(Function<Buffer, Future<Buffer>> server, Buffer request) {
    try {
      return server
          .apply(request)
          .recover(failure -> Future.succeededFuture(Frames.refusal(failure)));
    } catch (RuntimeException e) {
      return Future.succeededFuture(Frames.refusal(e));
    }
  }

  private Listening register(String address, Handler<Message<Object>> handler) {
    Registration registration = new Registration(address, handler);
    registrations.add(registration);
    return registration;
  }

  @Override
  public State state() {
    return root.state;
  }

  @Override
  public void onState(Consumer<State> handler) {
    root.stateHandlers.add(handler);
  }

  @Override
  public void offState(Consumer<State> handler) {
    root.stateHandlers.remove(handler);
  }

  @Override
  public String clusterMember() {
    return state() == State.CONNECTED ? clusterMember : null;
  }

  /**
   * Notes the number of nodes in sight; without any the link is LOST. A clustered Vert.x that has
   * seen no node for a moment may not recover by itself, so LOST is final. Call it, on any thread,
   * when the number changes.
   */
  public void nodesInSight(int nodes) {
    if (nodes == 0) {
      change(State.LOST);
    }
  }

  private void change(State next) {
    synchronized (this) {
      if (state == next || state == State.CLOSED) {
        return;
      }
      state = next;
    }
    vertx.runOnContext(none -> stateHandlers.forEach(handler -> handler.accept(next)));
  }

  /** Ends all listening; the Vert.x stays open. */
  @Override
  public Future<Void> close() {
    if (root == this) {
      change(State.CLOSED);
    }
    registrations.forEach(Registration::end);
    return Future.succeededFuture();
  }

  private final class Registration implements Listening {
    private final MessageConsumer<Object> consumer;

    Registration(String address, Handler<Message<Object>> handler) {
      consumer = vertx.eventBus().consumer(address, handler);
    }

    @Override
    public Future<Void> registered() {
      return consumer.completion();
    }

    @Override
    public void end() {
      if (registrations.remove(this)) {
        consumer.unregister();
      }
    }
  }
}
