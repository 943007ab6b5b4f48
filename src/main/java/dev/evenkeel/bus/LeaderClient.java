package dev.evenkeel.bus;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Sends requests to the node that leads a log group, and finds the leader when it has changed: it
 * follows the leader that a refusal names, asks for another view of the cluster, and repeats a
 * request if the caller allows it. Every failure is a {@link RefusedException}.
 *
 * <pre>
 * refused NOT_LEADER(node), hops left        -> remember node, ask it at once
 * refused, and {@link Retry} allows another  -> ask for the view; try again after the pause, or as
 *                                               soon as the view names another leader; a quota
 *                                               says how long the pause is
 * else                                       -> ask for the view; the caller gets the refusal
 * </pre>
 *
 * <p>The caller decides what may be repeated. After NOT_LEADER and UNAVAILABLE, the request had no
 * effect. After INDETERMINATE, it may have had one, so only repeat a request that may run twice.
 *
 * <p>Safe for use from any thread. Futures complete on the caller's own context if it has one.
 */
public final class LeaderClient {
  /** Knows who leads the log groups. One that learns it by itself needs no hints. */
  public interface Leaders {
    /** How many data groups there are; 0 if that is not known yet. */
    int dataGroups();

    /** Which of them holds which shard. */
    ShardGroups shardGroups();

    /**
     * The leader of a data group, or of {@link ClusterView#META}; null if unknown.
     *
     * @param group its number
     */
    String leader(int group);

    /** Notes the leader that a node has named. */
    default void leaderHint(int group, String node) {}

    /** Asks again who leads. Callers may ignore the answer. */
    default Future<?> refresh() {
      return Future.succeededFuture();
    }

    /** The outcome of a request to {@code node}, or INDETERMINATE once another one leads. */
    default <T> Future<T> whileLeads(int group, String node, Future<T> request) {
      return request;
    }
  }

  /** One request to a leader. */
  public interface Send<T> {
    Future<T> to(int group, String leader);
  }

  /**
   * What the client tries before the caller gets a failure.
   *
   * @param hopsMax how often it asks the leader that a refusal names, at once
   * @param again refusals after which it makes another attempt
   * @param attemptsMax attempts in all, not counting hops
   * @param pauseMillis longest pause between two attempts
   * @param limitMillis no attempt begins later than this after the first one
   * @param cancelled once it gives true, there is no further attempt
   */
  public record Retry(
      int hopsMax,
      Predicate<Refusal> again,
      int attemptsMax,
      long pauseMillis,
      long limitMillis,
      BooleanSupplier cancelled) {
    /** One attempt: the caller gets the first failure. */
    public static final Retry NONE = hops(0);

    /** Follows the leaders that refusals name, and makes no other attempt. */
    public static Retry hops(int hopsMax) {
      return new Retry(hopsMax, refusal -> false, 1, 0, 0, () -> false);
    }

    /** Tries again after every refusal that may pass, INDETERMINATE included. */
    public static Retry within(long limitMillis, long pauseMillis, BooleanSupplier cancelled) {
      return new Retry(
          0, Refusal::retriable, Integer.MAX_VALUE, pauseMillis, limitMillis, cancelled);
    }
  }

  /** A limit that is never reached. */
  public static final long NO_LIMIT_MILLIS = Long.MAX_VALUE;

  private static final int UNKNOWN_GROUP = Integer.MIN_VALUE;

  private final Link link;
  private final Vertx vertx;
  private final Leaders leaders;

  public LeaderClient(Link link, Leaders leaders) {
    this(link, link.vertx(), leaders);
  }

  /** A client without a link: callers send their requests themselves, see {@link #ask}. */
  public LeaderClient(Vertx vertx, Leaders leaders) {
    this(null, vertx, leaders);
  }

  private LeaderClient(Link link, Vertx vertx, Leaders leaders) {
    this.link = link;
    this.vertx = vertx;
    this.leaders = leaders;
  }

  /**
   * Asks the leader of a log group.
   *
   * @param group number of the data group, or {@link ClusterView#META}
   */
  public <T> Future<T> ask(int group, Retry retry, Send<T> send) {
    return new Asking<>(() -> group, retry, send).begin();
  }

  /** Asks the leader of the data group that holds {@code shard}. */
  public <T> Future<T> ask(Shard shard, Retry retry, Send<T> send) {
    return new Asking<>(() -> group(shard), retry, send).begin();
  }

  /** Repeats a call that is not for a leader. */
  public <T> Future<T> repeat(Retry retry, Supplier<Future<T>> call) {
    return new Asking<>(null, retry, (group, leader) -> call.get()).begin();
  }

  /**
   * Sends a frame to the leader of a log group, and gives the body of the answer.
   *
   * @param address of a node, by its id
   */
  public Future<ByteBuffer> request(
      int group, UnaryOperator<String> address, Buffer frame, long timeoutMillis, Retry retry) {
    return ask(group, retry, sending(address, frame, timeoutMillis));
  }

  /** Sends a frame to the leader of {@code shard}. */
  public Future<ByteBuffer> request(
      Shard shard, UnaryOperator<String> address, Buffer frame, long timeoutMillis, Retry retry) {
    return ask(shard, retry, sending(address, frame, timeoutMillis));
  }

