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
 * A link over one clustered Vert.x that somebody else makes and closes: that of a node, for its own
 * verticles, or an application's own. It cannot make it afresh: when the cluster was lost, and its
 * owner has another one, the owner makes another link.
 */
public final class VertxLink implements Link {
  private final Vertx vertx;
  private final String clusterMember;
  private final List<Consumer<State>> stateHandlers = new CopyOnWriteArrayList<>();
  private final List<Registration> registrations = new CopyOnWriteArrayList<>();
  private volatile State state = State.CONNECTED;

  /**
   * @param clusterMember id of the member behind {@code vertx}
   */
  public VertxLink(Vertx vertx, String clusterMember) {
    this.vertx = vertx;
    this.clusterMember = clusterMember;
    FrameCodec.register(vertx);
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    State now = state;
    if (now != State.CONNECTED) {
      return Future.failedFuture(notConnected(now));
    }
    return send(vertx, address, body, timeoutMillis);
  }

  /** What a request fails with, without being sent, in any state but CONNECTED. */
  public static RefusedException notConnected(State state) {
    return new RefusedException(
        Refusal.UNAVAILABLE,
        state == State.CLOSED ? "the link is closed" : "no node of the cluster is in sight");
  }

  /** A request over the event bus of {@code vertx}, its failures told as {@link Link} says. */
  public static Future<Buffer> send(Vertx vertx, String address, Buffer body, long timeoutMillis) {
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(timeoutMillis);
    return vertx
        .eventBus()
        .<Object>request(address, body, options)
        .transform(
            answered ->
                answered.succeeded()
                    ? Future.succeededFuture(buffer(answered.result().body()))
                    : Future.failedFuture(refusal(address, answered.cause())));
  }

  private static Buffer buffer(Object body) {
    return body instanceof Buffer buffer
        ? buffer
        : Buffer.buffer(body == null ? "" : body.toString());
  }

  /** A failure of the event bus in words, and whether the request may have had an effect. */
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
          return new RefusedException(Refusal.UNAVAILABLE, reply.getMessage());
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
   * The answer of {@code server} to {@code request}; never fails: a failure is answered as {@link
   * Frames#refusal(Throwable)}.
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
    return state;
  }

  @Override
  public void onState(Consumer<State> handler) {
    stateHandlers.add(handler);
  }

  @Override
  public String clusterMember() {
    return state == State.CONNECTED ? clusterMember : null;
  }

  /**
   * To be called, on any thread, when the number of nodes in sight changes: with none the link is
   * LOST. A clustered Vert.x that was without nodes for a moment may not find its way back by
   * itself, so LOST is for good.
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
    change(State.CLOSED);
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
