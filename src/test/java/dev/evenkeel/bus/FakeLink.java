package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

/** A link without a network: requests go to functions. */
public final class FakeLink implements Link {
  private final Vertx vertx;
  private final Map<String, Function<Buffer, Future<Buffer>>> servers = new ConcurrentHashMap<>();
  private final Map<String, List<Consumer<Buffer>>> listeners = new ConcurrentHashMap<>();
  private final List<Consumer<State>> stateHandlers = new CopyOnWriteArrayList<>();
  private volatile State state = State.CONNECTED;
  private volatile String clusterMember = "fake";

  public FakeLink(Vertx vertx) {
    this.vertx = vertx;
  }

  @Override
  public Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    servers.put(address, server);
    return new Listening() {
      @Override
      public Future<Void> registered() {
        return Future.succeededFuture();
      }

      @Override
      public void end() {
        servers.remove(address, server);
      }
    };
  }

  public void publish(String address, Buffer body) {
    listeners.getOrDefault(address, List.of()).forEach(listener -> listener.accept(body));
  }

  /** It is connected, with this id. */
  public void become(String member) {
    clusterMember = member;
    become(State.CONNECTED);
  }

  public void become(State next) {
    state = next;
    stateHandlers.forEach(handler -> handler.accept(next));
  }

  /** Whether anybody listens at the address. */
  public boolean isListenedTo(String address) {
    return !listeners.getOrDefault(address, List.of()).isEmpty();
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    Function<Buffer, Future<Buffer>> server = servers.get(address);
    Promise<Buffer> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
    if (server == null || state != State.CONNECTED) {
      promise.fail(new RefusedException(Refusal.UNAVAILABLE, "nobody listens at " + address));
    } else {
      vertx.runOnContext(
          none ->
              answer(server, body)
                  .onComplete(
                      answered -> {
                        if (answered.succeeded()) {
                          promise.tryComplete(answered.result());
                        } else {
                          promise.tryFail(answered.cause());
                        }
                      }));
      vertx.setTimer(
          timeoutMillis,
          none ->
              promise.tryFail(
                  new RefusedException(Refusal.INDETERMINATE, "no answer from " + address)));
    }
    return promise.future();
  }

  /** What a server throws is its answer, too: others than tests ask it, with empty bodies. */
  private static Future<Buffer> answer(Function<Buffer, Future<Buffer>> server, Buffer body) {
    try {
      return server.apply(body);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Listening listen(String address, Consumer<Buffer> handler) {
    listeners.computeIfAbsent(address, a -> new CopyOnWriteArrayList<>()).add(handler);
    return new Listening() {
      @Override
      public Future<Void> registered() {
        return Future.succeededFuture();
      }

      @Override
      public void end() {
        listeners.get(address).remove(handler);
      }
    };
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
  public void offState(Consumer<State> handler) {
    stateHandlers.remove(handler);
  }

  @Override
  public String clusterMember() {
    return state == State.CONNECTED ? clusterMember : null;
  }

  @Override
  public Future<Void> close() {
    state = State.CLOSED;
    return Future.succeededFuture();
  }
}
