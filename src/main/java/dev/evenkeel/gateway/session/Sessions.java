package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.frame.FrameRoom;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The sessions with connections to this node, and what they have in flight. Safe for use from any
 * thread.
 */
final class Sessions implements FrameRoom {
  /** What a request takes on the node beside its bytes, such as its timer. */
  static final int REQUEST_BYTES = 1_024;

  /** Most questions of a session whether it is alive, without an answer. */
  private static final int QUESTIONS_MAX = 20;

  private final Map<String, Session> byId = new ConcurrentHashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong arriving = new AtomicLong();
  private final SessionOptions limits;

  Sessions(SessionOptions limits) {
    this.limits = limits;
  }

  /** One session: all connections that a client has to this node. */
  final class Session {
    private final String id;
    private final String user;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger questions = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    /** Guarded by the map. */
    private int connections;

    private Session(String id, String user) {
      this.id = id;
      this.user = user;
    }

    String id() {
      return id;
    }

    /**
     * Counts a request until {@link #requestDone}.
     *
     * @throws RefusedException OVERLOADED, with the limit and its value
     */
    void request(int requestBytes) {
      if (requests.incrementAndGet() > limits.get(SessionOptions.REQUESTS_IN_FLIGHT_MAX)) {
        requests.decrementAndGet();
        throw Limit.REQUESTS.reached(
            "this session has %s requests without an answer",
            limits.get(SessionOptions.REQUESTS_IN_FLIGHT_MAX));
      }
      try {
        take(requestBytes, requestBytes + REQUEST_BYTES);
      } catch (RefusedException e) {
        requests.decrementAndGet();
        throw e;
      }
      Sessions.this.requests.incrementAndGet();
    }

    void requestDone(int requestBytes) {
      requests.decrementAndGet();
      Sessions.this.requests.decrementAndGet();
      give(requestBytes, requestBytes + REQUEST_BYTES);
    }

    /**
     * Counts a question whether the session is alive until {@link #questionDone}, apart from
     * requests.
     *
     * @throws RefusedException OVERLOADED, with the limit and its value
     */
    void question() {
      if (questions.incrementAndGet() > QUESTIONS_MAX) {
        questions.decrementAndGet();
        throw Limit.REQUESTS.reached(
            "this session has asked %s times whether it is alive, without an answer",
            QUESTIONS_MAX);
      }
    }

    void questionDone() {
      questions.decrementAndGet();
    }

    /**
     * Counts bytes as in flight until {@link #give}.
     *
     * @throws RefusedException OVERLOADED, with the limit and its value
     */
    void take(int more) {
      take(more, more);
    }

    void give(int less) {
      give(less, less);
    }

    private void take(int more, int moreOfNode) {
      if (bytes.addAndGet(more) > limits.get(SessionOptions.SESSION_BYTES_IN_FLIGHT_MAX)) {
        bytes.addAndGet(-more);
        throw Limit.SESSION_BYTES.reached(
            "this session has %s bytes in flight",
            limits.get(SessionOptions.SESSION_BYTES_IN_FLIGHT_MAX));
      }
      if (Sessions.this.bytes.addAndGet(moreOfNode)
          > limits.get(SessionOptions.NODE_BYTES_IN_FLIGHT_MAX)) {
        Sessions.this.bytes.addAndGet(-moreOfNode);
        bytes.addAndGet(-more);
        throw Limit.NODE_BYTES.reached(
            "the sessions of this node have %s bytes in flight",
            limits.get(SessionOptions.NODE_BYTES_IN_FLIGHT_MAX));
      }
    }

    private void give(int less, int lessOfNode) {
      bytes.addAndGet(-less);
      Sessions.this.bytes.addAndGet(-lessOfNode);
    }
  }

  /** Requests that have not come whole may take as much as those in flight, and no more. */
  @Override
  public void take(int more) {
    if (arriving.addAndGet(more) > limits.get(SessionOptions.NODE_BYTES_IN_FLIGHT_MAX)) {
      arriving.addAndGet(-more);
      throw Limit.ARRIVING_BYTES.reached(
          "requests that have not come whole take %s bytes on this node",
          limits.get(SessionOptions.NODE_BYTES_IN_FLIGHT_MAX));
    }
  }

  @Override
  public void give(int less) {
    arriving.addAndGet(-less);
  }

  /** Memory of requests that have not come whole. */
  long arrivingBytes() {
    return arriving.get();
  }

  /**
   * Counts a connection until {@link #left}.
   *
   * @throws RefusedException OVERLOADED, with the limit and its value
   */
  void came() {
    if (connections.incrementAndGet() > limits.get(SessionOptions.CONNECTIONS_MAX)) {
      connections.decrementAndGet();
      throw Limit.CONNECTIONS.reached(
          "this node has %s connections", limits.get(SessionOptions.CONNECTIONS_MAX));
    }
  }

  /**
   * A connection has said HELLO.
   *
   * @param user null: there are no users
   * @throws RefusedException FORBIDDEN if the session is another user's
   */
  Session welcomed(String id, String user) {
    return byId.compute(
        id,
        (key, present) -> {
          Session session = present == null ? new Session(id, user) : present;
          if (!Objects.equals(session.user, user)) {
            throw Refusal.FORBIDDEN.error("the session belongs to another user");
          }
          session.connections++;
          return session;
        });
  }

  /** A connection ends before it has said HELLO. */
  void left() {
    connections.decrementAndGet();
  }

  /** A connection of a session ends. Returns whether it was the last one. */
  boolean left(Session session) {
    connections.decrementAndGet();
    return byId.compute(session.id, (key, present) -> --session.connections == 0 ? null : session)
        == null;
  }

  /** Whether a session has a connection. */
  boolean has(String id) {
    return byId.containsKey(id);
  }

  int sessions() {
    return byId.size();
  }

  int connections() {
    return connections.get();
  }

  int requestsInFlight() {
    return requests.get();
  }

  long bytesInFlight() {
    return bytes.get();
  }
}
