package dev.evenkeel.broker.node;

import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.BodyAnswer.Have;
import dev.evenkeel.storage.segment.RecordHeader;
import java.util.Collection;

/**
 * What becomes of a damaged body, by what the other nodes have of it.
 *
 * @param verdict what to do
 * @param from the answer whose body takes the place; null unless the verdict is REPLACE
 * @param awaitedIndex with LATER: when this node has applied this entry, the same answers may
 *     decide; -1 if they cannot
 */
record MendDecision(Verdict verdict, BodyAnswer from, long awaitedIndex) {
  enum Verdict {
    /** Put the body of a replica into the place. */
    REPLACE,
    /** No replica has it. */
    LOST,
    /** A node that may have it has not answered, or this one must apply more first. */
    LATER
  }

  /**
   * Decides about the body of one entry.
   *
   * @param index of the entry
   * @param own what stands before the damaged body; null if that is damaged, too, or missing
   * @param appliedIndex last entry that this node has applied
   * @param firstIndex bodies of entries from this one on must be whole: the log may send them
   * @param others how many other nodes there are
   * @param answers of those that answered
   */
  static MendDecision of(
      long index,
      RecordHeader own,
      long appliedIndex,
      long firstIndex,
      int others,
      Collection<BodyAnswer> answers) {
    for (BodyAnswer answer : answers) {
      if (fits(index, own, appliedIndex, answer)
          || index < firstIndex && isEnough(index, appliedIndex, answer)) {
        return new MendDecision(Verdict.REPLACE, answer, -1);
      }
    }
    boolean more =
        answers.size() < others
            || answers.stream().anyMatch(answer -> mayFitLater(index, own, appliedIndex, answer));
    return more
        ? new MendDecision(Verdict.LATER, null, awaited(index, appliedIndex, firstIndex, answers))
        : new MendDecision(Verdict.LOST, null, -1);
  }

  /**
   * The next entry whose application makes an answer count that comes from a node which was ahead.
   * In a log that grows, each new answer is from a node that is ahead again.
   */
  private static long awaited(
      long index, long appliedIndex, long firstIndex, Collection<BodyAnswer> answers) {
    return answers.stream()
        .filter(
            answer ->
                answer.have() == Have.MISSING || answer.have() == Have.PART && index < firstIndex)
        .mapToLong(BodyAnswer::appliedIndex)
        .filter(applied -> applied > appliedIndex)
        .min()
        .orElse(-1);
  }

  /**
   * Whether this is the body of the same entry. Without our own header, and with that of a part,
   * only entries that both nodes have applied are known to be the same.
   */
  static boolean fits(long index, RecordHeader own, long appliedIndex, BodyAnswer answer) {
    if (answer.have() != Have.WHOLE) {
      return false;
    }
    return own == null || own.partial()
        ? index <= Math.min(appliedIndex, answer.appliedIndex())
        : own.equals(RecordHeader.of(index, answer.term(), answer.body()));
  }

  /**
   * Whether this is a part of the body, and has all that our state needs: what the other one did
   * not need when it looked is never needed again.
   */
  private static boolean isEnough(long index, long appliedIndex, BodyAnswer answer) {
    return answer.have() == Have.PART
        && index <= answer.appliedIndex()
        && answer.appliedIndex() <= appliedIndex;
  }

  /**
   * A node that has applied more may have dropped a body that this node's state does not need any
   * more in a moment, and one that has applied less may get it.
   */
  private static boolean mayFitLater(
      long index, RecordHeader own, long appliedIndex, BodyAnswer answer) {
    return switch (answer.have()) {
      case WHOLE -> own == null || own.partial();
      case PART -> true;
      case MISSING -> answer.appliedIndex() > appliedIndex || answer.appliedIndex() < index;
      case DAMAGED -> false;
    };
  }
}
