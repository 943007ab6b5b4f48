package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * One membership in the cluster, from joining to losing sight of it. It has the requests under way
 * on its clustered Vert.x, and notices when the connection no longer works.
 */
final class LinkSession {
  /**
   * After this many requests in a row without an answer, it asks whether any node still answers:
   * one node may be dead or slow, or replies may not reach us any more.
   */
  private static final int UNANSWERED_REQUESTS_MAX = 3;

  private static final long PROBE_TIMEOUT_MILLIS = 1_000;

  /** Most requests under way at a time. Callers have lower limits of their own. */
  private static final int PENDING_REQUESTS_MAX = 10_000;

  private final ClusterMember member;
  private final Consumer<LinkSession> onLost;
  private final Context context;
  private final Set<Promise<Buffer>> pending = ConcurrentHashMap.newKeySet();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicBoolean probing = new AtomicBoolean();
  private volatile boolean ended;

  /**
   * @param onLost called, on any thread and perhaps more than once, when the cluster seems lost
   */
  LinkSession(ClusterMember member, Consumer<LinkSession> onLost) {
    this.member = member;
    this.onLost = onLost;
    context = member.vertx().getOrCreateContext();
    FrameCodec.register(member.vertx());
  }

  ClusterMember member() {
    return member;
  }

  /** Watches the members of the cluster; lost at once if there is no node any more. */
  void watch() {
    member.onChange(
        change -> {
          if (change.dataMembers() == 0) {
            onLost.accept(this);
          }
        });
    if (member.dataMembers() == 0) {
      onLost.accept(this);
    }
  }

  /** Sends a request from another Vert.x: over to the clustered one's thread, and back. */
  void request(String address, Buffer body, long timeoutMillis, Promise<Buffer> promise) {
    if (pending.size() >= PENDING_REQUESTS_MAX) {
      promise.fail(
          new RefusedException(
              Refusal.OVERLOADED,
              "more than " + PENDING_REQUESTS_MAX + " requests are under way on this link"));
      return;
    }
    pending.add(promise);
    if (ended) {
      // The session may have ended before this request was added.
      fail(promise);
      return;
    }
    try {
      context.runOnContext(
          none ->
              VertxLink.send(member.vertx(), address, body, timeoutMillis)
                  .onComplete(answered -> answered(promise, answered)));
    } catch (RejectedExecutionException e) {
      // Its Vert.x was closed at this moment.
      pending.remove(promise);
      promise.tryFail(VertxLink.notConnected(Link.State.LOST));
    }
  }

  private void answered(Promise<Buffer> promise, AsyncResult<Buffer> answered) {
    pending.remove(promise);
    if (answered.succeeded()) {
      unanswered.set(0);
      promise.tryComplete(answered.result());
      return;
    }
    promise.tryFail(answered.cause());
    boolean silent =
        answered.cause() instanceof RefusedException refused
            && refused.refusal() == Refusal.INDETERMINATE;
    // That nobody listens counts as an answer: a node that starts has no broker yet.
    if (silent && unanswered.incrementAndGet() >= UNANSWERED_REQUESTS_MAX) {
      probe();
    }
  }

  /** Asks as many times as there are nodes: the event bus sends each request to another one. */
  private void probe() {
    if (ended || !probing.compareAndSet(false, true)) {
      return;
    }
    List<Future<Buffer>> answers = new ArrayList<>();
    for (int i = 0; i < Math.max(1, member.dataMembers()); i++) {
      answers.add(
          VertxLink.send(member.vertx(), Addresses.VIEW, Buffer.buffer(), PROBE_TIMEOUT_MILLIS));
    }
    Future.any(answers)
        .onComplete(
            any -> {
              probing.set(false);
              if (any.succeeded()) {
                unanswered.set(0);
              } else {
                onLost.accept(this);
              }
            });
  }

  /** Fails the requests under way, and leaves the cluster. */
  Future<Void> end() {
    ended = true;
    pending.forEach(this::fail);
    return member.close();
  }

  private void fail(Promise<Buffer> promise) {
    if (pending.remove(promise)) {
      promise.tryFail(
          new RefusedException(Refusal.INDETERMINATE, "the connection to the cluster was lost"));
    }
  }
}
