package dev.evenkeel.sim;

import java.util.ArrayDeque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Supplier;

/** Virtual time: one event after another, in an order that the seed alone decides. */
final class Timeline {
  private static final int TRACE_LINES_MAX =
      Math.max(400, Integer.getInteger(Seeds.TRACE, Seeds.TRACE_LINES));

  private record Event(long at, long order, Actor actor, String what, Runnable task) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.at() != b.at() ? Long.compare(a.at(), b.at()) : Long.compare(a.order(), b.order()));
  private final ArrayDeque<String> trace = new ArrayDeque<>();
  private final boolean tracing;
  private final Runnable afterEach;
  private final long start;
  private long order;
  private long now;
  private long handled;

  /**
   * @param afterEach called after every event
   */
  Timeline(long start, boolean tracing, Runnable afterEach) {
    this.start = start;
    now = start;
    this.tracing = tracing;
    this.afterEach = afterEach;
  }

  /** Milliseconds of no clock but its own. */
  long now() {
    return now;
  }

  /** Events so far. */
  long handled() {
    return handled;
  }

  /**
   * @param actor to whom it happens; null: to the world
   * @param what for the trace
   */
  void in(long millis, Actor actor, String what, Runnable task) {
    events.add(new Event(now + millis, order++, actor, what, task));
  }

  /** Time passes in which nothing happens: what was due happens late. */
  void leap(long millis) {
    now += millis;
  }

  /** Lets everything happen up to {@code end}. */
  void runUntil(long end) {
    Event event;
    while ((event = events.peek()) != null && event.at() <= end) {
      events.poll();
      now = Math.max(now, event.at());
      Actor actor = event.actor();
      if (actor != null && actor.gone) {
        continue;
      }
      if (actor != null && actor.pausedUntil > now) {
        events.add(new Event(actor.pausedUntil, event.order(), actor, event.what(), event.task()));
        continue;
      }
      if (tracing && event.what() != null) {
        String line = (actor == null ? "" : actor + ": ") + event.what();
        note(() -> line);
      }
      event.task().run();
      handled++;
      afterEach.run();
    }
    now = Math.max(now, end);
  }

  /** A text for the trace; null if there is none, so that nobody writes what nobody reads. */
  String text(Supplier<String> what) {
    return tracing ? what.get() : null;
  }

  /** Adds a line to the trace, if there is one. */
  void note(Supplier<String> line) {
    if (tracing) {
      if (trace.size() == TRACE_LINES_MAX) {
        trace.removeFirst();
      }
      trace.add(now - start + " " + line.get());
    }
  }

  List<String> trace() {
    return List.copyOf(trace);
  }
}