  private Send<ByteBuffer> sending(
      UnaryOperator<String> address, Buffer frame, long timeoutMillis) {
    return (group, leader) ->
        link.request(address.apply(leader), frame, timeoutMillis).map(Frames::answerBody);
  }

  /** Submits a command to a data group. Fails if the state machine refuses it. */
  public Future<Reply> submit(int group, DataCommand command, long timeoutMillis, Retry retry) {
    return ask(group, retry, submitting(command, timeoutMillis));
  }

  /** Submits a command to the data group of {@code shard}. */
  public Future<Reply> submit(Shard shard, DataCommand command, long timeoutMillis, Retry retry) {
    return ask(shard, retry, submitting(command, timeoutMillis));
  }

  private Send<Reply> submitting(DataCommand command, long timeoutMillis) {
    return (group, leader) ->
        control(
            leader, Calls.SUBMIT_DATA.request(new Calls.ToGroup(group, command)), timeoutMillis);
  }

  /** Submits a command to the meta group. */
  public Future<Reply> submit(MetaCommand command, long timeoutMillis, Retry retry) {
    Buffer frame = Calls.SUBMIT_META.request(command);
    return ask(ClusterView.META, retry, (group, leader) -> control(leader, frame, timeoutMillis));
  }

  private Future<Reply> control(String leader, Buffer frame, long timeoutMillis) {
    return link.request(Addresses.control(leader), frame, timeoutMillis)
        .map(answer -> Calls.taken(Calls.SUBMIT_META.answered(answer)));
  }

  private int group(Shard shard) {
    ShardGroups groups = leaders.shardGroups();
    return groups.known() ? groups.of(shard) : UNKNOWN_GROUP;
  }

  /** Whether the request might succeed with another view of the cluster. */
  private static boolean refersElsewhere(Refusal refusal) {
    return refusal.retriable()
        || refusal == Refusal.UNKNOWN_TOPIC
        || refusal == Refusal.UNKNOWN_SHARD;
  }

  /** One call, with all its attempts. */
  private final class Asking<T> {
    private final IntSupplier groups;
    private final Retry retry;
    private final Send<T> send;
    private final long sinceNanos = System.nanoTime();
    private final Promise<T> promise;
    private int hops;
    private int attempts = 1;

    /** The node that was asked last, as leader of {@link #group}; null: none was. */
    private String asked;

    private int group;

    /**
     * @param groups gives the log group; null: {@code send} needs no leader
     */
    Asking(IntSupplier groups, Retry retry, Send<T> send) {
      this.groups = groups;
      this.retry = retry;
      this.send = send;
      ContextInternal context = ContextInternal.current();
      promise = context == null ? Promise.promise() : context.promise();
    }

    Future<T> begin() {
      request().onComplete(promise::complete, failure -> failed(RefusedException.of(failure)));
      return promise.future();
    }

    private Future<T> request() {
      if (groups == null) {
        return send.to(UNKNOWN_GROUP, null);
      }
      group = groups.getAsInt();
      asked = group == UNKNOWN_GROUP ? null : leaders.leader(group);
      return asked == null
          ? Future.failedFuture(new NoLeader(group))
          : leaders.whileLeads(group, asked, send.to(group, asked));
    }

    private void failed(RefusedException refused) {
      String named = refused instanceof RefusedException.NotLeader is ? is.leader() : null;
      if (named != null && asked != null) {
        leaders.leaderHint(group, named);
        if (hops < retry.hopsMax && !named.equals(asked)) {
          hops++;
          begin();
          return;
        }
      }
      Future<?> view =
          named == null && refersElsewhere(refused.refusal())
              ? leaders.refresh()
              : Future.failedFuture(refused);
      boolean again =
          retry.again.test(refused.refusal())
              && attempts < retry.attemptsMax
              && System.nanoTime() - sinceNanos <= TimeUnit.MILLISECONDS.toNanos(retry.limitMillis)
              && !retry.cancelled.getAsBoolean();
      if (!again) {
        promise.fail(refused);
        return;
      }
      attempts++;
      Promise<Void> next = Promise.promise();
      long pause =
          refused instanceof RefusedException.QuotaReached quota
              ? Math.max(retry.pauseMillis, quota.pauseMillis())
              : retry.pauseMillis;
      long timer = vertx.setTimer(pause, id -> next.tryComplete());
      view.onSuccess(
          seen -> {
            if (leadsAnother() && next.tryComplete()) {
              vertx.cancelTimer(timer);
            }
          });
      next.future().onComplete(none -> begin());
    }

    /** Whether another node than the one asked is known to lead by now. */
    private boolean leadsAnother() {
      int now = groups == null ? UNKNOWN_GROUP : groups.getAsInt();
      String leader = now == UNKNOWN_GROUP ? null : leaders.leader(now);
      return leader != null && !leader.equals(asked);
    }
  }

  /** The refusal UNAVAILABLE: the leader of a log group is not known. */
  public static final class NoLeader extends RefusedException {
    private static final long serialVersionUID = 1L;

    private NoLeader(int group) {
      super(
          Refusal.UNAVAILABLE,
          "no leader"
              + (group == ClusterView.META
                  ? " of the meta log group"
                  : group == UNKNOWN_GROUP ? "" : " of data group " + group)
              + " is known: a majority of the nodes must be up");
    }
  }
}
