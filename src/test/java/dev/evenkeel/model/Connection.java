package dev.evenkeel.model;

import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/** A connection of users, and whether anything has happened to it or to the machines. */
final class Connection {
  /** Something happens just now. */
  static final int NOT_CALM = -1;

  private static final long STANDSTILL_SECONDS_MAX = 300;

  final EvenkeelClient client;

  /** Null: others use the connection, too. */
  private final Vertx own;

  private final IntSupplier shocks;

  /** Odd while it stands still. */
  private final AtomicInteger standstills = new AtomicInteger();

  private volatile boolean dead;

  /**
   * @param own its threads, which it shares with nobody; null: it is not to stand still or to die
   * @param shocks grows by each thing that happens to machines, and is odd meanwhile
   */
  Connection(EvenkeelClient client, Vertx own, IntSupplier shocks) {
    this.client = client;
    this.own = own;
    this.shocks = shocks;
  }

  /** A number that stays the same as long as nothing happens; {@link #NOT_CALM} while it does. */
  int calm() {
    int all = quiet();
    int still = moves();
    return dead || all == NOT_CALM || still == NOT_CALM ? NOT_CALM : all + still;
  }

  boolean isCalmSince(int before) {
    return before != NOT_CALM && calm() == before;
  }

  /** As {@link #calm()}, of machines alone. */
  int quiet() {
    int all = shocks.getAsInt();
    return all % 2 == 0 ? all : NOT_CALM;
  }

  boolean isQuietSince(int before) {
    return before != NOT_CALM && quiet() == before;
  }

  /** As {@link #calm()}, of this connection alone. */
  int moves() {
    int still = standstills.get();
    return still % 2 == 0 ? still : NOT_CALM;
  }

  boolean movesSince(int before) {
    return before != NOT_CALM && moves() == before;
  }

  boolean isDead() {
    return dead;
  }

  /** Whether it can be used now. */
  boolean works() {
    return !dead && standstills.get() % 2 == 0;
  }

  /** It begins to stand still, or goes on. */
  void standsStill(boolean still) {
    standstills.getAndUpdate(before -> before % 2 == 0 == still ? before + 1 : before);
  }

  /** Its threads do nothing for a while. Returns at once. */
  void standStill(long millis, Vertx timer) {
    standsStill(true);
    CountDownLatch over = stop();
    timer.setTimer(
        millis,
        late -> {
          over.countDown();
          standsStill(false);
        });
  }

  /**
   * Says nothing any more, as if its host had vanished. It is closed only when the run is over: a
   * Vert.x that is closed before its clients would keep them in memory.
   */
  void die(Future<?> runOver) {
    dead = true;
    CountDownLatch over = stop();
    runOver.onComplete(done -> over.countDown());
  }

  /** Its threads do nothing until then. */
  private CountDownLatch stop() {
    CountDownLatch until = new CountDownLatch(1);
    ((VertxInternal) own).nettyEventLoopGroup().forEach(loop -> loop.execute(() -> await(until)));
    return until;
  }

  private static void await(CountDownLatch over) {
    try {
      over.await(STANDSTILL_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends as it should. */
  Future<Void> close() {
    return client.close().eventually(own::close);
  }
}
