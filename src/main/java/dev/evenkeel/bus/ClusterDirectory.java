package dev.evenkeel.bus;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The latest {@link ClusterView} that this program knows. It is asked for again every {@link
 * #REFRESH_MILLIS}, when topics change, when the link comes back, and when a user of it says so; a
 * leader named by a refusal is taken at once. It may be a little old at any time.
 *
 * <p>Safe for use from any thread. Futures complete on the caller's own context if it has one.
 */
public final class ClusterDirectory {
  /** Time between two refreshes when nothing else asks for one. */
  public static final long REFRESH_MILLIS = 5_000;

  /** How long an answer may take: short, because a dead broker may still be registered. */
  private static final long REQUEST_TIMEOUT_MILLIS = 2_000;

  private final Link link;
  private final Link.Listening topicChanges;
  private final long timer;
  private volatile ClusterView current;
  private volatile boolean closed;

  /** The request under way, or null. Guarded by this. */
  private Promise<ClusterView> asking;

  /** Something changed after the request was sent, so its answer may be too old. */
  private boolean askAgain;

  public ClusterDirectory(Link link) {
    this.link = link;
    topicChanges = link.listen(Addresses.TOPIC_CHANGES, body -> changed());
    timer = link.vertx().setPeriodic(REFRESH_MILLIS, id -> refresh());
    link.onState(
        state -> {
          if (state == Link.State.CONNECTED) {
            changed();
          }
        });
  }

  /** What is known now, or null before the first answer. */
  public ClusterView current() {
    return current;
  }

  /** What is known now, else the first answer. Fails like {@link #refresh()}. */
  public Future<ClusterView> view() {
    ClusterView view = current;
    return view != null ? Future.succeededFuture(view) : refresh();
  }

  /**
   * Asks any broker. At most one request is under way at a time: whoever asks meanwhile shares its
   * answer. Fails with {@code RefusedException} UNAVAILABLE or INDETERMINATE; the former view then
   * stays.
   */
  public Future<ClusterView> refresh() {
    if (closed) {
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "the cluster directory is closed"));
    }
    Promise<ClusterView> mine = null;
    Promise<ClusterView> shared;
    synchronized (this) {
      if (asking == null) {
        asking = Promise.promise();
        mine = asking;
      }
      shared = asking;
    }
    ContextInternal context = ContextInternal.current();
    Future<ClusterView> result = shared.future();
    if (context != null) {
      Promise<ClusterView> here = context.promise();
      result.onComplete(here);
      result = here.future();
    }
    if (mine != null) {
      ask(mine);
    }
    return result;
  }

  private void ask(Promise<ClusterView> promise) {
    link.request(Addresses.VIEW, Buffer.buffer(), REQUEST_TIMEOUT_MILLIS)
        .map(answer -> ClusterView.fromJson(answer.toJsonObject()))
        .onComplete(
            answered -> {
              boolean again;
              synchronized (this) {
                if (answered.succeeded()) {
                  current = answered.result();
                }
                asking = null;
                again = askAgain;
                askAgain = false;
              }
              promise.handle(answered);
              if (again) {
                refresh();
              }
            });
  }

  private void changed() {
    synchronized (this) {
      askAgain = asking != null;
    }
    if (!closed) {
      refresh();
    }
  }

  /** The leader of a shard, or null if unknown. */
  public String leaderOf(Shard shard) {
    ClusterView view = current;
    return view == null ? null : view.leaderOf(shard);
  }

  /**
   * A node has said who leads the shard's data group.
   *
   * @param node the leader's id; null or empty if there is none now
   */
  public void leaderHint(Shard shard, String node) {
    change(
        view -> {
          if (view.dataLeaders().isEmpty()) {
            return view;
          }
          List<String> leaders = new ArrayList<>(view.dataLeaders());
          leaders.set(shard.dataGroup(leaders.size()), emptyToNull(node));
          return new ClusterView(
              view.cluster(),
              view.node(),
              view.metaLeader(),
              Collections.unmodifiableList(leaders),
              view.nodes(),
              view.topics());
        });
  }

  /** A node has said who leads the meta group; null or empty if there is nobody now. */
  public void metaLeaderHint(String node) {
    change(
        view ->
            new ClusterView(
                view.cluster(),
                view.node(),
                emptyToNull(node),
                view.dataLeaders(),
                view.nodes(),
                view.topics()));
  }

  private synchronized void change(UnaryOperator<ClusterView> change) {
    if (current != null) {
      current = change.apply(current);
    }
  }

  private static String emptyToNull(String node) {
    return node == null || node.isEmpty() ? null : node;
  }

  public void close() {
    closed = true;
    link.vertx().cancelTimer(timer);
    topicChanges.end();
  }
}
