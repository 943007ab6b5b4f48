package dev.evenkeel.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Looks for an order of concurrent operations that a sequential specification allows and that
 * respects real time: an operation that was answered before another was sent comes before it.
 *
 * <p>The search is that of Wing & Gong, with Lowe's two improvements ("Testing for
 * linearizability", 2017; Porcupine does the same): operations that have taken effect are cut out
 * of the list of events, and a set of done operations with the state they led to is looked at only
 * once. Two rules of our own keep it short. An operation that changes nothing takes effect at the
 * first moment at which its answer is right, which cannot stand in the way of any other. And one
 * whose outcome is unknown is tried only when nothing else can go on.
 *
 * @param <S> the state: immutable, with {@code equals} and {@code hashCode}
 */
final class Linearizer<S> {
  /** {@link Op#until} of an operation that was never answered. */
  static final long UNKNOWN = Long.MAX_VALUE;

  /** What an operation does. */
  interface Step<S> {
    /**
     * The state after it. Null: this answer cannot come from that state. A state equal to the one
     * before: it changes nothing.
     */
    S from(S before);
  }

  /**
   * An operation.
   *
   * @param from when it was sent; all times are places in one order of events
   * @param until when its answer came; {@link #UNKNOWN}: it takes effect at any time after {@code
   *     from}, or never
   */
  record Op<S>(long from, long until, Step<S> step) {
    boolean answered() {
      return until != UNKNOWN;
    }
  }

  /**
   * How far the search came.
   *
   * @param order operations by their places in the list given: all that were answered, in an order
   *     that is allowed; without one, the longest beginning of an order that was found
   * @param stuck what could not be next there
   * @param state to which {@code order} leads
   */
  record Verdict<S>(boolean linearizable, List<Integer> order, List<Integer> stuck, S state) {}

  /** A search that goes on for too long says so, instead of an answer. */
  static final class TooHard extends AssertionError {
    private static final long serialVersionUID = 1L;

    TooHard(int states) {
      super("no answer after " + states + " states: record a shorter history");
    }
  }

  private static final int STATES_MAX = 2_000_000;
  private static final int HEAD = 0;

  private record Seen(long done, Object state) {}

  private record Frame<S>(int op, S before, boolean unchanged) {}

  private final List<Op<S>> ops;

  /** Events of answered operations: 2 op + 1 is its beginning, 2 op + 2 its end. */
  private final int[] next;

  private final int[] previous;
  private final List<Integer> unanswered = new ArrayList<>();
  private final boolean[] done;
  private final long[] salt;
  private final Set<Seen> seen = new HashSet<>();
  private final Deque<Frame<S>> stack = new ArrayDeque<>();
  private S state;
  private long doneSalt;
  private int left;
  private List<Integer> deepest = List.of();
  private S deepestState;
  private List<Integer> deepestStuck = List.of();

  private Linearizer(S initial, List<Op<S>> ops) {
    this.ops = ops;
    state = initial;
    deepestState = initial;
    next = new int[2 * ops.size() + 1];
    previous = new int[2 * ops.size() + 1];
    done = new boolean[ops.size()];
    salt = new SplittableRandom(1).longs(ops.size()).toArray();
    List<Integer> events = new ArrayList<>();
    for (int op = 0; op < ops.size(); op++) {
      if (ops.get(op).answered()) {
        events.add(2 * op + 1);
        events.add(2 * op + 2);
        left++;
      } else {
        unanswered.add(op);
      }
    }
    // At one moment beginnings come before ends: then they overlap.
    events.sort(
        (a, b) ->
            timeOf(a) != timeOf(b)
                ? Long.compare(timeOf(a), timeOf(b))
                : Boolean.compare(isEnd(a), isEnd(b)));
    int last = HEAD;
    for (int event : events) {
      next[last] = event;
      previous[event] = last;
      last = event;
    }
  }

  static <S> Verdict<S> check(S initial, List<Op<S>> ops) {
    return new Linearizer<>(initial, ops).search();
  }

  private static boolean isEnd(int event) {
    return event % 2 == 0;
  }

  private static int opOf(int event) {
    return (event - 1) / 2;
  }

  private long timeOf(int event) {
    Op<S> op = ops.get(opOf(event));
    return isEnd(event) ? op.until() : op.from();
  }

  private Verdict<S> search() {
    int event = next[HEAD];
    int unknown = 0;
    while (left > 0) {
      if (goOnWithAnswered(event) || goOnWithUnanswered(unknown)) {
        event = next[HEAD];
        unknown = 0;
        continue;
      }
      noteIfDeepest();
      Frame<S> undone = undo();
      if (undone == null) {
        return new Verdict<>(false, deepest, deepestStuck, deepestState);
      }
      boolean answered = ops.get(undone.op()).answered();
      event = answered ? next[2 * undone.op() + 1] : firstEnd();
      unknown = answered ? 0 : unanswered.indexOf(undone.op()) + 1;
    }
    return new Verdict<>(true, order(), List.of(), state);
  }

  /** Tries operations from {@code event} on, up to the first end: that one must come before it. */
  private boolean goOnWithAnswered(int event) {
    for (int at = event; !isEnd(at); at = next[at]) {
      if (take(opOf(at), true)) {
        return true;
      }
    }
    return false;
  }

  private boolean goOnWithUnanswered(int first) {
    long end = timeOf(firstEnd());
    for (int i = first; i < unanswered.size(); i++) {
      int op = unanswered.get(i);
      if (!done[op] && ops.get(op).from() < end && take(op, false)) {
        return true;
      }
    }
    return false;
  }

  private int firstEnd() {
    int at = next[HEAD];
    while (!isEnd(at)) {
      at = next[at];
    }
    return at;
  }

  private boolean take(int op, boolean answered) {
    S after = ops.get(op).step().from(state);
    if (after == null) {
      return false;
    }
    boolean unchanged = after.equals(state);
    long doneThen = doneSalt ^ salt[op];
    if (unchanged ? !answered : !seen.add(new Seen(doneThen, after))) {
      return false;
    }
    if (seen.size() > STATES_MAX) {
      throw new TooHard(STATES_MAX);
    }
    stack.push(new Frame<>(op, state, unchanged));
    doneSalt = doneThen;
    state = after;
    done[op] = true;
    if (answered) {
      cut(2 * op + 1);
      cut(2 * op + 2);
      left--;
    }
    return true;
  }

  /** Takes back the last operation that changed something. Null: there is none. */
  private Frame<S> undo() {
    while (!stack.isEmpty()) {
      Frame<S> frame = stack.pop();
      int op = frame.op();
      state = frame.before();
      doneSalt ^= salt[op];
      done[op] = false;
      if (ops.get(op).answered()) {
        putBack(2 * op + 2);
        putBack(2 * op + 1);
        left++;
      }
      if (!frame.unchanged()) {
        return frame;
      }
    }
    return null;
  }

  private void cut(int event) {
    next[previous[event]] = next[event];
    previous[next[event]] = previous[event];
  }

  private void putBack(int event) {
    next[previous[event]] = event;
    previous[next[event]] = event;
  }

  private List<Integer> order() {
    List<Integer> order = new ArrayList<>(stack.size());
    stack.descendingIterator().forEachRemaining(frame -> order.add(frame.op()));
    return order;
  }

  private void noteIfDeepest() {
    if (stack.size() > deepest.size() || deepestStuck.isEmpty()) {
      deepest = order();
      deepestState = state;
      List<Integer> stuck = new ArrayList<>();
      for (int at = next[HEAD]; !isEnd(at); at = next[at]) {
        stuck.add(opOf(at));
      }
      deepestStuck = stuck;
    }
  }
}
