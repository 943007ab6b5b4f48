package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Finds out whether sessions have ended, by asking all nodes. A session has ended if no node has a
 * connection of it {@value #GRACE_MILLIS} ms after it was first seen without one. Until then it may
 * be on its way to another node.
 *
 * <p>A node that has left the cluster has no connections. As long as a node does not answer, the
 * session counts as alive. Nobody at the address of a member of the cluster says nothing at first:
 * just after another node died, addresses of living nodes may be missing on the event bus. But a
 * node that starts or stops has no such address either, so after {@value #VACANT_TRIES_MAX} tries
 * it counts as a node without connections.
 *
 * <p>It also remembers which sessions nodes have reported lately, for a dispatcher that begins only
 * after that. To be used on one context.
 */
final class SessionEnds {
  static final long GRACE_MILLIS = 100;

  /** Longest wait for the answer of a node. */
  static final long ANSWER_MILLIS_MAX = 200;

  /**
   * How often nodes are asked while one does not answer. That takes some 6 s, in which the members
   * of the session usually time out.
   */
  private static final int TRIES_MAX = 20;

  /** How often members of the cluster are asked while nobody is at their address: some 3 s. */
  static final int VACANT_TRIES_MAX = 30;

  /** Most checks of a kind at once. Without a check the members of a session time out. */
  static final int CHECKS_MAX = 1_000;

  static final long RECENT_MILLIS = 10_000;
  static final int RECENT_MAX = 10_000;

  private enum Sight {
    SOMEWHERE,
    NOWHERE,
    UNKNOWN,
    /** No node has one, but nobody is at the address of a node that is a member. */
    VACANT
  }

  private final Vertx vertx;
  private final DeliveryOptions options;
  private final Supplier<List<String>> nodes;
  private final Supplier<Set<String>> members;
  private final LongSupplier clock;

  /** Those under way. */
  private final Map<String, Future<Boolean>> checks = new HashMap<>();

  /** Sessions that {@link #somewhere} looks for now. */
  private final Map<String, Future<Boolean>> searches = new HashMap<>();

  /** When sessions were reported, the oldest first. */
  private final Map<String, Long> recent = new LinkedHashMap<>();

  /**
   * @param nodes gives the ids of all nodes
   * @param members gives the ids of those that are members of the cluster now; null: unknown
   * @param answerMillisMax {@link #ANSWER_MILLIS_MAX}
   * @param clock gives milliseconds that never go back
   */
  SessionEnds(
      Vertx vertx,
      Supplier<List<String>> nodes,
      Supplier<Set<String>> members,
      long answerMillisMax,
      LongSupplier clock) {
    this.vertx = vertx;
    options = new DeliveryOptions().setSendTimeout(answerMillisMax);
    this.nodes = nodes;
    this.members = members;
    this.clock = clock;
  }

  /** A node has reported that it lost the last connection of a session. */
  void reported(String session) {
    forgetOld();
    recent.remove(session);
    recent.put(session, clock.getAsLong());
    if (recent.size() > RECENT_MAX) {
      recent.remove(recent.keySet().iterator().next());
    }
  }

  /**
   * How long ago the session was last reported; null: that is unknown, so surely not within the
   * last {@value #RECENT_MILLIS} ms unless very many were.
   */
  Long reportedAgoMillis(String session) {
    Long atMillis = recent.get(session);
    return atMillis == null ? null : (Long) (clock.getAsLong() - atMillis);
  }

  /** Sessions that were reported within the last {@value #RECENT_MILLIS} ms. */
  List<String> recent() {
    forgetOld();
    return List.copyOf(recent.keySet());
  }

  private void forgetOld() {
    long nowMillis = clock.getAsLong();
    recent.values().removeIf(atMillis -> nowMillis - atMillis > RECENT_MILLIS);
  }

  /**
   * Checks a session that a node has just seen without a connection. Completes with whether it has
   * ended; false may also mean that this cannot be found out.
   */
  Future<Boolean> ended(String session) {
    return once(checks, session, () -> ended(session, TRIES_MAX, VACANT_TRIES_MAX));
  }

  /** Joins the check of the session that is under way, or begins one if there are not too many. */
  private static Future<Boolean> once(
      Map<String, Future<Boolean>> underWay, String session, Supplier<Future<Boolean>> check) {
    Future<Boolean> same = underWay.get(session);
    if (same != null) {
      return same;
    }
    if (underWay.size() >= CHECKS_MAX) {
      return Future.succeededFuture(false);
    }
    Future<Boolean> begun = check.get();
    underWay.put(session, begun);
    return begun.onComplete(done -> underWay.remove(session));
  }

  private Future<Boolean> ended(String session, int tries, int vacantTries) {
    return vertx
        .timer(GRACE_MILLIS, TimeUnit.MILLISECONDS)
        .compose(waited -> look(session))
        .compose(
            sight ->
                sight == Sight.UNKNOWN && tries > 1
                    ? ended(session, tries - 1, vacantTries)
                    : sight == Sight.VACANT && vacantTries > 1
                        ? ended(session, tries, vacantTries - 1)
                        : Future.succeededFuture(sight == Sight.NOWHERE || sight == Sight.VACANT));
  }

  /** Like {@link #ended}, for a session that no node has reported: it may well be alive. */
  Future<Boolean> endedUnreported(String session) {
    return look(session)
        .compose(
            sight ->
                sight == Sight.NOWHERE || sight == Sight.VACANT
                    ? ended(session)
                    : Future.succeededFuture(false));
  }

  /** Completes with whether a node has a connection of the session. */
  Future<Boolean> somewhere(String session) {
    return once(searches, session, () -> look(session).map(sight -> sight == Sight.SOMEWHERE));
  }

  private Future<Sight> look(String session) {
    Set<String> now = members.get();
    // A node that was removed has connections until it stops.
    Set<String> all = new LinkedHashSet<>(nodes.get());
    all.addAll(now == null ? Set.of() : now);
    return Future.all(
            all.stream()
                .map(node -> look(session, node, now == null || now.contains(node)))
                .toList())
        .map(
            looked -> {
              List<Sight> sights = looked.list();
              return Stream.of(Sight.SOMEWHERE, Sight.UNKNOWN, Sight.VACANT)
                  .filter(sights::contains)
                  .findFirst()
                  .orElse(Sight.NOWHERE);
            });
  }

  /**
   * @param member whether the node is a member of the cluster
   */
  private Future<Sight> look(String session, String node, boolean member) {
    return vertx
        .eventBus()
        .<Buffer>request(
            Addresses.sessions(node), new JsonObject().put("has", session).toBuffer(), options)
        .transform(
            answered ->
                Future.succeededFuture(
                    answered.succeeded()
                        ? sight(answered.result().body())
                        : !isVacant(answered.cause())
                            ? Sight.UNKNOWN
                            : member ? Sight.VACANT : Sight.NOWHERE));
  }

  private static Sight sight(Buffer answer) {
    try {
      return JsonBodies.answeredJson(answer).getBoolean("has") ? Sight.SOMEWHERE : Sight.NOWHERE;
    } catch (RefusedException | ClassCastException | NullPointerException e) {
      return Sight.UNKNOWN;
    }
  }

  /** Whether nobody listens at the address. */
  private static boolean isVacant(Throwable failure) {
    return failure instanceof ReplyException reply
        && reply.failureType() == ReplyFailure.NO_HANDLERS;
  }
}
