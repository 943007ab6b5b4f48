package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What every group of a shard had consumed at some moments of the past, oldest first.
 *
 * @param list at most {@link #MARKS_MAX}
 */
public record RetentionMarks(List<Mark> list) {
  static final Codec<RetentionMarks> CODEC =
      Codec.record(
          RetentionMarks.class, Codec.list(Codec.record(Mark.class, Codec.I64, Codec.I64)));

  /** One for each 24th of the retention, and one that is old enough. */
  public static final int MARKS_MAX = 25;

  public static final RetentionMarks NONE = new RetentionMarks(List.of());

  /**
   * @param millis when
   * @param floor every group had consumed what lies below
   */
  public record Mark(long millis, long floor) {}

  public RetentionMarks {
    list = List.copyOf(list);
  }

  /** The newest mark made at or before {@code millis}. */
  public @Nullable Mark newestUpTo(long millis) {
    Mark found = null;
    for (Mark mark : list) {
      if (mark.millis() <= millis) {
        found = mark;
      }
    }
    return found;
  }

  /** Without marks before {@code millis}: a newer one replaces them. */
  public RetentionMarks since(long millis) {
    return new RetentionMarks(list.stream().filter(mark -> mark.millis() >= millis).toList());
  }

  /** Without marks after {@code millis}: a clock that was ahead wrote them. */
  public RetentionMarks upTo(long millis) {
    return new RetentionMarks(list.stream().filter(mark -> mark.millis() <= millis).toList());
  }

  /** With one more, if {@code everyMillis} have passed since the last. */
  public RetentionMarks sampled(long now, long floor, long everyMillis) {
    if (!list.isEmpty() && now - list.get(list.size() - 1).millis() < everyMillis) {
      return this;
    }
    List<Mark> next = new ArrayList<>(list);
    next.add(new Mark(now, floor));
    return new RetentionMarks(next.subList(Math.max(0, next.size() - MARKS_MAX), next.size()));
  }
}
