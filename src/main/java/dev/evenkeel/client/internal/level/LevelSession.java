package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.internal.consume.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** One session with the level dispatcher, which ends when another begins. */
final class LevelSession {
  final long term;
  final long number;
  final String node;
  final boolean keep;

  /**
   * The answer to {@link SessionStart}, until a hand-out shows that the level dispatcher has it.
   */
  SessionState answer;

  long received;

  /** Which messages of the session have ended, by their numbers. */
  final Window ends = new Window(0);

  /** Failures that no permission has acknowledged, in the order in which they came. */
  final List<Report.Failed> failed = new ArrayList<>();

  /** How many of them are in the report that is under way. */
  int failedInFlight;

  /** The first number of the hand-out that brought the last checkpoint. */
  long checkpointFrom;

  /** The time before which handlers may start, in monotonic milliseconds. */
  long mayStartUntilMillis;

  /** Since when the level dispatcher has not known this session; -1 if it does. */
  long stoppedMillis = -1;

  LevelSession(SessionStart start) {
    term = start.term();
    number = start.session();
    node = start.node();
    keep = start.keep();
  }

  /** Less than, equal to or greater than 0, as this comes before, is, or comes after that one. */
  int compareTo(long otherTerm, long otherNumber) {
    return term != otherTerm ? Long.compare(term, otherTerm) : Long.compare(number, otherNumber);
  }

  /** Numbers that have ended above {@code ends.committed()}, ascending. */
  long[] endedAbove() {
    return LongStream.range(ends.committed(), ends.top()).filter(ends::isFinished).toArray();
  }
}
