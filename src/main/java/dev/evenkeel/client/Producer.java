package dev.evenkeel.client;

import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.WriteStream;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * Sends messages to one topic. {@link EvenkeelClient#producer} starts one. All methods may be
 * called from any thread. The producer collects messages into batches and repeats a batch until the
 * log has answered or the delivery timeout is over. A repeat is never stored twice.
 *
 * <p>Messages of one shard are stored in the order in which they were sent. A message is
 * acknowledged when a majority of the shard's replicas has it on disk, or as {@link
 * ProducerOptions#setAcks} says.
 *
 * <p>The buffer is full when it holds {@link ProducerOptions#setBufferBytes} bytes or 131,072
 * messages. {@link #send} then waits or fails, as {@link ProducerOptions#setOnFull} says; at most
 * 10,000 sends wait. As for every {@link WriteStream}, {@link #writeQueueFull} is then true; {@link
 * #write} still takes messages, up to twice these limits, and then fails with OVERLOADED. The drain
 * handler is called when the buffer is half empty again.
 *
 * <p>The exception handler gets failures of {@link #write}, failures after {@link Acks#NONE}, and
 * the reason if the producer ends by itself. Handlers are called on the producer's context.
 */
public interface Producer extends WriteStream<Message> {

  /**
   * An epoch of the producer that has ended, because a batch was sent and given up without an
   * answer. The next epoch is recorded in every log group, so nothing of this epoch can reach the
   * log any more.
   *
   * @param epoch number of the epoch
   * @param lastSequences by shard, the last sequence that the log took in this epoch
   */
  record EpochClosed(int epoch, Map<Integer, Long> lastSequences) {
    public EpochClosed {
      lastSequences = Map.copyOf(lastSequences);
    }

    /** The last sequence that the log took in the shard, or -1 if it took none. */
    public long lastTaken(int shard) {
      return lastSequences.getOrDefault(shard, -1L);
    }

    /**
     * Whether the log took a message that failed with INDETERMINATE.
     *
     * @param sent the exception with which {@link Producer#send} failed
     * @throws IllegalArgumentException if the message was sent in another epoch
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
   * @param shard index of the shard, from 0
   * @param offset place in the shard; -1 if the log has the message but does not remember where, if
   *     the message is delayed and has no place yet, or with {@link Acks#NONE}
   * @param delayedId names a delayed message until it is delivered, for {@link
   *     Admin#cancelDelayed}; null if the message is not delayed, with {@link Acks#NONE}, if the
   *     log does not remember it, or while a node runs version 0.1
   * @param logPosition the place in the log of the cluster; null if it is not known: with {@link
   *     Acks#NONE}, if the first answer of the node was lost, and with a spool
   */
  record Position(int shard, long offset, String delayedId, LogPosition logPosition) {
    /** Where a message is of which the place in the log is not known. */
    public Position(int shard, long offset, String delayedId) {
      this(shard, offset, delayedId, null);
    }

    /** Where a message is that is not delayed. */
    public Position(int shard, long offset) {
      this(shard, offset, null, null);
    }

    /** Whether the message is delayed, and can be cancelled. */
    public boolean isDelayed() {
      return delayedId != null;
    }
  }

  /**
   * Sends a message. Completes when it is acknowledged, on the caller's Vert.x context if there is
   * one. With {@link Acks#NONE} it completes when the message is sent; see {@link
   * #failedMessages()}.
   *
   * <p>Fails with {@link RefusedException}. The message is not in the log with:
   *
   * <ul>
   *   <li>TOO_LARGE: payload, key or headers are over the limits of {@link
   *       dev.evenkeel.protocol.Limits}.
   *   <li>INVALID: the router failed, or gave a shard that the topic does not have.
   *   <li>UNKNOWN_TOPIC: the topic was deleted.
   *   <li>OVERLOADED: the buffer is full, and onFull is FAIL or too many sends wait already.
   *   <li>INTERNAL: a bug in Evenkeel; see the node's log.
   *   <li>DISK_FULL: the node's disk was too full for {@link
   *       ProducerOptions#setDiskFullTimeoutMillis}.
   *   <li>UNAVAILABLE: the producer is closed, or the delivery timeout is over and the message was
   *       never sent. If the node refused every try until then, the failure is its last refusal,
   *       for example NOT_LEADER.
   * </ul>
   *
   * <p>With these refusals the message is in the log, or may be:
   *
   * <ul>
   *   <li>PRODUCER_FENCED: another producer took the name, and this one has ended. Whether a
   *       message that was on its way is in the log is unknown.
   *   <li>INDETERMINATE: the message was sent but not answered, and the delivery timeout is over,
   *       the topic was deleted, another try was refused, the producer has ended, or nobody
   *       remembers what its shard had taken, which was dropped. If the failure is a {@link
   *       RefusedException.GivenUp}, {@link #epochHandler} tells whether the log has the message.
   *   <li>REPLICAS_MISSING, with {@link Acks#ALL}: the message is in the log, but was not known to
   *       be on every replica in time. The failure is a {@link RefusedException.ReplicasMissing}.
   * </ul>
   */
  Future<Position> send(Message message);

  /**
   * As {@link #send(Message)}, for a message without headers and with the current time as
   * timestamp.
   *
   * @param key text, sent as UTF-8; null for none
   */
  default Future<Position> send(String key, byte[] payload) {
    return send(Message.of(key, System.currentTimeMillis(), payload));
  }

  /**
   * Sends a message that consumers get when it is due, and not before. Completes and fails as
   * {@link #send(Message)} does. The message gets its offset when it is due, so the offset in the
   * result is -1, and {@link Position#delayedId} names the message until then. Among the messages
   * of a shard, the one that is due first comes first; messages that are due at the same time come
   * in the order in which they were sent.
   *
   * <p>The clock of the node that leads the shard decides, in steps of 10 ms, rounded up. Compute
   * the time with {@link #dueAfter} if this program's clock may be wrong. A message that is due
   * already is sent at once. In addition to {@link #send(Message)}, it fails with INVALID if the
   * message is due in more than 30 days, and with TOO_LARGE if too many delayed messages wait in
   * its shard.
   */
  Future<Position> sendAt(Message message, Instant due);

  /**
   * As {@link #sendAt}, for a message that is due {@code deliverAfter} from now: {@link #dueAfter}
   * gives the time.
   *
   * @param deliverAfter the delay, at most 30 days; zero or less for none
   */
  default Future<Position> send(Message message, Duration deliverAfter) {
    return deliverAfter.isZero() || deliverAfter.isNegative()
        ? send(message)
        : sendAt(message, dueAfter(deliverAfter));
  }

  /**
   * As {@link #send(Message, Duration)}, for a message without headers and with the current time as
   * timestamp.
   *
   * @param key text, sent as UTF-8; null for none
   */
  default Future<Position> send(String key, byte[] payload, Duration deliverAfter) {
    return send(Message.of(key, System.currentTimeMillis(), payload), deliverAfter);
  }

  /**
   * The time that is {@code deliverAfter} from now, by the clock of the cluster. A producer learns
   * that clock from the nodes that it is connected to, so this program's own clock may be wrong. It
   * uses the own clock until a node has answered, and if all nodes run version 0.1.
   */
  default Instant dueAfter(Duration deliverAfter) {
    return dueIn(deliverAfter);
  }

  /**
   * The time that is {@code deliverAfter} from now by this program's clock, or the nearest that an
   * {@link Instant} can be. A producer's {@link #dueAfter} does not depend on this program's clock.
   */
  static Instant dueIn(Duration deliverAfter) {
    try {
      return Instant.now().plus(deliverAfter);
    } catch (DateTimeException | ArithmeticException e) {
      return deliverAfter.isNegative() ? Instant.MIN : Instant.MAX;
    }
  }

  /** An instant as milliseconds since 1970, rounded up. */
  static long millis(Instant instant) {
    try {
      return instant.plusNanos(999_999).toEpochMilli();
    } catch (DateTimeException | ArithmeticException e) {
      return instant.isAfter(Instant.EPOCH) ? Long.MAX_VALUE / 2 : 0;
    }
  }

  /**
   * Sets the handler that is called for each epoch that has ended because a batch was given up,
   * when the next epoch is open. {@link EpochClosed#took} then tells for each message that failed
   * with INDETERMINATE whether the log has it. Never called with a spool, where nothing is given
   * up.
   */
  default Producer epochHandler(Handler<EpochClosed> handler) {
    return this;
  }

  /**
   * Completes when everything that was sent before is acknowledged or has failed. It never fails
   * itself; a {@link SpoolingProducer} fails it if the producer ends.
   */
  Future<Void> flush();

  /** How many messages were taken, or wait for room in the buffer, and are not acknowledged yet. */
  long pendingMessages();

  /**
   * With {@link Acks#NONE}, how many messages failed after their future had completed, for the
   * reasons that {@link #send(Message)} lists. The exception handler gets these failures batch by
   * batch. After {@link #flush()} or {@link #close()} the number includes all messages sent before.
   */
  default long failedMessages() {
    return 0;
  }

  /**
   * Flushes, then ends the producer. This takes up to the delivery timeout, also if a quota would
   * take longer: messages that are not acknowledged by then fail, and the failure says why. Use
   * {@link #flush} first to wait for them. Later sends fail with UNAVAILABLE. A {@link
   * SpoolingProducer} does not flush.
   */
  Future<Void> close();
}
