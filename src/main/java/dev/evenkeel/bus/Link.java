package dev.evenkeel.bus;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A program's connection to the cluster. It outlives the clustered Vert.x behind it, which may be
 * closed and made afresh when the cluster was away: producers and consumers hold a link, never a
 * clustered Vert.x.
 *
 * <p>Futures complete, and handlers run, on a context of {@link #vertx()}: the caller's own if it
 * has one.
 */
public interface Link {
  /** State of the connection. */
  enum State {
    CONNECTED,
    /** No cluster in sight; requests fail at once with UNAVAILABLE. */
    LOST,
    CLOSED
  }

  /** The Vert.x whose contexts, timers and handlers a client uses; the same for the link's life. */
  Vertx vertx();

  /**
   * Sends a request and awaits its answer. Fails with {@code RefusedException} UNAVAILABLE when the
   * request was surely not delivered (no connection, nobody listens), INDETERMINATE when no answer
   * came within {@code timeoutMillis} or the connection broke. The answer's own refusals stay in
   * the answer: see {@link Frames#answerBody}.
   */
  Future<Buffer> request(String address, Buffer body, long timeoutMillis);

  /**
   * Listens at an address, also after the connection was lost and made again. What is sent there is
   * not answered.
   */
  Listening listen(String address, Consumer<Buffer> handler);

  /**
   * As {@link #listen}, for requests: what {@code server} gives is sent back as the answer. A
   * failure, thrown or of the future, is answered as {@link Frames#refusal(Throwable)}. An answer
   * that comes after the connection was lost goes nowhere; whoever asked hears INDETERMINATE.
   */
  Listening serve(String address, Function<Buffer, Future<Buffer>> server);

  State state();

  /** Called on each change of state. */
  void onState(Consumer<State> handler);

  /** Id of this program's cluster member now, or null while there is no connection. */
  String clusterMember();

  Future<Void> close();

  /** A registration that can be ended. */
  interface Listening {
    /**
     * Completes when the cluster knows of it. That may take until the cluster has expelled a lost
     * node: whoever waits needs a time limit.
     */
    Future<Void> registered();

    void end();
  }
}
