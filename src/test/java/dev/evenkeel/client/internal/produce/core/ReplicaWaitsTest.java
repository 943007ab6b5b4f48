package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.internal.produce.core.ReplicaWaits.Done;
import dev.evenkeel.client.internal.produce.core.ReplicaWaits.Question;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class ReplicaWaitsTest {
  private final ReplicaWaits<String> waits = new ReplicaWaits<>(10_000);

  @Test
  void oneQuestionStandsForAllOfAGroup() {
    waits.add("a", 1, 5, 0);
    waits.add("b", 1, 7, 0);
    waits.add("c", 2, 3, 0);
    assertThat(waits.poll(0)).containsExactlyInAnyOrder(question(1, 5), question(2, 3));
    assertThat(waits.poll(1)).isEmpty();
    waits.answered(question(1, 5), 7, List.of(), 2);
    assertThat(waits.takeDone()).containsExactly(onAll("a"), onAll("b"));
    assertThat(waits.poll(2)).isEmpty();
  }

  @Test
  void whatIsBehindWhatAllHaveIsDoneAtOnce() {
    waits.add("a", 0, 5, 0);
    waits.answered(waits.poll(0).get(0), 9, List.of(), 1);
    waits.add("b", 0, 8, 2);
    assertThat(waits.takeDone()).containsExactly(onAll("a"), onAll("b"));
    assertThat(waits.poll(2)).isEmpty();
  }

  @Test
  void afterItsTimeItSaysWhoIsMissing() {
    waits.add("a", 0, 5, 0);
    waits.add("b", 0, 9, 4_000);
    long now = 0;
    while (now < 10_000) {
      for (Question asked : waits.poll(now)) {
        assertThat(asked.index()).isEqualTo(5);
        assertThat(now + asked.waitMillis()).isLessThanOrEqualTo(10_000);
        now += asked.waitMillis();
        waits.answered(asked, 4, List.of("n3"), now);
      }
      now = Math.max(now, Math.min(waits.wakeAtMillis(now), 10_000));
      if (now < 10_000) {
        assertThat(waits.takeDone()).isEmpty();
      }
    }
    assertThat(waits.takeDone()).containsExactly(new Done<>("a", false, List.of("n3")));
    // The next one has its own time.
    Question next = waits.poll(now + ReplicaWaits.PAUSE_MILLIS).get(0);
    assertThat(next.index()).isEqualTo(9);
    waits.answered(next, 9, List.of(), now + 200);
    assertThat(waits.takeDone()).containsExactly(onAll("b"));
  }

  @Test
  void withoutALeaderItIsAskedAgainAfterAPauseAndEndsInTime() {
    waits.add("a", 0, 5, 0);
    waits.failed(waits.poll(0).get(0), 10);
    assertThat(waits.poll(11)).isEmpty();
    assertThat(waits.wakeAtMillis(11)).isEqualTo(10 + ReplicaWaits.PAUSE_MILLIS);
    Question again = waits.poll(10 + ReplicaWaits.PAUSE_MILLIS).get(0);
    waits.failed(again, 9_999);
    waits.poll(10_000);
    assertThat(waits.takeDone()).containsExactly(new Done<>("a", false, List.of()));
  }

  @Test
  void anAnswerThatNeverComesDoesNotHoldItUpForEver() {
    waits.add("a", 0, 5, 0);
    waits.poll(0);
    assertThat(waits.wakeAtMillis(1)).isEqualTo(10_000 + ReplicaWaits.GRACE_MILLIS);
    waits.poll(10_000);
    assertThat(waits.takeDone()).isEmpty();
    waits.poll(10_000 + ReplicaWaits.GRACE_MILLIS);
    assertThat(waits.takeDone()).hasSize(1);
  }

  @Test
  void oneWithoutAPlaceIsSettledByTheAnswerToItsOwnQuestionOnly() {
    waits.add("a", 0, ReplicaWaits.SOMEWHERE, 0);
    Question first = waits.poll(0).get(0);
    assertThat(first.index()).isEqualTo(ReplicaWaits.SOMEWHERE);
    waits.add("b", 0, ReplicaWaits.SOMEWHERE, 1);
    waits.answered(first, 100, List.of(), 2);
    assertThat(waits.takeDone()).containsExactly(onAll("a"));
    Question second = waits.poll(2).get(0);
    waits.answered(second, 100, List.of(), 3);
    assertThat(waits.takeDone()).containsExactly(onAll("b"));
  }

  /** A leader with a lagging replica: nothing is said to be everywhere before it is. */
  @Property(tries = 300)
  void neverSaysMoreThanIsKnownAndForgetsNothing(@ForAll long seed) {
    Random random = new Random(seed);
    ReplicaWaits<Long> each = new ReplicaWaits<>(500);
    List<Question> open = new ArrayList<>();
    Set<Long> waiting = new HashSet<>();
    long everywhere = 0;
    long logged = 0;
    long now = 0;
    for (int step = 0; step < 300; step++) {
      now += random.nextInt(40);
      switch (random.nextInt(4)) {
        case 0 -> {
          logged++;
          waiting.add(logged);
          each.add(logged, 0, logged, now);
        }
        case 1 -> everywhere = Math.min(logged, everywhere + random.nextInt(3));
        case 2 -> {
          if (!open.isEmpty()) {
            Question asked = open.remove(0);
            if (random.nextInt(4) == 0) {
              each.failed(asked, now);
            } else {
              List<String> missing = everywhere >= asked.index() ? List.of() : List.of("n3");
              each.answered(asked, everywhere, missing, now);
            }
          }
        }
        default -> open.addAll(each.poll(now));
      }
      assertThat(open.size()).isLessThanOrEqualTo(1);
      for (Done<Long> done : each.takeDone()) {
        assertThat(waiting.remove(done.thing())).isTrue();
        if (done.onAll()) {
          assertThat(done.thing()).isLessThanOrEqualTo(everywhere);
        }
      }
    }
    each.poll(now + 500 + ReplicaWaits.GRACE_MILLIS);
    each.takeDone().forEach(done -> waiting.remove(done.thing()));
    assertThat(waiting).isEmpty();
  }

  private static Question question(int group, long index) {
    return new Question(group, index, (int) ReplicaWaits.QUESTION_MILLIS_MAX);
  }

  private static Done<String> onAll(String thing) {
    return new Done<>(thing, true, List.of());
  }
}
