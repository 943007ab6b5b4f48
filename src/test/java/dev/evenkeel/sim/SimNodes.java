package dev.evenkeel.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The nodes. They ask each other for their clocks, as the product's do, and while there are faults
 * somebody sets these clocks to anything.
 */
final class SimNodes {
  static final int COUNT = 3;

  /** So often they ask, as the product's {@code ClockLoop}. */
  private static final long ASK_MILLIS = 2_000;

  /** By then everybody knows that a clock was put right. */
  private static final long ALL_KNOW_MILLIS = 3 * ASK_MILLIS;

  private static final long DAY_MILLIS = 24 * 3_600_000L;

  private final Cluster world;
  private final SplittableRandom random;
  private final List<SimNode> all = new ArrayList<>();

  /** More than one clock may be wrong at a time, so that nobody knows the time. */
  private final boolean anyNumber;

  /** Of each node: since when its clock has been about right. */
  private final long[] rightSince = new long[COUNT];

  SimNodes(Cluster world, boolean anyNumber) {
    this.world = world;
    this.anyNumber = anyNumber;
    random = world.random;
    for (int i = 0; i < COUNT; i++) {
      Machine machine = new Machine(world.time, random.nextInt(1_000_000), world.clockOffset());
      all.add(new SimNode("n" + i, machine));
    }
    all.forEach(node -> node.clock.ask(COUNT));
    ask();
  }

  SimNode get(int index) {
    return all.get(index);
  }

  SimNode any() {
    return all.get(random.nextInt(COUNT));
  }

  /** Whether most clocks are about right, so that the cluster knows the time. */
  boolean knowTheTime() {
    return !anyNumber;
  }

  private void ask() {
    for (SimNode node : all) {
      for (SimNode other : all) {
        if (node != other) {
          node.clock.heard(
              other.name, other.machine.wallMillis(), node.machine.monotonicMillis() - 2);
        }
      }
    }
    world.time.in(ASK_MILLIS, null, null, this::ask);
  }

  // ---- Faults

  /** A jump of a wall clock, from seconds to eight days, forward or back. */
  static long jump(SplittableRandom random) {
    long most = List.of(10_000L, 600_000L, DAY_MILLIS / 2, 8 * DAY_MILLIS).get(random.nextInt(4));
    long millis = 1_000 + random.nextLong(most - 1_000);
    return random.nextBoolean() ? millis : -millis;
  }

  /** Somebody sets the clock of a node, to anything or right. */
  void setAnyClock() {
    int index = random.nextInt(COUNT);
    SimNode node = all.get(index);
    boolean right = rightSince[index] < 0 && random.nextBoolean();
    if (right) {
      put(index, world.clockOffset());
      rightSince[index] = world.time.now();
    } else if (anyNumber || othersAreRight(index)) {
      put(index, node.machine.wallAheadMillis() + jump(random));
      rightSince[index] = -1;
    }
  }

  private boolean othersAreRight(int index) {
    for (int i = 0; i < COUNT; i++) {
      long since = rightSince[i];
      if (i != index && (since < 0 || since > 0 && world.time.now() - since < ALL_KNOW_MILLIS)) {
        return false;
      }
    }
    return true;
  }

  private void put(int index, long aheadMillis) {
    SimNode node = all.get(index);
    node.machine.set(aheadMillis);
    world.time.note(() -> "the clock of " + node + " is set to " + aheadMillis + " ms ahead");
  }

  /** All clocks are put right but one, which stays as it is. */
  void calm() {
    for (int i = 1; i < COUNT; i++) {
      if (rightSince[i] < 0) {
        put(i, world.clockOffset());
      }
    }
  }
}
