package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;

/**
 * A {@link Producer} with a spool: it writes every accepted message to a directory before it sends
 * the message, and the message stays there until it is acknowledged. If the program ends or is
 * killed before that, the next producer with the same spool sends the message, in order and with
 * the numbers that it had, so that no message is in the log twice. Options whose names begin with
 * {@code spool} set it up.
 *
 * <p>There is no delivery timeout: a message is tried until it is acknowledged or the producer
 * ends. {@link #send} completes when the message is acknowledged, and {@link #spool} when it is in
 * the spool. When the spool is full, both wait or fail with OVERLOADED, as {@link
 * ProducerOptions#setOnFull} says.
 *
 * <p>{@link #close} writes what is in memory and ends at once; the next producer sends what is not
 * acknowledged by then. To have everything acknowledged, await {@link #flush} first.
 */
public interface SpoolingProducer extends Producer {

  /**
   * The two results of a message.
   *
   * @param spooled completes when the message is in the spool; with {@link
   *     ProducerOptions.SpoolFsync#ALWAYS} it is then on the disk. From now on it will be sent, by
   *     this program or by the next one with this spool.
   * @param acknowledged completes as {@link #send(Message)} does
   */
  record Receipt(Future<Void> spooled, Future<Position> acknowledged) {}

  /** As {@link #send(Message)}, but gives both results. */
  Receipt submit(Message message);

  /**
   * As {@link #sendAt}, but gives both results. The spool stores the due time: a message that
   * leaves the spool after its due time is delivered at once.
   */
  Receipt submitAt(Message message, Instant due);

  /**
   * Takes a message into the spool and completes as {@link Receipt#spooled()}. Its acknowledgement
   * is not reported, so it needs no memory while it waits in the spool.
   */
  Future<Void> spool(Message message);

  /**
   * Takes messages of a source that can be read again, together with the position after them. After
   * a crash, either all of them and the position are in the spool or none. Blocks while the spool
   * is full: call it on the thread that reads the source, never on an event loop.
   *
   * @param after where to continue reading after a restart; null if the source cannot be read again
   * @throws dev.evenkeel.protocol.RefusedException TOO_LARGE if a message is over its limits; the
   *     reason why the producer has ended, if it has
   */
  default void spoolAll(List<Message> messages, SourcePosition after) throws InterruptedException {
    spoolAll(messages, null, after);
  }

  /**
   * As {@link #spoolAll(List, SourcePosition)}, for messages that are all due at one time.
   *
   * @param due as in {@link #sendAt}; null for messages that are not delayed
   */
  void spoolAll(List<Message> messages, Instant due, SourcePosition after)
      throws InterruptedException;

  /** What the spool contained when this producer opened it. */
  Opened opened();

  /** Current figures of the spool. */
  Status status();

  /**
   * Completes when the producer was closed. Fails with the reason if the producer ends by itself:
   * for example PRODUCER_FENCED if another producer took its name, UNKNOWN_TOPIC if the topic was
   * deleted, UNAVAILABLE if the disk failed, UNKNOWN_PRODUCER if the cluster has forgotten the
   * producer, or INDETERMINATE if it has forgotten what a shard had taken that was dropped.
   */
  Future<Void> ended();

  /**
   * What a spool contained when it was opened.
   *
   * @param source the source of its messages, or null
   * @param position where to continue reading the source; null without a source
   * @param messages how many messages it contained that were not known to be acknowledged
   * @param cut if a damaged end was cut off, a sentence about it for people; otherwise null
   */
  record Opened(Source source, SourcePosition position, long messages, String cut) {}

  /**
   * Figures of a spool.
   *
   * @param spooledMessages how many messages were spooled: of the source in all runs, or without a
   *     source in this run
   * @param ackedMessages how many of these are acknowledged
   * @param pendingMessages how many messages are not acknowledged, including those of earlier runs
   * @param bytes size of the spool on the disk
   * @param oldestMillis age in milliseconds of the oldest message that is being sent, or -1 if
   *     there is none
   * @param lostMessages how many messages of earlier runs the log has, but the spool had lost
   *     because a crash of the machine cut off its end; a source that is read again gives them a
   *     second time
   */
  record Status(
      long spooledMessages,
      long ackedMessages,
      long pendingMessages,
      long bytes,
      long oldestMillis,
      long lostMessages) {}
}
