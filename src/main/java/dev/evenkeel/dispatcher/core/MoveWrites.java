package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Reply;
import java.util.List;

/**
 * Writes moves and their figures into the meta log, so that the next dispatcher knows them: one
 * command at a time, at most one every {@link #PAUSE_MILLIS}. Nothing waits for it. What was not
 * taken, or perhaps not, is written again, which changes nothing if it was.
 */
final class MoveWrites {
  static final long PAUSE_MILLIS = 250;

  private final MoveLog moves;
  private final Outbox out;
  private final long retryMillis;
  private List<MoveRecord> batch;
  private long batchId;
  private long notBeforeMillis;

  MoveWrites(MoveLog moves, Outbox out, long retryMillis) {
    this.moves = moves;
    this.out = out;
    this.retryMillis = retryMillis;
  }

  /** Writes what there is, if it is time. */
  void pump(long nowMillis) {
    if (batch != null || moves.unwritten() == 0 || nowMillis < notBeforeMillis) {
      return;
    }
    List<MoveRecord> next = moves.takeUnwritten(Limits.MOVES_A_COMMAND_MAX);
    if (next.isEmpty()) {
      return;
    }
    batch = next;
    batchId = out.nextId();
    notBeforeMillis = nowMillis + PAUSE_MILLIS;
    out.add(new DispatcherAction.WriteMeta(batchId, new MetaCommand.RecordMoves(next)));
  }

  /**
   * A command was answered.
   *
   * @return whether it was one of these
   */
  boolean written(long id, Reply reply, long nowMillis) {
    if (batch == null || id != batchId) {
      return false;
    }
    List<MoveRecord> answered = batch;
    batch = null;
    if (reply instanceof Reply.Refused refused) {
      notBeforeMillis = nowMillis + retryMillis;
      if (refused.refusal().retriable()) {
        moves.untake(answered);
      } else {
        // It would be refused again, and keep all others waiting.
        moves.tally().unrecorded(answered.size());
      }
    }
    return true;
  }
}
