package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link LeaderCareer} as the handler of a consumer: many shards come and go, and one leadership
 * begins and ends. All of it happens on the consumer's context.
 *
 * <pre>
 * from          on                                                          to
 * STANDBY       a shard is assigned (all are granted then): inaugurate      INAUGURATING
 * INAUGURATING  inaugurate succeeded: the shards begin                      LEADING
 * INAUGURATING  inaugurate failed: the shards ask again after a pause       STANDBY
 * LEADING       must hand over, and the last shard awaits its release,      HANDING_OVER
 * or running messages are cut: handOver
 * HANDING_OVER  handOver has ended: the shards are released                 HANDED_OVER
 * HANDED_OVER   the handover was called off, and messages come              STANDBY
 * any           the leadership is over; before HANDED_OVER: lost            STANDBY
 * </pre>
 */
public final class LeaderHandler implements ConsumerHandler {
  private static final Logger LOG = LoggerFactory.getLogger(dev.evenkeel.client.Consumer.class);

  private enum Phase {
    STANDBY,
    INAUGURATING,
    LEADING,
    HANDING_OVER,
    HANDED_OVER
  }

  /** A message that runs and may be cut, or that waits for the inauguration. */
  private record Open(Delivery message, Promise<Void> end) {}

  private final LeaderCareer career;
  private Phase phase = Phase.STANDBY;

  /** The leadership according to the last call; null: this member does not lead. */
  private LeaderContext latest;

  /**
   * The leadership that the career knows of: it was inaugurated or is about to be. Null in STANDBY.
   */
  private LeaderContext leading;

  /** The last leadership that was inaugurated: all shards were granted for it. */
  private LeaderContext begun;

  private final Map<LeasedShard, Promise<Void>> assigning = new HashMap<>();
  private final Set<LeasedShard> owned = new HashSet<>();
  private final Map<LeasedShard, Promise<Buffer>> releasing = new HashMap<>();
  private final List<Open> running = new ArrayList<>();
  private final List<Open> waiting = new ArrayList<>();

  /** Messages that wait until one that was cut has ended: the career is serial. */
  private final Deque<Open> behind = new ArrayDeque<>();

  /** How many messages the career is at work on, cut ones included. */
  private int atWork;

  public LeaderHandler(LeaderCareer career) {
    this.career = career;
  }

  /** Whether the career handles one message at a time. */
  boolean isSerial() {
    return career.isSerial();
  }

  /** The same career on worker threads. This object must not have been used. */
  LeaderHandler on(Workers workers) {
    return new LeaderHandler(new WorkerCareer(career, workers));
  }

  @Override
  public boolean keepsState() {
    return false;
  }

  @Override
  public boolean givesState() {
    return false;
  }

  @Override
  public void onLeadership(LeaderContext leader) {
    if (leading != null && leader != leading) {
      over();
    }
    latest = leader;
    if (phase == Phase.LEADING && !handsOver()) {
      // Called off: shards that await their release come back.
      release();
    }
    step();
  }

  private boolean handsOver() {
    return latest == null || latest.isHandingOver();
  }

  private void over() {
    LeaderContext former = leading;
    boolean lost = phase != Phase.HANDED_OVER;
    phase = Phase.STANDBY;
    leading = null;
    release();
    takeAll(assigning.values()).forEach(promise -> promise.fail("the leadership is over"));
    cut(running);
    cut(waiting);
    owned.clear();
    if (lost) {
      LOG.warn("{} was lost without handing over", former);
      try {
        career.lost(former);
      } catch (RuntimeException e) {
        LOG.error("lost of {} failed: {}", former, e.toString());
      }
    }
  }

