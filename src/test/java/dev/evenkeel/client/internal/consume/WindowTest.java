package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** The window against a set of unfinished offsets. */
class WindowTest {

  @Property(tries = 300)
  void committedIsTheLowestUnfinishedOffset(
      @ForAll long seed,
      @ForAll @LongRange(max = 1L << 40) long start,
      @ForAll @IntRange(min = 1, max = 5000) int steps) {
    Random random = new Random(seed);
    Window window = new Window(start);
    TreeSet<Long> unfinished = new TreeSet<>();
    TreeSet<Long> finished = new TreeSet<>();
    long next = start;
    int keep = 1 + random.nextInt(3000);
    for (int i = 0; i < steps; i++) {
      int what = random.nextInt(20);
      if (what == 0) {
        // A gap: retention was there.
        next += random.nextInt(200);
        window.skipTo(next);
      } else if (what < 11 && unfinished.size() < keep) {
        if (random.nextInt(30) == 0) {
          next += random.nextInt(100);
        }
        window.handOut(next);
        unfinished.add(next++);
      } else if (!unfinished.isEmpty()) {
        long offset = pick(unfinished, random);
        window.finish(offset);
        unfinished.remove(offset);
        finished.add(offset);
      }
      assertThat(window.committed()).isEqualTo(unfinished.isEmpty() ? next : unfinished.first());
      assertThat(window.next()).isEqualTo(next);
    }
    for (long offset : unfinished) {
      assertThat(window.isFinished(offset)).isFalse();
    }
    for (long offset : finished) {
      assertThat(window.isFinished(offset)).isTrue();
    }
    assertThat(window.isFinished(next)).isFalse();
  }

  private static long pick(TreeSet<Long> from, Random random) {
    if (random.nextBoolean()) {
      return from.first();
    }
    List<Long> some = new ArrayList<>(from);
    return some.get(random.nextInt(some.size()));
  }

  @Example
  void whatIsRepeatedChangesNothing() {
    Window window = new Window(10);
    window.handOut(10);
    window.handOut(11);
    window.finish(11);
    window.finish(11);
    window.handOut(10);
    window.handOut(11);
    assertThat(window.isFinished(11)).isTrue();
    assertThat(window.committed()).isEqualTo(10);
    window.finish(10);
    window.finish(10);
    window.finish(99);
    assertThat(window.committed()).isEqualTo(12);
    assertThat(window.span()).isZero();
  }
}
