package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Three processes over a cluster that delays, loses, doubles and forgets; virtual time. */
class ClusteredCoordinatorTest {
  private static final ClusteredCoordinator.Settings SETTINGS =
      new ClusteredCoordinator.Settings(5_000, 200, 2_000);

  /** What is on its way, in no order. */
  private final List<Runnable> network = new ArrayList<>();

  private final Map<DedupKey, byte[]> map = new HashMap<>();
  private final Map<String, Process> processes = new HashMap<>();
  private Random random = new Random(1);
  private boolean faults;

  /** Which map it is: another one after each loss. */
  private int lives;

  private long now;

  /** Of all claims in the map, by process and token. */
  private final Map<String, Ticket<DedupKey>> asked = new HashMap<>();

  private final class Process implements SharedAutomata {
    final String name;
    Turns turns;
    ClusteredCoordinator coordinator;

    /** What it sends arrives, and no answer comes. */
    boolean silent;

    Process(String name) {
      this.name = name;
      processes.put(name, this);
      coordinator = new ClusteredCoordinator(this, SETTINGS, now);
    }

    @Override
    public String member() {
      return name;
    }

    @Override
    public int listen(Turns added) {
      turns = added;
      return 1;
    }

    @Override
    public void forget(int number) {
      turns = null;
    }

    @Override
    public long nowMillis() {
      return now;
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      CompletableFuture<StepReply> reply = new CompletableFuture<>();
      byte[] bytes = SharedCodec.steps(List.of(step));
      network.add(() -> arrive(step.key(), bytes, reply, 0));
      return reply;
    }

    /**
     * @param doneIn the map in which it was done already, or 0: it is not done in two
     */
    private void arrive(
        DedupKey key, byte[] bytes, CompletableFuture<StepReply> reply, int doneIn) {
      int fault = faults ? random.nextInt(20) : 99;
      if (fault == 0 || doneIn > 0 && doneIn != lives) {
        network.add(() -> reply.completeExceptionally(new IllegalStateException("lost")));
        return;
      }
      SharedBucket bucket = bucket(key);
      byte[] replies = SharedCodec.replies(bucket.apply(SharedCodec.steps(bytes), now, 1));
      store(key, bucket);
      StepReply answer = SharedCodec.replies(replies).replies().get(0);
      if (answer.answer() == Answer.DECLINE) {
        // After the key and the length.
        byte[] stored = map.get(key);
        Claim waits = SharedCodec.automaton(Arrays.copyOfRange(stored, 20, stored.length)).tail();
        Ticket<DedupKey> ticket = asked.get(waits.toString());
        assertThat(ticket != null && turned(ticket))
            .as("the waiter for whose sake another is declined has not begun")
            .isFalse();
      }
      if (fault == 1 || silent) {
        network.add(() -> reply.completeExceptionally(new IllegalStateException("no reply")));
      } else if (fault == 2) {
        int done = lives;
        network.add(() -> arrive(key, bytes, reply, done));
      } else {
        network.add(() -> reply.complete(answer));
      }
    }

    @Override
    public CompletionStage<Void> heard() {
      return CompletableFuture.completedStage(null);
    }

    @Override
    public long silentMillisMax() {
      return 5_000;
    }

    @Override
    public void tell(DedupKey key, Claim head) {
      if (faults && random.nextInt(5) == 0) {
        return;
      }
      network.add(
          () -> {
            Process to = processes.get(head.worker().member());
            if (to != null && to.turns != null) {
              to.turns.head(key, head.token(), head.waitsUntilMillis());
            }
          });
    }

    void sweep(Set<String> alive) {
      for (DedupKey key : List.copyOf(map.keySet())) {
        SharedBucket bucket = bucket(key);
        for (SharedBucket.Swept swept : bucket.sweep(alive::contains, now)) {
          if (swept.head() != null) {
            tell(key, swept.head());
          }
        }
        store(key, bucket);
      }
    }
  }

  /** Each key has a bucket of its own. */
  private SharedBucket bucket(DedupKey key) {
    return SharedBucket.ofBytes(map.getOrDefault(key, new byte[0]));
  }

