package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.state.Action;
import net.jqwik.api.state.ActionChain;
import net.jqwik.api.state.Transformer;

/** The local coordinator against a model that is a list of claims, oldest use first. */
class LocalModelTest {
  private static final int KEYS_MAX = 4;
  private static final long HEAD_MILLIS_MAX = 10;

  /** A key and who has a place at it. */
  private static final class Entry {
    final String key;
    final List<Ticket<String>> places = new ArrayList<>();
    long begun;

    Entry(String key) {
      this.key = key;
    }
  }

  /** Both, side by side. */
  private static final class Pair {
    final LocalCoordinator<String> real = new LocalCoordinator<>(KEYS_MAX, HEAD_MILLIS_MAX);

    /** Least recently used first. */
    final List<Entry> model = new ArrayList<>();

    final List<Ticket<String>> tickets = new ArrayList<>();
    final Set<Ticket<String>> awake = new HashSet<>();
    final Set<Ticket<String>> left = new HashSet<>();
    long now;
    long evicted;

    void enQueue(String key, String member) {
      Entry entry = find(key);
      Answer expected = Answer.ACCEPT;
      if (entry == null) {
        entry = new Entry(key);
        entry.begun = now;
      } else {
        expected = entry.places.size() == 1 ? Answer.BLOCK : Answer.DECLINE;
        model.remove(entry);
      }
      model.add(entry);
      Ticket<String> ticket = real.enQueue(key, new Worker(member, tickets.size(), 0), now);
      assertThat(ticket.answer()).isEqualTo(expected);
      tickets.add(ticket);
      if (expected != Answer.DECLINE) {
        entry.places.add(ticket);
      }
      if (expected != Answer.BLOCK) {
        awake.add(ticket);
      }
      if (model.size() > KEYS_MAX) {
        Entry dropped = model.remove(0);
        evicted += dropped.places.size();
        awake.addAll(dropped.places);
      }
      check();
    }

    void deQueue(int number) {
      if (tickets.isEmpty()) {
        return;
      }
      Ticket<String> ticket = tickets.get(number % tickets.size());
      Entry entry = find(ticket.key());
      int place = entry == null ? -1 : entry.places.indexOf(ticket);
      Departure expected = Departure.NOT_HEAD;
      if (place == 1) {
        expected = Departure.LEFT_QUEUE;
        entry.places.remove(1);
        left.add(ticket);
      } else if (place == 0) {
        expected = entry.places.size() == 2 ? Departure.PASSED_ON : Departure.FREED;
        dropHead(entry);
      }
      assertThat(real.deQueue(ticket, now).toCompletableFuture()).isCompletedWithValue(expected);
      check();
    }

    void pass(long millis) {
      now += millis;
      real.tick(now);
      for (Entry entry : List.copyOf(model)) {
        if (now - entry.begun >= HEAD_MILLIS_MAX) {
          evicted++;
          dropHead(entry);
        }
      }
      check();
    }

    void die(String member) {
      Set<String> alive = new HashSet<>(Set.of("a", "b", "c"));
      alive.remove(member);
      real.sweep(now, alive);
      for (Entry entry : List.copyOf(model)) {
        for (int place = entry.places.size() - 1; place >= 0; place--) {
          Ticket<String> ticket = entry.places.get(place);
          if (ticket.worker().member().equals(member)) {
            evicted++;
            if (place == 0) {
              dropHead(entry);
            } else {
              entry.places.remove(1);
              awake.add(ticket);
            }
          }
        }
      }
      check();
    }

    private void dropHead(Entry entry) {
      entry.places.remove(0);
      entry.begun = now;
      if (entry.places.isEmpty()) {
        model.remove(entry);
      } else {
        awake.add(entry.places.get(0));
      }
    }

    private Entry find(String key) {
      return model.stream().filter(entry -> entry.key.equals(key)).findFirst().orElse(null);
    }

    private void check() {
      DedupFigures figures = real.figures();
      assertThat(figures.keys()).isEqualTo(model.size());
      assertThat(figures.processing()).isEqualTo(model.size());
      assertThat(figures.waiting())
          .isEqualTo(model.stream().filter(entry -> entry.places.size() == 2).count());
      assertThat(figures.evicted()).isEqualTo(evicted);
      for (Ticket<String> ticket : tickets) {
        if (!left.contains(ticket)) {
          assertThat(ticket.turn().toCompletableFuture().isDone())
              .isEqualTo(awake.contains(ticket));
        }
      }
    }
  }

  @Property(tries = 2_000)
  void itDoesWhatTheModelDoes(@ForAll("histories") ActionChain<Pair> history) {
    history.run();
  }

  @Provide
  Arbitrary<ActionChain<Pair>> histories() {
    Arbitrary<String> keys = Arbitraries.of("p", "q", "r", "s", "t", "u");
    Arbitrary<String> members = Arbitraries.of("a", "b", "c");
    return ActionChain.startWith(Pair::new)
        .withAction(
            8,
            action(
                Combinators.combine(keys, members)
                    .as((key, by) -> step("enQueue " + key, pair -> pair.enQueue(key, by)))))
        .withAction(
            5,
            action(
                Arbitraries.integers()
                    .between(0, 100)
                    .map(number -> step("deQueue " + number, pair -> pair.deQueue(number)))))
        .withAction(
            2,
            action(
                Arbitraries.longs()
                    .between(1, 6)
                    .map(millis -> step("pass " + millis, pair -> pair.pass(millis)))))
        .withAction(
            1, action(members.map(member -> step("die " + member, pair -> pair.die(member)))))
        .withMaxTransformations(60);
  }

  private static Action.Independent<Pair> action(Arbitrary<Transformer<Pair>> transformer) {
    return () -> transformer;
  }

  private static Transformer<Pair> step(String name, Consumer<Pair> does) {
    return Transformer.mutate(name, does);
  }
}
