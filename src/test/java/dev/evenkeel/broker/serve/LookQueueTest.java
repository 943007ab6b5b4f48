package dev.evenkeel.broker.serve;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Asker;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LookQueueTest {
  /** A look that was begun. */
  private record Begun(Asker asker, int number, Promise<Integer> end) {}

  private final Deque<Begun> begun = new ArrayDeque<>();

  private Future<Integer> look(LookQueue queue, Asker asker, int number) {
    return queue.run(
        asker,
        () -> true,
        () -> {
          Promise<Integer> end = Promise.promise();
          begun.add(new Begun(asker, number, end));
          return end.future();
        });
  }

  private static Asker asker(int user, int connection) {
    return new Asker("u" + user, "c" + connection);
  }

  /**
   * A look waits for one look of each other user, and one of each other connection of its own user
   * for each of these rounds, whatever waits in front of it.
   */
  @Property(tries = 300)
  void nobodyWaitsForMoreThanOneLookOfEachOther(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 6) int users,
      @ForAll @IntRange(min = 1, max = 4) int connections,
      @ForAll @IntRange(min = 1, max = 3) int atOnce) {
    Random random = new Random(seed);
    LookQueue queue = new LookQueue(atOnce);
    Map<Asker, Integer> waiting = new HashMap<>();
    Map<Integer, Integer> cameAt = new HashMap<>();
    Map<Integer, Integer> ahead = new HashMap<>();
    int turns = 0;
    int number = 0;
    begun.clear();
    for (int step = 0; step < 400; step++) {
      if (random.nextInt(3) > 0 || begun.isEmpty()) {
        // The first user sends most of them.
        int user = random.nextInt(4) > 0 ? 0 : random.nextInt(users);
        Asker asker = asker(user, random.nextInt(connections));
        cameAt.put(number, turns);
        ahead.put(number, waiting.merge(asker, 1, Integer::sum));
        look(queue, asker, number++);
      } else {
        begun.remove().end.complete(0);
      }
      for (Begun each : begun) {
        if (cameAt.containsKey(each.number)) {
          int waited = turns - cameAt.remove(each.number);
          int rounds = ahead.remove(each.number) * connections;
          assertThat(waited).isLessThanOrEqualTo(rounds * users);
          waiting.merge(each.asker, -1, Integer::sum);
          turns++;
        }
      }
      assertThat(begun.size()).isLessThanOrEqualTo(atOnce);
    }
  }

  @Test
  void aUserWithOneLookPassesThoseWithMany() {
    LookQueue queue = new LookQueue(1);
    times(1_000, i -> look(queue, asker(0, i % 10), i));
    look(queue, asker(1, 0), -1);
    begun.remove().end.complete(0);
    begun.remove().end.complete(0);
    assertThat(begun.remove().asker).isEqualTo(asker(1, 0));
    assertThat(queue.waiting()).isEqualTo(998);
  }

  @Test
  void connectionsOfAUserTakeTurnsAlsoWhereThereAreNoUsers() {
    LookQueue queue = new LookQueue(1);
    times(5, i -> look(queue, new Asker(null, "many"), i));
    look(queue, Asker.NODE, 7);
    look(queue, new Asker(null, "few"), 8);
    List<Integer> order = new ArrayList<>();
    while (!begun.isEmpty()) {
      Begun next = begun.remove();
      order.add(next.number);
      next.end.complete(0);
    }
    assertThat(order).containsExactly(0, 1, 7, 8, 2, 3, 4);
  }

  @Test
  void aLookForSeveralRunsOnceAtTheFirstTurnOfAny() {
    LookQueue queue = new LookQueue(1);
    times(10, i -> look(queue, asker(0, 0), i));
    int[] runs = new int[1];
    queue.run(
        List.of(asker(0, 1), asker(1, 1)),
        () -> true,
        () -> {
          runs[0]++;
          return Future.succeededFuture();
        });
    begun.remove().end.complete(0);
    begun.remove().end.complete(0);
    assertThat(runs[0]).isEqualTo(1);
    while (!begun.isEmpty()) {
      begun.remove().end.complete(0);
    }
    assertThat(runs[0]).isEqualTo(1);
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void whatNobodyWantsTakesNoTurnAndWhatFailsAtOnceEndsItsOwn() {
    LookQueue queue = new LookQueue(1);
    look(queue, asker(0, 0), 0);
    Set<String> ran = new HashSet<>();
    times(
        50_000,
        i ->
            queue.run(
                asker(0, 0),
                () -> false,
                () -> {
                  ran.add("unwanted");
                  return Future.succeededFuture();
                }));
    Future<Object> thrown =
        queue.run(
            asker(0, 0),
            () -> true,
            () -> {
              throw new IllegalStateException("no");
            });
    times(
        50_000,
        i -> queue.run(asker(0, 0), () -> true, () -> Future.succeededFuture(ran.add("wanted"))));
    begun.remove().end.complete(0);
    assertThat(thrown.failed()).isTrue();
    assertThat(ran).containsExactly("wanted");
    assertThat(queue.waiting()).isZero();
  }
}
