package dev.evenkeel.dedup;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LocalCoordinatorTest {
  private static final Worker ONE = new Worker("one", 0, 0);
  private static final Worker TWO = new Worker("two", 0, 0);
  private static final Worker THREE = new Worker("three", 0, 0);

  private final LocalCoordinator<String> coordinator = new LocalCoordinator<>(100, 50);

  private static CompletableFuture<Answer> turn(Ticket<?> ticket) {
    return ticket.turn().toCompletableFuture();
  }

  private static Departure leave(QueueCoordinator<String> from, Ticket<String> ticket, long now) {
    return from.deQueue(ticket, now).toCompletableFuture().join();
  }

  @Test
  void oneWorksOneWaitsAndTheThirdIsDeclined() {
    Ticket<String> first = coordinator.enQueue("k", ONE, 0);
    Ticket<String> second = coordinator.enQueue("k", TWO, 1);
    Ticket<String> third = coordinator.enQueue("k", THREE, 2);
    assertThat(List.of(first.answer(), second.answer(), third.answer()))
        .containsExactly(Answer.ACCEPT, Answer.BLOCK, Answer.DECLINE);
    assertThat(turn(first)).isCompletedWithValue(Answer.ACCEPT);
    assertThat(turn(second)).isNotDone();
    assertThat(turn(third)).isCompletedWithValue(Answer.DECLINE);
    assertThat(coordinator.figures()).isEqualTo(new DedupFigures(1, 1, 1, 0, 0, 0, 0, 1, 1, 1));

    assertThat(leave(coordinator, third, 3)).isEqualTo(Departure.NOT_HEAD);
    assertThat(leave(coordinator, first, 3)).isEqualTo(Departure.PASSED_ON);
    assertThat(turn(second)).isCompletedWithValue(Answer.ACCEPT);
    assertThat(leave(coordinator, first, 4)).isEqualTo(Departure.NOT_HEAD);
    assertThat(leave(coordinator, second, 4)).isEqualTo(Departure.FREED);
    assertThat(coordinator.figures()).isEqualTo(new DedupFigures(1, 1, 1, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void aWaiterThatGivesUpMakesRoomForAnother() {
    Ticket<String> first = coordinator.enQueue("k", ONE, 0);
    Ticket<String> second = coordinator.enQueue("k", TWO, 0);
    assertThat(leave(coordinator, second, 0)).isEqualTo(Departure.LEFT_QUEUE);
    Ticket<String> third = coordinator.enQueue("k", THREE, 0);
    assertThat(third.answer()).isEqualTo(Answer.BLOCK);
    leave(coordinator, first, 0);
    assertThat(turn(second)).isNotDone();
    assertThat(turn(third)).isCompletedWithValue(Answer.ACCEPT);
  }

  @Test
  void aHeadPastTheTimeoutIsEvictedAndToldWhenItComesBack() {
    Ticket<String> first = coordinator.enQueue("k", ONE, 0);
    Ticket<String> second = coordinator.enQueue("k", TWO, 10);
    Ticket<String> lone = coordinator.enQueue("lone", TWO, 20);
    coordinator.tick(49);
    assertThat(turn(second)).isNotDone();
    coordinator.tick(50);
    assertThat(turn(second)).isCompletedWithValue(Answer.ACCEPT);
    // It is at work since 50, not since it waits.
    coordinator.tick(99);
    assertThat(leave(coordinator, first, 99)).isEqualTo(Departure.NOT_HEAD);
    assertThat(leave(coordinator, lone, 99)).isEqualTo(Departure.NOT_HEAD);
    assertThat(leave(coordinator, second, 99)).isEqualTo(Departure.FREED);
    DedupFigures figures = coordinator.figures();
    assertThat(figures.evicted()).isEqualTo(2);
    assertThat(figures.lost()).isEqualTo(2);
    assertThat(figures.keys()).isZero();
  }

  @Test
  void aHeadIsEvictedThoughItsKeyIsAskedForAllTheTime() {
    coordinator.enQueue("hot", ONE, 0);
    Ticket<String> second = coordinator.enQueue("hot", TWO, 1);
    for (int now = 2; now < 50; now++) {
      coordinator.enQueue("hot", THREE, now);
      coordinator.tick(now);
    }
    assertThat(turn(second)).isNotDone();
    coordinator.tick(50);
    assertThat(turn(second)).isCompletedWithValue(Answer.ACCEPT);
  }

  @Test
  void theDeadGiveUpTheirPlaces() {
    coordinator.enQueue("headDies", ONE, 0);
    Ticket<String> heir = coordinator.enQueue("headDies", TWO, 0);
    coordinator.enQueue("tailDies", TWO, 0);
    coordinator.enQueue("tailDies", ONE, 0);
    coordinator.enQueue("bothDie", ONE, 0);
    coordinator.enQueue("bothDie", ONE, 0);
    assertThat(coordinator.sweep(1, Set.of("two")).toCompletableFuture().join()).isEqualTo(4);
    assertThat(turn(heir)).isCompletedWithValue(Answer.ACCEPT);
    assertThat(coordinator.enQueue("tailDies", THREE, 1).answer()).isEqualTo(Answer.BLOCK);
    assertThat(coordinator.enQueue("bothDie", THREE, 1).answer()).isEqualTo(Answer.ACCEPT);
    DedupFigures figures = coordinator.figures();
    assertThat(figures.evicted()).isEqualTo(4);
    assertThat(figures.processing()).isEqualTo(3);
    assertThat(figures.waiting()).isEqualTo(1);
  }

  @Test
  void pastTheLimitTheKeyGoesThatWasNotUsedForLongest() {
    LocalCoordinator<String> small = new LocalCoordinator<>(2, 1_000);
    Ticket<String> a = small.enQueue("a", ONE, 0);
    Ticket<String> b = small.enQueue("b", ONE, 1);
    Ticket<String> waiter = small.enQueue("a", TWO, 2);
    small.enQueue("c", ONE, 3);
    // "b" is gone; "a" was asked for since.
    assertThat(leave(small, b, 4)).isEqualTo(Departure.NOT_HEAD);
    small.enQueue("d", ONE, 5);
    // Its waiter is not left behind.
    assertThat(turn(waiter)).isCompletedWithValue(Answer.ACCEPT);
    assertThat(leave(small, a, 6)).isEqualTo(Departure.NOT_HEAD);
    assertThat(leave(small, waiter, 6)).isEqualTo(Departure.NOT_HEAD);
    DedupFigures figures = small.figures();
    assertThat(figures.keys()).isEqualTo(2);
    assertThat(figures.waiting()).isZero();
    assertThat(figures.overflowed()).isEqualTo(2);
    assertThat(figures.evicted()).isEqualTo(3);
    assertThat(figures.lost()).isEqualTo(3);
  }

  @Test
  void aTableGrowsAndShrinksWithItsKeys() {
    LocalCoordinator<Integer> many = new LocalCoordinator<>(1_000_000, 1_000);
    int empty = many.capacity();
    List<Ticket<Integer>> tickets = new ArrayList<>();
    times(100_000, i -> tickets.add(many.enQueue(i, ONE, 0)));
    assertThat(many.capacity()).isBetween(100_000, 400_000);
    tickets.forEach(ticket -> many.deQueue(ticket, 1));
    assertThat(many.capacity()).isEqualTo(empty);
    assertThat(many.figures().keys()).isZero();
  }

  @Test
  void whenMostDieAtOnceTheOthersKeepTheirPlaces() {
    LocalCoordinator<Integer> many = new LocalCoordinator<>(100_000, 1_000);
    List<Ticket<Integer>> living = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Ticket<Integer> ticket = many.enQueue(i, i % 20 == 0 ? TWO : ONE, i);
      if (i % 20 == 0) {
        living.add(ticket);
      }
    }
    assertThat(many.sweep(10_000, Set.of("two")).toCompletableFuture().join()).isEqualTo(9_500);
    assertThat(many.figures().keys()).isEqualTo(500);
    assertThat(many.capacity()).isLessThan(10_000);
    for (Ticket<Integer> ticket : living.subList(0, 250)) {
      assertThat(many.deQueue(ticket, 1).toCompletableFuture())
          .isCompletedWithValue(Departure.FREED);
    }
    many.tick(1_000 + 4_999);
    // Those that began first are evicted, those that did not are not.
    assertThat(many.figures().keys()).isEqualTo(250);
    many.tick(1_000 + 7_500);
    assertThat(many.figures().keys()).isEqualTo(124);
  }

  @Test
  void aWaiterMayAskAgainWhileItIsWoken() {
    Ticket<String> first = coordinator.enQueue("k", ONE, 0);
    List<Answer> answers = new ArrayList<>();
    coordinator
        .enQueue("k", TWO, 0)
        .turn()
        .thenAccept(turn -> answers.add(coordinator.enQueue("k", THREE, 1).answer()));
    leave(coordinator, first, 1);
    assertThat(answers).containsExactly(Answer.BLOCK);
  }
}