  private void store(DedupKey key, SharedBucket bucket) {
    if (bucket.keys() == 0) {
      map.remove(key);
    } else {
      map.put(key, bucket.bytes());
    }
  }

  private void deliver(int most) {
    for (int i = 0; i < most && !network.isEmpty(); i++) {
      network.remove(faults ? random.nextInt(network.size()) : 0).run();
    }
  }

  private void settle() {
    deliver(Integer.MAX_VALUE);
  }

  private void pass(long millis) {
    now += millis;
    List.copyOf(processes.values()).forEach(process -> process.coordinator.tick(now));
  }

  private static DedupKey key(int number) {
    return new DedupKey(number, number);
  }

  private Ticket<DedupKey> ask(Process process, int key) {
    var ticket = process.coordinator.enQueue(key(key), new Worker(process.name, 0, 0), now);
    asked.put(process.name + "/0#" + ticket.token(), ticket);
    return ticket;
  }

  /** Asks for key 1, and the answer has come. */
  private Ticket<DedupKey> answered(Process process) {
    Ticket<DedupKey> ticket = ask(process, 1);
    settle();
    return ticket;
  }

  private static boolean turned(Ticket<DedupKey> ticket) {
    return ticket.turn().toCompletableFuture().isDone();
  }

  @Property(tries = 400)
  void whateverHappensNobodyWaitsForEverAndNothingIsLeftOver(@ForAll long seed) {
    random = new Random(seed);
    network.clear();
    map.clear();
    lives = 1;
    processes.clear();
    asked.clear();
    now = 0;
    faults = true;
    List<Process> alive = new ArrayList<>();
    List.of("a", "b", "c").forEach(name -> alive.add(new Process(name)));
    Map<Ticket<DedupKey>, Process> tickets = new HashMap<>();
    for (int i = 0; i < 400; i++) {
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> {
          Process process = alive.get(random.nextInt(alive.size()));
          tickets.put(ask(process, random.nextInt(4)), process);
        }
        case 4, 5, 6 -> deliver(random.nextInt(10));
        case 7, 8 -> leaveOne(tickets);
        case 9 -> pass(random.nextInt(random.nextInt(4) == 0 ? 1_000 : 100));
        case 10 -> alive.get(0).sweep(names(alive));
        default -> {
          if (random.nextInt(4) == 0) {
            Process process = alive.get(random.nextInt(alive.size()));
            process.silent = !process.silent;
          } else if (random.nextInt(20) == 0) {
            map.clear();
            lives++;
          } else if (alive.size() > 1 && random.nextInt(50) == 0) {
            Process dead = alive.remove(1);
            processes.remove(dead.name);
            tickets.values().removeIf(process -> process == dead);
          }
        }
      }
    }
    faults = false;
    alive.forEach(process -> process.silent = false);
    for (int i = 0; i < 400 && !(tickets.isEmpty() && map.isEmpty()); i++) {
      settle();
      pass(100);
      alive.get(0).sweep(names(alive));
      settle();
      for (Map.Entry<Ticket<DedupKey>, Process> each : List.copyOf(tickets.entrySet())) {
        if (turned(each.getKey())) {
          each.getValue().coordinator.deQueue(each.getKey(), now);
          tickets.remove(each.getKey());
        }
      }
    }
    assertThat(tickets).isEmpty();
    assertThat(map).isEmpty();
    for (Process process : alive) {
      assertThat(process.coordinator.figures().processing()).isZero();
      assertThat(process.coordinator.figures().waiting()).isZero();
    }
  }

  private void leaveOne(Map<Ticket<DedupKey>, Process> tickets) {
    if (tickets.isEmpty()) {
      return;
    }
    List<Ticket<DedupKey>> all = new ArrayList<>(tickets.keySet());
    all.sort(
        Comparator.comparing((Ticket<DedupKey> each) -> each.worker().member())
            .thenComparing(Ticket::token));
    Ticket<DedupKey> ticket = all.get(random.nextInt(all.size()));
    tickets.remove(ticket).coordinator.deQueue(ticket, now);
  }

  private static Set<String> names(List<Process> alive) {
    return alive.stream().map(process -> process.name).collect(Collectors.toSet());
  }

  @Example
  void aPlaceThatIsGivenBackBeforeTheAnswerIsFreedAfterIt() {
    Process a = new Process("a");
    Ticket<DedupKey> ticket = ask(a, 1);
    CompletableFuture<Departure> left = a.coordinator.deQueue(ticket, now).toCompletableFuture();
    assertThat(left).isNotDone();
    settle();
    assertThat(left).isCompletedWithValue(Departure.FREED);
    assertThat(map).isEmpty();
  }

  @Example
  void withoutAnAnswerARequestGoesAhead() {
    Process a = new Process("a");
    Ticket<DedupKey> ticket = ask(a, 1);
    network.clear();
    pass(1_999);
    assertThat(turned(ticket)).isFalse();
    pass(1);
    assertThat(turned(ticket)).isTrue();
    assertThat(a.coordinator.figures().unguarded()).isOne();
  }

  @Example
  void nobodyIsDeclinedForTheSakeOfOneThatWentAheadWithoutAnAnswer() {
    Process a = new Process("a");
    Process b = new Process("b");
    Process c = new Process("c");
    answered(a);
    b.silent = true;
    Ticket<DedupKey> waiter = answered(b);
    for (int i = 0; i < 20; i++) {
      Ticket<DedupKey> earlier = answered(c);
      assertThat(turned(waiter)).isFalse();
      assertThat(earlier.answer()).as("asked after %s ms", 100 * i).isNotNull();
      c.coordinator.deQueue(earlier, now);
      settle();
      pass(100);
    }
    assertThat(turned(waiter)).isTrue();
    Ticket<DedupKey> later = answered(c);
    assertThat(later.answer()).isEqualTo(Answer.BLOCK);
  }

  @Example
  void nobodyIsDeclinedForTheSakeOfOneThatIsOverAndCouldNotGiveBack() {
    Process a = new Process("a");
    Process b = new Process("b");
    Process c = new Process("c");
    answered(a);
    b.silent = true;
    Ticket<DedupKey> waiter = answered(b);
    pass(2_000);
    assertThat(turned(waiter)).isTrue();
    b.coordinator.deQueue(waiter, now);
    network.clear();
    Ticket<DedupKey> later = answered(c);
    assertThat(later.answer()).isEqualTo(Answer.BLOCK);
  }

  @Example
  void whileAWaiterIsAnsweredOthersAreDeclinedForItsSake() {
    Process a = new Process("a");
    Process b = new Process("b");
    Process c = new Process("c");
    answered(a);
    Ticket<DedupKey> waiter = answered(b);
    for (int i = 0; i < 40; i++) {
      pass(100);
      settle();
      Ticket<DedupKey> other = answered(c);
      assertThat(other.answer()).isEqualTo(Answer.DECLINE);
    }
    assertThat(turned(waiter)).isFalse();
  }

  @Example
  void afterJoiningAfreshItsWaitersAskUnderTheNewName() {
    Process a = new Process("a");
    Process b = new Process("b");
    answered(a);
    Ticket<DedupKey> waiter = answered(b);
    assertThat(waiter.answer()).isEqualTo(Answer.BLOCK);
    Process again = new Process("b2");
    again.coordinator = b.coordinator;
    processes.remove("b");
    b.coordinator.use(again, now);
    settle();
    // Its own former claim waits there still, until it is swept.
    a.sweep(Set.of("b2"));
    pass(200);
    settle();
    assertThat(waiter.turn().toCompletableFuture()).isDone();
  }

  @Example
  void aHeadThatItsProcessDoesNotKnowIsGivenBack() {
    Process a = new Process("a");
    Process b = new Process("b");
    Ticket<DedupKey> ticket = answered(a);
    byte[] stored = map.get(key(1));
    a.coordinator.deQueue(ticket, now);
    settle();
    // As if its request had run once more, late.
    map.put(key(1), stored);
    Ticket<DedupKey> waiter = answered(b);
    assertThat(turned(waiter)).isFalse();
    pass(200);
    settle();
    assertThat(waiter.turn().toCompletableFuture()).isCompletedWithValue(Answer.ACCEPT);
  }
}
