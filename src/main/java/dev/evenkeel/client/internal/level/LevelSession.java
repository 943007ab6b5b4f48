package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.internal.consume.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** What belongs to one session with a dealer. */
final class LevelSession {
  final long term;
  final long number;
  final String node;
  final boolean keep;

  /** What {@link SessionStart} was answered with, until a deal shows that the dealer knows it. */
  SessionState place;

  long received;

  /** Which numbers have ended. */
  final Window ends = new Window(0);

  /** Failures that no permission was heard of, in the order in which they came. */
  final List<Report.Failed> failed = new ArrayList<>();

  /** How many of them the report on its way tells. */
  int failedInFlight;

  /** The first number of the deal that the last checkpoint came with. */
  long checkpointFrom;

  /** Until then handlers may be started, in monotonic milliseconds; not at that moment any more. */
  long mayStartUntilMillis;

  /** The dealer knows nothing of this session; -1 if it does, else since when. */
  long stoppedMillis = -1;

  LevelSession(SessionStart collect) {
    term = collect.term();
    number = collect.session();
    node = collect.node();
    keep = collect.keep();
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
