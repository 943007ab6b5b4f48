package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;

/**
 * A {@link Producer} with a spool: everything accepted is in a directory before it is sent, and
 * stays there until it is acknowledged. What a program leaves behind, however it ended, is sent
 * when the spool is next opened, in order and with the producer id, epoch and sequences that it
 * had, so that nothing is there twice.
 *
 * <p>There is no delivery timeout: a message is tried until it is acknowledged or the producer
 * ends. {@link #send} completes when the message is acknowledged, as ever. {@link #close} writes
 * what is in memory and ends at once: what is not acknowledged then is sent next time. Await {@link
 * #flush} before to have it acknowledged.
 */
public interface SpoolingProducer extends Producer {

  /**
   * What becomes of a message, in two steps.
   *
   * @param spooled it is in the spool, on the disk if the fsync policy is ALWAYS; from now on it
   *     will be sent, if not by this program then by the next one with this spool
   * @param acknowledged as by {@link #send}
   */
  record Receipt(Future<Void> spooled, Future<Position> acknowledged) {}

  /** As {@link #send}, with both promises. */
  Receipt submit(Message message);

  /**
   * As {@link #sendAt}, with both promises. The time goes into the spool, not the delay: a message
   * that leaves the spool after its time is due at once.
   */
  Receipt submitAt(Message message, Instant due);

  /**
   * Accepts a message for the spool alone: completes as {@link Receipt#spooled()}, and nobody is
   * told of the acknowledgement. So that memory stays bounded, however much there is in the spool.
   */
  Future<Void> spool(Message message);

  /**
   * Accepts messages of a source that can be read again, together with the position behind them: in
   * the spool there are either both or none. Blocks while the spool is full, so it is for a thread
   * that reads; never call it on an event loop.
   *
   * @param after where to read on after a restart; null: it cannot be read again
   * @throws dev.evenkeel.protocol.RefusedException why the producer has ended
   */
  default void spoolAll(List<Message> messages, SourcePosition after) throws InterruptedException {
    spoolAll(messages, null, after);
  }

  /**
   * The same for messages that are due at one time.
   *
   * @param due as of {@link #sendAt}; null: at once
   */
  void spoolAll(List<Message> messages, Instant due, SourcePosition after)
      throws InterruptedException;

  /** What was found when the spool was opened. */
  Opened opened();

  /** How it stands now. */
  Status status();

  /** Completes when the producer ends, with the reason unless it was closed. */
  Future<Void> ended();

  /**
   * @param source what is read, if it can be read again, or null
   * @param position where to read on; null without a source
   * @param messages that had been spooled before and were not known to be acknowledged
   * @param cut what was cut off a damaged end, as a sentence, or null
   */
  record Opened(Source source, SourcePosition position, long messages, String cut) {}

  /**
   * @param spooledMessages of the source in all runs; without a source, of this run
   * @param ackedMessages of those
   * @param pendingMessages all that are not acknowledged, those of earlier runs included
   * @param bytes on the disk
   * @param oldestMillis age of the oldest that is on its way, or -1
   * @param lostMessages that the log had taken of an earlier run and the spool did not know of,
   *     because a crash of the machine took its end; a source gives them once more
   */
  record Status(
      long spooledMessages,
      long ackedMessages,
      long pendingMessages,
      long bytes,
      long oldestMillis,
      long lostMessages) {}
}
