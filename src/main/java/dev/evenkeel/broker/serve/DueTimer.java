package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.ClusterClock;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers delayed messages of a data log group when they are due, while this node leads it. One
 * command is in flight at a time; {@link DeliverySchedule} says when to send the next.
 *
 * <p>Runs on one context, but for {@link #lookSoon}.
 */
final class DueTimer {
  private static final Logger LOG = LoggerFactory.getLogger(DueTimer.class);

  /** Batches that one command moves. */
  static final int BATCHES_MAX = 2_000;

  /** Bytes of batches that one command moves, but for the last one. */
  static final int BYTES_MAX = 2 << 20;

  private static final long NOT_READY_MILLIS = 100;
  private static final long NO_TIMER = -1;

  private final ServeContext serve;
  private final LogGroupServer group;

  /** The clock by which messages are due, while this node leads. */
  private final ClusterClock clock;

  private final AtomicBoolean lookScheduled = new AtomicBoolean();
  private long timer = NO_TIMER;
  private long lastNanos = System.nanoTime() - 1_000_000_000L;
  private int failuresInRow;
  private boolean underWay;
  private boolean closed;

  DueTimer(ServeContext serve, LogGroupServer group) {
    this.serve = serve;
    this.group = group;
    clock = serve.node().clock();
  }

  /**
   * Looks again soon: something may be due earlier, or this node may lead now. From any thread;
   * several calls become one look.
   */
  void lookSoon() {
    if (lookScheduled.compareAndSet(false, true)) {
      serve.run(
          () -> {
            lookScheduled.set(false);
            look();
          });
    }
  }

  /** Delivers, or sets the timer for the next look. */
  void look() {
    if (timer != NO_TIMER) {
      serve.vertx().cancelTimer(timer);
      timer = NO_TIMER;
    }
    Leadership leadership = group.log().leadership();
    if (closed || underWay || !group.nodeId().equals(leadership.leader())) {
      // The answer, or a change of leader, calls this again.
      return;
    }
    if (!leadership.ready() || !clock.settled()) {
      lookIn(NOT_READY_MILLIS);
      return;
    }
    long wait =
        DeliverySchedule.waitMillis(
            clock.millis(),
            group.state().tables().delays().nextDueMillis(),
            (System.nanoTime() - lastNanos) / 1_000_000,
            failuresInRow);
    if (wait == 0) {
      deliver();
    } else if (wait != DeliverySchedule.NOTHING) {
      lookIn(wait);
    }
  }

  private void lookIn(long millis) {
    timer =
        serve
            .vertx()
            .setTimer(
                millis,
                id -> {
                  timer = NO_TIMER;
                  look();
                });
  }

  private void deliver() {
    underWay = true;
    lastNanos = System.nanoTime();
    byte[] entry = Entry.of(new DataCommand.DeliverDue(BATCHES_MAX, BYTES_MAX), clock.millis());
    group
        .log()
        .append(entry)
        .whenComplete((reply, failure) -> serve.run(() -> delivered(reply, failure)));
  }

  private void delivered(ByteBuffer reply, Throwable failure) {
    underWay = false;
    if (failure != null) {
      failuresInRow++;
      LOG.debug("delayed messages of {} wait: {}", group.log().name(), failure.toString());
    } else if (ReplyCodec.decode(reply) instanceof Reply.OfDelivered done) {
      failuresInRow = 0;
      if (done.messages() > 0) {
        serve.meters().delivered(done.messages(), done.lateMillis());
      }
    } else {
      failuresInRow++;
    }
    look();
  }

  /** Sends nothing more; call it on the context. */
  void close() {
    closed = true;
    if (timer != NO_TIMER) {
      serve.vertx().cancelTimer(timer);
      timer = NO_TIMER;
    }
  }
}
