package dev.evenkeel.client.internal.produce.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides what to ask the leaders, for things that are in the log and wait to be on every replica.
 * Each data group has one question on its way at a time, for the oldest thing. The answer says how
 * far all replicas are, so it may settle many things.
 *
 * @param <T> what waits
 */
public final class ReplicaWaits<T> {
  /** Longest that one question waits at the leader; then it is asked again, perhaps of another. */
  public static final long QUESTION_MILLIS_MAX = 2_000;

  /** After a failure it is asked again after this. */
  static final long PAUSE_MILLIS = 100;

  /** How long an answer may come later than the time that it was given. */
  static final long GRACE_MILLIS = 1_000;

  /** The log index of something that is in the log at an index that nobody remembers. */
  public static final long SOMEWHERE = -1;

  private record ReplicaWait<T>(T thing, long index, long untilMillis) {}

  private static final class Group<T> {
    final Deque<ReplicaWait<T>> queue = new ArrayDeque<>();
    long everywhere = -1;
    @Nullable ReplicaWait<T> asked;
    long askAtMillis = Long.MIN_VALUE;
    List<String> missing = List.of();
  }

  /**
   * To be asked of a group's leader.
   *
   * @param index {@link #SOMEWHERE}: all that is committed now
   */
  public record Question(int group, long index, int waitMillis) {}

  /**
   * A thing that waits no more.
   *
   * @param onAll whether it is on every replica
   * @param missing if not, the nodes that lack it as far as is known
   */
  public record Done<T>(T thing, boolean onAll, List<String> missing) {}

  private final long timeoutMillis;
  private final Map<Integer, Group<T>> groups = new HashMap<>();
  private List<Done<T>> done = new ArrayList<>();

  /**
   * @param timeoutMillis how long each may wait
   */
  public ReplicaWaits(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
  }

  /** Lets {@code thing} wait. */
  public void add(T thing, int group, long index, long nowMillis) {
    Group<T> of = groups.computeIfAbsent(group, none -> new Group<>());
    of.queue.add(new ReplicaWait<>(thing, index, nowMillis + timeoutMillis));
    settle(of, nowMillis);
  }

  /** What to ask now; to be called after anything that happened, and at {@link #wakeAtMillis}. */
  public List<Question> poll(long nowMillis) {
    List<Question> questions = new ArrayList<>();
    groups.forEach(
        (number, group) -> {
          settle(group, nowMillis);
          ReplicaWait<T> first = group.queue.peekFirst();
          if (first != null && group.asked == null && nowMillis >= group.askAtMillis) {
            group.asked = first;
            long left = Math.min(QUESTION_MILLIS_MAX, first.untilMillis() - nowMillis);
            questions.add(new Question(number, first.index(), (int) left));
          }
        });
    return questions;
  }

  /** How far all replicas were, and which of them lacked what was asked for. */
  public void answered(Question question, long everywhere, List<String> missing, long nowMillis) {
    Group<T> group = Objects.requireNonNull(groups.get(question.group()));
    group.missing = missing;
    group.everywhere = Math.max(group.everywhere, everywhere);
    if (!missing.isEmpty()) {
      group.askAtMillis = nowMillis + PAUSE_MILLIS;
    } else if (group.queue.peekFirst() == group.asked) {
      // It also settles one whose index nobody remembers.
      done.add(new Done<>(group.queue.removeFirst().thing(), true, List.of()));
    }
    group.asked = null;
    settle(group, nowMillis);
  }

  /** Nobody answered, or nobody led. */
  public void failed(Question question, long nowMillis) {
    Group<T> group = Objects.requireNonNull(groups.get(question.group()));
    group.asked = null;
    group.askAtMillis = nowMillis + PAUSE_MILLIS;
  }

  private void settle(Group<T> group, long nowMillis) {
    while (!group.queue.isEmpty()) {
      ReplicaWait<T> first = group.queue.peekFirst();
      boolean onAll = first.index() != SOMEWHERE && first.index() <= group.everywhere;
      // While a question is on its way, wait a little for its answer: it names the missing nodes.
      boolean late = nowMillis >= endMillis(group, first);
      if (!onAll && !late) {
        return;
      }
      group.queue.removeFirst();
      done.add(new Done<>(first.thing(), onAll, onAll ? List.of() : group.missing));
    }
  }

  private static <T> long endMillis(Group<T> group, ReplicaWait<T> first) {
    return first.untilMillis() + (group.asked == null ? 0 : GRACE_MILLIS);
  }

  /** When to poll next even if nothing happens; {@code Long.MAX_VALUE}: never. */
  public long wakeAtMillis(long nowMillis) {
    long wake = Long.MAX_VALUE;
    for (Group<T> group : groups.values()) {
      if (!group.queue.isEmpty()) {
        wake = Math.min(wake, endMillis(group, group.queue.peekFirst()));
        if (group.asked == null && group.askAtMillis > nowMillis) {
          wake = Math.min(wake, group.askAtMillis);
        }
      }
    }
    return wake;
  }

  /** What waits no more since the last call. */
  public List<Done<T>> takeDone() {
    if (done.isEmpty()) {
      return List.of();
    }
    List<Done<T>> taken = done;
    done = new ArrayList<>();
    return taken;
  }
}
