package dev.evenkeel.client.internal.produce;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.BatchBuilder;
import io.vertx.core.Promise;
import java.util.function.BiConsumer;

/**
 * Takes messages into the core, or has them wait for room in their order. Guarded by the lock of
 * the producer, whose application is not called here.
 */
final class Intake {
  /** What happens to a message when the buffer is full. */
  enum WhenFull {
    WAIT,
    REFUSE,
    /** Take it up to the hard limit. */
    STRETCH
  }

  private final String topic;
  private final ProducerCore<Promise<Producer.Position>> core;
  private final SendBuffer<Promise<Producer.Position>> buffer;
  private final Runnable schedule;
  private final BiConsumer<Promise<Producer.Position>, RefusedException> refuseLater;

  /**
   * @param schedule has the core polled soon
   * @param refuseLater fails a promise outside of the lock
   */
  Intake(
      String topic,
      ProducerCore<Promise<Producer.Position>> core,
      SendBuffer<Promise<Producer.Position>> buffer,
      Runnable schedule,
      BiConsumer<Promise<Producer.Position>, RefusedException> refuseLater) {
    this.topic = topic;
    this.core = core;
    this.buffer = buffer;
    this.schedule = schedule;
    this.refuseLater = refuseLater;
  }

  /**
   * @param dueMillis of {@code DueTime}
   * @throws RefusedException UNKNOWN_TOPIC, OVERLOADED, INVALID (by the router), or why the
   *     producer has ended
   */
  void take(
      Message message,
      long dueMillis,
      Promise<Producer.Position> promise,
      WhenFull full,
      long nowMillis) {
    if (core.endedBy() != null) {
      throw core.endedBy();
    }
    if (!core.hasTopic()) {
      throw new RefusedException(Refusal.UNKNOWN_TOPIC, "there is no topic '" + topic + "'");
    }
    int bytes = BatchBuilder.sizeOf(message) + SendBuffer.MESSAGE_COST_BYTES;
    boolean room =
        full == WhenFull.STRETCH ? !buffer.isOverfull() : !buffer.isFull() && !buffer.hasWaiters();
    if (room) {
      accept(message, dueMillis, promise, bytes, nowMillis);
    } else if (full != WhenFull.WAIT || !buffer.await(message, dueMillis, promise, bytes)) {
      throw new RefusedException(
          Refusal.OVERLOADED,
          "the producer's buffer is full: wait for earlier sends before sending more");
    }
  }

  private void accept(
      Message message,
      long dueMillis,
      Promise<Producer.Position> promise,
      int bytes,
      long nowMillis) {
    if (core.add(message, dueMillis, promise, bytes, nowMillis)) {
      schedule.run();
    }
    buffer.take(bytes);
  }

  /** Takes those that waited, as far as there is room; refuses all if nothing can be sent. */
  void admit(long nowMillis) {
    while (true) {
      boolean dead = core.endedBy() != null || !core.hasTopic();
      SendBuffer.Waiter<Promise<Producer.Position>> next = dead ? buffer.evict() : buffer.admit();
      if (next == null) {
        return;
      }
      if (next.flush() != null) {
        next.flush().run();
        schedule.run();
      } else if (dead) {
        refuseLater.accept(
            next.token(),
            core.endedBy() != null
                ? core.endedBy()
                : new RefusedException(Refusal.UNKNOWN_TOPIC, "the topic was deleted"));
      } else {
        try {
          accept(next.message(), next.dueMillis(), next.token(), next.bytes(), nowMillis);
        } catch (RefusedException refused) {
          refuseLater.accept(next.token(), refused);
        }
      }
    }
  }
}
