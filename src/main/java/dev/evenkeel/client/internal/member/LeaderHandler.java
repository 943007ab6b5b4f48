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
import java.util.ArrayList;
import java.util.Collection;
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
 * A leader's career as the handler of a consumer: many shards come and go, one leadership begins
 * and ends. All of it happens on the consumer's context.
 *
 * <pre>
 * from          on                                                          to
 * STANDBY       a shard is assigned (all are granted then): inaugurate      INAUGURATING
 * INAUGURATING  it has ended well: the shards begin                         LEADING
 * INAUGURATING  it has failed: the shards ask again after a pause           STANDBY
 * LEADING       to hand over, and the last shard awaits its release,        HANDING_OVER
 *               or a message is to be cut: handOver
 * HANDING_OVER  it has ended: the shards are released                       HANDED_OVER
 * HANDED_OVER   called off, and messages come                               STANDBY
 * any           the leadership is over; before HANDED_OVER it is lost       STANDBY
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

  /** As told last; null: this member does not lead. */
  private LeaderContext told;

  /** Of which the career knows: inaugurated or about to be; null in STANDBY. */
  private LeaderContext leading;

  /** The last that was inaugurated: all shards were granted for it. */
  private LeaderContext begun;

  private final Map<LeasedShard, Promise<Void>> assigning = new HashMap<>();
  private final Set<LeasedShard> held = new HashSet<>();
  private final Map<LeasedShard, Promise<Buffer>> releasing = new HashMap<>();
  private final List<Open> running = new ArrayList<>();
  private final List<Open> waiting = new ArrayList<>();

  public LeaderHandler(LeaderCareer career) {
    this.career = career;
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
    told = leader;
    if (phase == Phase.LEADING && !handsOver()) {
      // Called off: what is about to go comes back.
      release();
    }
    step();
  }

  private boolean handsOver() {
    return told == null || told.isHandingOver();
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
    held.clear();
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
    LeasedShard place = LeasedShard.of(shard);
    if (phase == Phase.LEADING) {
      held.add(place);
      return Future.succeededFuture();
    }
    Promise<Void> end = Promise.promise();
    assigning.put(place, end);
    step();
    return end.future();
  }

  private void step() {
    if (phase == Phase.HANDED_OVER && !handsOver()) {
      phase = Phase.STANDBY;
      leading = null;
    }
    boolean wanted = !assigning.isEmpty() || !waiting.isEmpty() && told == begun;
    if (phase == Phase.STANDBY && wanted) {
      if (handsOver()) {
        takeAll(assigning.values()).forEach(promise -> promise.fail("another is to lead"));
        cut(waiting);
      } else {
        inaugurate();
      }
    }
  }

  private void inaugurate() {
    phase = Phase.INAUGURATING;
    leading = told;
    begun = told;
    LeaderContext present = leading;
    LOG.info("{} begins", present);
    call(() -> career.inaugurate(present), ended -> inaugurated(present, ended));
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
    held.addAll(assigning.keySet());
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
    call(
        () -> career.execute(message),
        failure -> {
          running.remove(open);
          if (failure == null) {
            open.end().tryComplete();
          } else {
            open.end().tryFail(failure);
          }
        });
    return open.end().future();
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
    held.remove(LeasedShard.of(shard));
    boolean awaits =
        phase == Phase.LEADING || phase == Phase.HANDING_OVER || phase == Phase.INAUGURATING;
    if (!awaits || !handsOver() && phase != Phase.HANDING_OVER) {
      // It goes alone, or all has been said.
      return Future.succeededFuture();
    }
    Promise<Buffer> released = Promise.promise();
    releasing.put(LeasedShard.of(shard), released);
    handOverIfLast();
    return released.future();
  }

  private void handOverIfLast() {
    if (phase == Phase.LEADING && handsOver() && held.isEmpty() && !releasing.isEmpty()) {
      handOver();
    }
  }

  private void handOver() {
    phase = Phase.HANDING_OVER;
    LeaderContext present = leading;
    LOG.info("{} hands over", present);
    call(() -> career.handOver(present), failure -> handedOver(present, failure));
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
    LeasedShard place = LeasedShard.of(shard);
    held.remove(place);
    Promise<Void> asked = assigning.remove(place);
    if (asked != null) {
      asked.fail("the shard is lost");
    }
    Promise<Buffer> released = releasing.remove(place);
    if (released != null) {
      released.complete();
    }
    List<Open> gone =
        waiting.stream().filter(each -> LeasedShard.of(each.message()).equals(place)).toList();
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
        throw new NullPointerException("the career returned null instead of a future");
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
            context.runOnContext(now -> ended.accept(done.cause()));
          }
        });
  }
}
