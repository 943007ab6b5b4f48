package dev.evenkeel.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Which faults there are in a run, when, and on whom: all decided by a seed. */
final class Schedule {
  static final List<String> NODES = List.of("n1", "n2", "n3");
  static final List<String> CLIENTS = List.of("c1", "c2", "c3");
  private static final int AT_A_TIME_MAX = 2;
  private static final long[] CLOCK_SECONDS = {2, 60, 3_600, 8 * 86_400};

  /**
   * A fault.
   *
   * @param hosts whom it is done to
   * @param amount what it means depends on the fault
   */
  record Planned(long beginMillis, long endMillis, Fault fault, List<String> hosts, long amount) {
    @Override
    public String toString() {
      String times = "%6.1f s to %6.1f s  ".formatted(beginMillis / 1e3, endMillis / 1e3);
      return times + fault + " " + hosts + (amount == 0 ? "" : " " + amount);
    }
  }

  private final Random random;
  private final List<Planned> faults = new ArrayList<>();

  private Schedule(Random random) {
    this.random = random;
  }

  /**
   * @param possible faults that the machine can inject
   */
  static List<Planned> of(long seed, long millis, Set<Fault> possible) {
    Schedule schedule = new Schedule(new Random(seed));
    schedule.plan(millis, possible.stream().sorted().toList());
    return List.copyOf(schedule.faults);
  }

  private void plan(long millis, List<Fault> possible) {
    long now = between(1_000, 4_000);
    List<Fault> deck = new ArrayList<>();
    while (now < millis) {
      if (deck.isEmpty()) {
        // Each once before one comes again, so that a short run has many kinds.
        deck.addAll(possible);
        Collections.shuffle(deck, random);
      }
      Fault fault = deck.remove(deck.size() - 1);
      boolean alone = fault.destroysData() || fault.isOfAllNodes();
      now = Math.max(now, freeAt(alone ? 0 : AT_A_TIME_MAX - 1));
      now = Math.max(now, aloneUntil());
      List<String> hosts = hosts(fault, now);
      if (!hosts.isEmpty() && now < millis) {
        long end = now + between(3_000, 20_000);
        faults.add(new Planned(now, end, fault, hosts, amount(fault)));
      }
      now += between(1_000, 9_000);
    }
  }

  /** When no more than so many of the faults go on. */
  private long freeAt(int others) {
    List<Long> ends = faults.stream().map(Planned::endMillis).sorted().toList();
    return ends.size() <= others ? 0 : ends.get(ends.size() - 1 - others);
  }

  private long aloneUntil() {
    return faults.stream()
        .filter(each -> each.fault().destroysData() || each.fault().isOfAllNodes())
        .mapToLong(Planned::endMillis)
        .max()
        .orElse(0);
  }

  /** Whom it is done to, of those who have no other fault; empty: nobody is left. */
  private List<String> hosts(Fault fault, long now) {
    List<String> nodes = free(NODES, now);
    List<String> clients = free(CLIENTS, now);
    return switch (fault) {
      case ISOLATE_CLIENT, PAUSE_CLIENT, KILL_CLIENT, STOP_CLIENT -> some(clients, 1);
      case BRIDGE -> some(nodes, 2);
      case ROLLING_RESTART -> some(nodes, NODES.size());
      case ONE_WAY -> {
        List<String> all = new ArrayList<>(nodes);
        all.addAll(clients);
        List<String> two = some(all, 2);
        // Clients do not speak to each other.
        yield two.stream().anyMatch(NODES::contains) ? two : List.of();
      }
      case SPLIT -> {
        List<String> part = new ArrayList<>(some(nodes, 1));
        part.addAll(some(clients, Math.min(clients.size(), 1 + random.nextInt(2))));
        yield part.size() < 2 || !NODES.contains(part.get(0)) ? List.of() : part;
      }
      case LOSS, DELAY -> some(random.nextInt(3) == 0 ? clients : nodes, 1);
      default -> some(nodes, 1);
    };
  }

  private List<String> free(List<String> hosts, long now) {
    List<String> free = new ArrayList<>(hosts);
    faults.stream()
        .filter(each -> each.endMillis() > now)
        .forEach(each -> free.removeAll(each.hosts()));
    return free;
  }

  private List<String> some(List<String> of, int count) {
    List<String> shuffled = new ArrayList<>(of);
    Collections.shuffle(shuffled, random);
    return of.size() < count ? List.of() : List.copyOf(shuffled.subList(0, count));
  }

  private long amount(Fault fault) {
    return switch (fault) {
      case LOSS -> between(2, 30);
      case DELAY -> between(20, 200);
      case FULL_DISK -> random.nextBoolean() ? 0 : 8;
      case CLOCK ->
          CLOCK_SECONDS[random.nextInt(CLOCK_SECONDS.length)] * (random.nextBoolean() ? 1 : -1);
      case SLOW_FSYNC -> between(20, 500);
      case ROTTEN_BYTES -> between(1, 4);
      default -> 0;
    };
  }

  private long between(long from, long to) {
    return from + (long) (random.nextDouble() * (to - from));
  }
}
