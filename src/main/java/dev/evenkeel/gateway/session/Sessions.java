package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.frame.FrameRoom;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
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
  private final AtomicLong arriving = new AtomicLong();
  private final SessionOptions limits;

  /** Connections that have said HELLO. */
  private final FairShare opened;

  private final FairShare bytes;
  private final FairShare arrivingOfUsers;

  /**
   * @param shares where connections and bytes of users count
   */
  Sessions(SessionOptions limits, Shares shares) {
    this.limits = limits;
    long bytesMax = limits.get(SessionOptions.NODE_BYTES_IN_FLIGHT_MAX);
    opened = shares.divide(Scarce.CONNECTIONS, limits.get(SessionOptions.CONNECTIONS_MAX));
    bytes = shares.divide(Scarce.BYTES_IN_FLIGHT, bytesMax);
    arrivingOfUsers = shares.divide(Scarce.BYTES_ARRIVING, bytesMax);
  }

  /** One session: all connections that a client has to this node. */
  final class Session {
    private final String id;
    private final String user;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger questions = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final FairShare.Account opened;
    private final FairShare.Account bytesOfUser;
    private final FairShare.Account arriving;

    /** Guarded by the map. */
    private int connections;

    private Session(String id, String user) {
      this.id = id;
      this.user = user;
      opened = Sessions.this.opened.of(user);
      bytesOfUser = Sessions.this.bytes.of(user);
      arriving = arrivingOfUsers.of(user);
    }

    /** The room for its requests that have not come whole. */
    FrameRoom room() {
      return new FrameRoom() {
        @Override
        public void take(int more) {
          if (!arriving.tryTake(more)) {
            throw Limit.ARRIVING_BYTES.reached(arriving.refusal());
          }
        }

        @Override
        public void give(int less) {
          arriving.give(less);
        }
      };
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
      if (!bytesOfUser.tryTake(moreOfNode)) {
        bytes.addAndGet(-more);
        throw Limit.NODE_BYTES.reached(bytesOfUser.refusal());
      }
    }

    private void give(int less, int lessOfNode) {
      bytes.addAndGet(-less);
      bytesOfUser.give(lessOfNode);
    }
  }

  /** Before HELLO: what has not come whole may take as much as what is in flight, and no more. */
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
    return arriving.get() + arrivingOfUsers.held();
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

  /** A connection comes instead of another one that is about to close. */
  void cameInstead() {
    connections.incrementAndGet();
  }

  /**
   * A connection has said HELLO.
   *
   * @param user null: there are no users
   * @throws RefusedException FORBIDDEN if the session is another user's; OVERLOADED if the user has
   *     too many connections
   */
  Session welcomed(String id, String user) {
    FairShare.Account account = opened.of(user);
    if (!account.tryTake(1)) {
      throw Limit.CONNECTIONS.reached(account.refusal());
    }
    try {
      return welcome(id, user);
    } catch (RefusedException e) {
      account.give(1);
      throw e;
    }
  }

  private Session welcome(String id, String user) {
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
    session.opened.give(1);
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
    return bytes.held();
  }
}
