package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;

/**
 * A shard that got another owner. A figure that is unknown, or not known yet, is null.
 *
 * @param timeMillis of the grant, in milliseconds since 1970
 * @param from null if nobody is known to have owned it before
 * @param cause null if unknown
 * @param releaseMillis from the drain to the release; null also if there was none
 * @param epoch that the new owner has
 * @param committed where the new owner began; null if unknown
 * @param pauseMillis from the end of the old owner's last handler to the new owner's first fetch;
 *     of an owner that died, from its last heartbeat
 * @param redelivered messages that the old owner had begun, by its last report, and that the new
 *     one gets again
 */
public record Move(
    long timeMillis,
    String group,
    String topic,
    int shard,
    String from,
    String to,
    Cause cause,
    Long releaseMillis,
    long epoch,
    Long committed,
    Long pauseMillis,
    Long redelivered) {

  /** As the meta log has it. */
  static Move of(MoveRecord move) {
    return new Move(
        move.timeMillis(),
        move.group(),
        move.topic(),
        move.shard().shard(),
        move.from(),
        move.to(),
        Cause.ofWord(move.reason()),
        move.releaseMillis(),
        move.epoch(),
        move.committed(),
        move.pauseMillis(),
        move.redelivered());
  }

  /** As the meta log shall have it. */
  MoveRecord record(Shard of) {
    return new MoveRecord(
        timeMillis,
        group,
        topic,
        of,
        from,
        to,
        cause == null ? null : cause.word(),
        pauseMillis,
        releaseMillis,
        redelivered,
        capped(),
        epoch,
        committed);
  }

  /** The old owner did not let go before its hand-over's cap. */
  public boolean capped() {
    return cause == Cause.CAP;
  }

  Move takenFrom(String owner) {
    return with(owner, pauseMillis, redelivered);
  }

  Move with(Long pause, Long again) {
    return with(from, pause, again);
  }

  private Move with(String owner, Long pause, Long again) {
    return new Move(
        timeMillis,
        group,
        topic,
        shard,
        owner,
        to,
        cause,
        releaseMillis,
        epoch,
        committed,
        pause,
        again);
  }
}
