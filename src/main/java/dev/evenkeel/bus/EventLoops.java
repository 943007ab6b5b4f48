package dev.evenkeel.bus;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Says which event loops of a client do what: every second one is for connections, the others are
 * for handlers. So a handler that blocks its event loop holds up no connection. A Vert.x with one
 * event loop has it for both.
 */
public final class EventLoops {
  private static final AtomicInteger TURN = new AtomicInteger();

  private EventLoops() {}

  /** A new context on an event loop for connections. */
  public static ContextInternal forConnections(Vertx vertx) {
    return context(vertx, 0);
  }

  /** A new context on an event loop for handlers. */
  public static ContextInternal forHandlers(Vertx vertx) {
    return context(vertx, 1);
  }

  /**
   * The caller's context of {@code vertx}, or a new one, for something that outlives the call. It
   * holds nothing that belongs to the call alone, such as the span of a request.
   */
  public static ContextInternal ownOf(Vertx vertx) {
    return ((ContextInternal) vertx.getOrCreateContext()).unwrap();
  }

  private static ContextInternal context(Vertx vertx, int first) {
    VertxInternal internal = (VertxInternal) vertx;
    List<EventLoop> loops = new ArrayList<>();
    for (EventExecutor each : internal.nettyEventLoopGroup()) {
      loops.add((EventLoop) each);
    }
    int pairs = Math.max(1, loops.size() / 2);
    int place = 2 * Math.floorMod(TURN.getAndIncrement(), pairs) + first;
    return internal.contextBuilder().withEventLoop(loops.get(place % loops.size())).build();
  }
}
