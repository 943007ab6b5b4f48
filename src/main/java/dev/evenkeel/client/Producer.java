package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.WriteStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * Sends messages to one topic. Messages are collected into batches, and acknowledged when a
 * majority of the shard's replicas has them on disk, or as {@link ProducerOptions#setAcks} says.
 *
 * <p>As a {@link WriteStream} it is full when its buffer is: {@link #write} then still takes the
 * message, as Vert.x streams do, up to a hard limit past which it is refused with OVERLOADED;
 * {@link #send} on a full buffer waits or fails, as {@link ProducerOptions#getOnFull()} says.
 */
public interface Producer extends WriteStream<Message> {

  /**
   * An epoch that has ended because a batch that had been sent was given up. In every log group the
   * next one is recorded, so that nothing sent in this one can be taken any more.
   *
   * @param lastSequences by shard, the last sequence that the log took in it
   */
  record EpochClosed(int epoch, Map<Integer, Long> lastSequences) {
    public EpochClosed {
      lastSequences = Map.copyOf(lastSequences);
    }

    /** The last sequence taken in the shard, or -1 if there was none. */
    public long lastTaken(int shard) {
      return lastSequences.getOrDefault(shard, -1L);
    }

    /**
     * Whether the log took a message that was given up.
     *
     * @throws IllegalArgumentException if it was sent in another epoch
     */
    public boolean took(RefusedException.GivenUp sent) {
      if (sent.epoch() != epoch) {
        throw new IllegalArgumentException(
            "sent in epoch " + sent.epoch() + ", but asked of epoch " + epoch);
      }
      return sent.sequence() <= lastTaken(sent.shard());
    }
  }

  /**
   * Where a message is in the log.
   *
   * @param offset -1 if the log has the message but does not remember where, or if it is delayed
   *     and has no place yet
   */
  record Position(int shard, long offset) {}

  /**
   * Sends a message. Completes once it is acknowledged. The offset is -1 if the log has the message
   * but does not remember where. Fails with {@link RefusedException}:
   *
   * <ul>
   *   <li>TOO_LARGE, UNKNOWN_TOPIC, PRODUCER_FENCED, DISK_FULL: it is not in the log.
   *   <li>OVERLOADED: the buffer is full, and onFull is FAIL or too many wait already.
   *   <li>UNAVAILABLE: the delivery timeout has passed, and it was never sent.
   *   <li>INDETERMINATE: the delivery timeout has passed without an answer; a {@link
   *       RefusedException.GivenUp}.
   *   <li>REPLICAS_MISSING, with {@link Acks#ALL}: it is in the log, and not known to be on every
   *       replica in time, a {@link RefusedException.ReplicasMissing}.
   * </ul>
   *
   * <p>With {@link Acks#NONE} it completes when the message is sent, the offset being -1; see
   * {@link #failedMessages()}.
   */
  Future<Position> send(Message message);

  /** Convenience: text key (or null) and payload, with the time of now. */
  default Future<Position> send(String key, byte[] payload) {
    return send(
        new Message(
            key == null ? null : key.getBytes(StandardCharsets.UTF_8),
            null,
            System.currentTimeMillis(),
            payload));
  }

  /**
   * Sends a message that consumers get when it is due, and not before. Completes as {@link
   * #send(Message)} does once a majority has it on disk; it gets its offset when it is due, so the
   * offset is -1 now. Messages of a shard that are due at one time come in the order in which they
   * were sent; else the one due first comes first.
   *
   * <p>The time counts by the clock of the node that leads the shard, in steps of 10 ms, rounded
   * up; see that the clocks of all machines agree. A message that is due already is sent at once.
   * Fails as {@link #send(Message)} does, and with INVALID if it is due in more than 30 days, with
   * TOO_LARGE if too many wait in its shard already.
   */
  Future<Position> sendAt(Message message, Instant due);

  /**
   * The same, by this program's clock: due {@code deliverAfter} from now.
   *
   * @param deliverAfter zero or less: at once
   */
  default Future<Position> send(Message message, Duration deliverAfter) {
    return deliverAfter.isZero() || deliverAfter.isNegative()
        ? send(message)
        : sendAt(message, dueIn(deliverAfter));
  }

  /** Convenience: text key (or null) and payload, with the time of now. */
  default Future<Position> send(String key, byte[] payload, Duration deliverAfter) {
    return send(
        new Message(
            key == null ? null : key.getBytes(StandardCharsets.UTF_8),
            null,
            System.currentTimeMillis(),
            payload),
        deliverAfter);
  }

  /** So long from now; times beyond all clocks are the last one of them. */
  static Instant dueIn(Duration deliverAfter) {
    try {
      return Instant.now().plus(deliverAfter);
    } catch (DateTimeException | ArithmeticException e) {
      return deliverAfter.isNegative() ? Instant.MIN : Instant.MAX;
    }
  }

  /** Milliseconds since 1970, rounded up. */
  static long millis(Instant instant) {
    try {
      return instant.plusNanos(999_999).toEpochMilli();
    } catch (DateTimeException | ArithmeticException e) {
      return instant.isAfter(Instant.EPOCH) ? Long.MAX_VALUE / 2 : 0;
    }
  }

  /**
   * Called on the producer's context for each epoch that was closed since a batch was given up,
   * once the next one is open: {@link EpochClosed#took} then says what became of each message that
   * failed with INDETERMINATE. Never called with a spool, where nothing is given up.
   */
  default Producer epochHandler(Handler<EpochClosed> handler) {
    return this;
  }

  /** Completes when everything sent before is acknowledged or has failed. */
  Future<Void> flush();

  /** Messages taken and not yet acknowledged. */
  long pendingMessages();

  /**
   * With {@link Acks#NONE}: messages that failed after their future had completed, each with one of
   * the reasons that {@link #send} names; the exception handler hears of them batch by batch. It
   * counts all once {@link #flush()} or {@link #close()} has completed.
   */
  default long failedMessages() {
    return 0;
  }

  /** Flushes, then ends. */
  Future<Void> close();
}