  // Beginning

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    LeasedShard leased = LeasedShard.of(shard);
    if (phase == Phase.LEADING) {
      owned.add(leased);
      return Future.succeededFuture();
    }
    Promise<Void> end = Promise.promise();
    assigning.put(leased, end);
    step();
    return end.future();
  }

  private void step() {
    if (phase == Phase.HANDED_OVER && !handsOver()) {
      phase = Phase.STANDBY;
      leading = null;
    }
    boolean wanted = !assigning.isEmpty() || !waiting.isEmpty() && latest == begun;
    if (phase == Phase.STANDBY && wanted) {
      if (handsOver()) {
        takeAll(assigning.values())
            .forEach(promise -> promise.fail("another member becomes the leader"));
        cut(waiting);
      } else {
        inaugurate();
      }
    }
  }

  private void inaugurate() {
    phase = Phase.INAUGURATING;
    leading = latest;
    begun = latest;
    LeaderContext now = leading;
    LOG.info("{} begins", now);
    call(() -> career.inaugurate(now), ended -> inaugurated(now, ended));
  }

  private void inaugurated(LeaderContext of, Throwable failure) {
    if (of != leading || phase != Phase.INAUGURATING) {
      return;
    }
    if (failure != null) {
      phase = Phase.STANDBY;
      leading = null;
      takeAll(assigning.values()).forEach(promise -> promise.fail(failure));
      takeAll(waiting).forEach(message -> message.end().fail(failure));
      return;
    }
    phase = Phase.LEADING;
    owned.addAll(assigning.keySet());
    takeAll(assigning.values()).forEach(Promise::complete);
    takeAll(waiting).forEach(message -> execute(message.message()).onComplete(message.end()));
    handOverIfLast();
  }

  // Messages

  @Override
  public Future<Void> handle(Delivery message) {
    if (phase == Phase.LEADING) {
      return execute(message);
    }
    if (handsOver() && phase != Phase.INAUGURATING) {
      return Future.failedFuture(givenBack());
    }
    Open open = new Open(message, Promise.promise());
    waiting.add(open);
    step();
    return open.end().future();
  }

  private Future<Void> execute(Delivery message) {
    if (career.atHand() == LeaderCareer.AtHand.FINISH) {
      return career.execute(message);
    }
    Open open = new Open(message, Promise.promise());
    running.add(open);
    if (atWork > 0 && career.isSerial()) {
      behind.add(open);
    } else {
      work(open);
    }
    return open.end().future();
  }

  private void work(Open open) {
    atWork++;
    call(
        () -> career.execute(open.message()),
        failure -> {
          atWork--;
          running.remove(open);
          if (failure == null) {
            open.end().tryComplete();
          } else {
            open.end().tryFail(failure);
          }
          workOn();
        });
  }

  private void workOn() {
    Open next;
    while (atWork == 0 && (next = behind.poll()) != null) {
      if (!next.end().future().isComplete()) {
        work(next);
      }
    }
  }

  private static GivenBackException givenBack() {
    return new GivenBackException("the leader hands over");
  }

  // End

  @Override
  public void onDraining(ShardContext shard) {
    if (!handsOver()) {
      return;
    }
    if (phase == Phase.LEADING && career.atHand() == LeaderCareer.AtHand.CUT) {
      handOver();
    } else if (phase == Phase.HANDED_OVER) {
      cut(running);
    }
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    owned.remove(LeasedShard.of(shard));
    boolean awaits =
        phase == Phase.LEADING || phase == Phase.HANDING_OVER || phase == Phase.INAUGURATING;
    if (!awaits || !handsOver() && phase != Phase.HANDING_OVER) {
      // Only this shard goes, or the handover is over.
      return Future.succeededFuture();
    }
    Promise<Buffer> released = Promise.promise();
    releasing.put(LeasedShard.of(shard), released);
    handOverIfLast();
    return released.future();
  }

  private void handOverIfLast() {
    if (phase == Phase.LEADING && handsOver() && owned.isEmpty() && !releasing.isEmpty()) {
      handOver();
    }
  }

  private void handOver() {
    phase = Phase.HANDING_OVER;
    LeaderContext now = leading;
    LOG.info("{} hands over", now);
    call(() -> career.handOver(now), failure -> handedOver(now, failure));
  }

  private void handedOver(LeaderContext of, Throwable failure) {
    if (of != leading || phase != Phase.HANDING_OVER) {
      return;
    }
    if (failure != null) {
      LOG.error("handOver of {} failed: {}", of, failure.toString());
    }
    phase = Phase.HANDED_OVER;
    cut(running);
    release();
    step();
  }

  @Override
  public void onLost(ShardContext shard) {
    LeasedShard leased = LeasedShard.of(shard);
    owned.remove(leased);
    Promise<Void> asked = assigning.remove(leased);
    if (asked != null) {
      asked.fail("the shard is lost");
    }
    Promise<Buffer> released = releasing.remove(leased);
    if (released != null) {
      released.complete();
    }
    List<Open> gone =
        waiting.stream().filter(each -> LeasedShard.of(each.message()).equals(leased)).toList();
    waiting.removeAll(gone);
    gone.forEach(message -> message.end().fail(givenBack()));
    handOverIfLast();
  }

  // Parts

  private void release() {
    takeAll(releasing.values()).forEach(Promise::complete);
  }

  private static void cut(List<Open> messages) {
    takeAll(messages).forEach(message -> message.end().tryFail(givenBack()));
  }

  /** Empties a collection, and returns what was in it. */
  private static <T> List<T> takeAll(Collection<T> from) {
    List<T> all = List.copyOf(from);
    from.clear();
    return all;
  }

  /**
   * Calls the career, whose futures may end on any thread.
   *
   * @param ended gets why the call failed, or null
   */
  private static void call(Supplier<Future<Void>> method, Consumer<Throwable> ended) {
    Future<Void> result;
    try {
      result = method.get();
      if (result == null) {
        throw new NullPointerException("the leader's work returned null instead of a future");
      }
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    if (result.isComplete()) {
      ended.accept(result.cause());
      return;
    }
    Context context = Vertx.currentContext();
    result.onComplete(
        done -> {
          if (context == null || context == Vertx.currentContext()) {
            ended.accept(done.cause());
          } else {
            context.runOnContext(ignored -> ended.accept(done.cause()));
          }
        });
  }
}
