package dev.evenkeel.bus;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A program's connection to the cluster: a session over the client ports of nodes, or the event bus
 * of a clustered Vert.x. Producers and consumers do not know which.
 *
 * <p>Futures complete and handlers run on a context of {@link #vertx()}, which is the caller's own
 * if it has one.
 */
public interface Link {
  /** State of the connection. */
  enum State {
    CONNECTED,
    /** No node is in sight, and requests fail at once with UNAVAILABLE. */
    LOST,
    CLOSED
  }

  /**
   * The Vert.x for contexts and timers of a client. It stays the same as long as the link lives.
   */
  Vertx vertx();

  /**
   * Sends a request and waits for its answer. Fails with {@code RefusedException} UNAVAILABLE if
   * the request was surely not delivered (no connection, or nobody listens), and with INDETERMINATE
   * if no answer came within {@code timeoutMillis} or the connection broke. A refusal by the
   * receiver is an answer: see {@link Frames#answerBody}.
   */
  Future<Buffer> request(String address, Buffer body, long timeoutMillis);

  /**
   * As {@link #request(String, Buffer, long)}, on behalf of a span. A node that traces makes a span
   * of the request below it.
   *
   * @param traceparent the span as W3C Trace Context writes it; null: none
   */
  default Future<Buffer> request(
      String address, Buffer body, long timeoutMillis, String traceparent) {
    return request(address, body, timeoutMillis);
  }

  /**
   * As {@link #request(String, Buffer, long)}, of a node on behalf of a user: what it takes counts
   * as the user's.
   *
   * @param user null: of no user
   */
  default Future<Buffer> requestFor(String user, String address, Buffer body, long timeoutMillis) {
    return request(address, body, timeoutMillis);
  }

  /**
   * As {@link #request(String, Buffer, long)}, over all connections at once: the first good answer
   * counts. Such requests do not count as requests in flight, so keep them few and small.
   */
  default Future<Buffer> requestAnywhere(String address, Buffer body, long timeoutMillis) {
    return request(address, body, timeoutMillis);
  }

  /**
   * Listens at an address, also after the connection was lost and made again. Messages get no
   * answer.
   */
  Listening listen(String address, Consumer<Buffer> handler);

  /**
   * Like {@link #listen}, for requests: it sends back what {@code server} gives. A failure, thrown
   * or of the future, is answered by {@link Frames#refusal(Throwable)}. If the connection is lost
   * before the answer, the sender gets INDETERMINATE.
   */
  Listening serve(String address, Function<Buffer, Future<Buffer>> server);

  /** Notes where the nodes are now, for the next connection. */
  default void nodesAre(List<NodePlace> places) {}

  State state();

  /** Adds a handler that runs on each change of state. */
  void onState(Consumer<State> handler);

  /** Removes a handler that {@link #onState} added. It may run once more. */
  void offState(Consumer<State> handler);

  /**
   * Id under which nodes know this program now, and see it leave: of its session, or of its member
   * of the cluster. Null while there is no connection; after that it is another one.
   */
  String clusterMember();

  /**
   * The node at which this program listens now; null if there is none, or if the cluster knows it
   * from {@link #clusterMember()}. Requests may go to other nodes, too.
   */
  default String home() {
    return null;
  }

  /**
   * After what silence of this program nodes may take it for dead, in milliseconds. A connection
   * that breaks tells both sides sooner.
   */
  default long silenceMillisMax() {
    return Long.MAX_VALUE / 4;
  }

  Future<Void> close();

  /** A registration at an address. */
  interface Listening {
    /**
     * Completes when the cluster knows of the registration. That may take until the cluster has
     * expelled a lost node, so wait with a time limit.
     */
    Future<Void> registered();

    void end();
  }
}
