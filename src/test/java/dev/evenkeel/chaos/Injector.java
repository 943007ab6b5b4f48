package dev.evenkeel.chaos;

import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** Does faults to machines, and undoes them. */
final class Injector {
  private static final int EIO = 5;
  private static final long NANOS = 1_000_000_000L;

  private final Machines machines;
  private final Network network;
  private final Random random;
  private final Violations violations;
  private final List<Schedule.Planned> present = new ArrayList<>();

  Injector(Machines machines, long seed, Violations violations) {
    this.machines = machines;
    this.network = machines.network();
    this.random = new Random(seed);
    this.violations = violations;
  }

  /** What this machine can inject; says what it cannot. */
  static Set<Fault> possible(Network network) {
    Set<Fault> possible = EnumSet.allOf(Fault.class);
    Optional<String> obstacle = network.noDelay();
    if (obstacle.isPresent()) {
      var without = EnumSet.of(Fault.DELAY, Fault.CLOCK, Fault.SLOW_FSYNC, Fault.FAILING_FSYNC);
      System.out.println("left out, since " + obstacle.get() + ": " + without);
      possible.removeAll(without);
    }
    return possible;
  }

  void begin(Schedule.Planned planned) {
    present.add(planned);
    String one = planned.hosts().get(0);
    switch (planned.fault()) {
      case PAUSE_NODE, PAUSE_CLIENT -> machines.signal(one, "STOP");
      case KILL_NODE, KILL_CLIENT -> machines.kill(one);
      case STOP_NODE, STOP_CLIENT -> machines.stop(one);
      case ROLLING_RESTART -> rollingRestart(planned.hosts());
      case FULL_DISK -> {
        machines.mayEnd(one, true);
        machines.fill(one, planned.amount());
      }
      case CLOCK -> machines.setFaults(one, planned.amount() * NANOS, 0, 0);
      case SLOW_FSYNC -> machines.setFaults(one, 0, planned.amount(), 0);
      case FAILING_FSYNC -> {
        machines.mayEnd(one, true);
        machines.setFaults(one, 0, 0, EIO);
      }
      case WIPE_DISK -> {
        machines.kill(one);
        machines.wipe(one);
        machines.start(one);
      }
      case ROTTEN_BYTES -> {
        machines.mayEnd(one, true);
        machines.kill(one);
        machines.rot(one, (int) planned.amount(), random);
        machines.start(one);
      }
      default -> connect();
    }
  }

  void end(Schedule.Planned planned) {
    present.remove(planned);
    String one = planned.hosts().get(0);
    switch (planned.fault()) {
      case PAUSE_NODE, PAUSE_CLIENT -> machines.signal(one, "CONT");
      case KILL_NODE, KILL_CLIENT, STOP_NODE, STOP_CLIENT -> machines.start(one);
      case ROLLING_RESTART -> {
        // Each was awaited when it was started.
      }
      case FULL_DISK -> {
        machines.makeRoom(one);
        restarted(one);
      }
      case CLOCK, SLOW_FSYNC -> machines.setFaults(one, 0, 0, 0);
      case FAILING_FSYNC -> {
        machines.setFaults(one, 0, 0, 0);
        restarted(one);
      }
      case WIPE_DISK -> replace(one);
      case ROTTEN_BYTES -> {
        machines.kill(one);
        machines.wipe(one);
        machines.start(one);
        replace(one);
        machines.mayEnd(one, false);
      }
      default -> connect();
    }
  }

  /** What its fault has ended, or is about to end, is started again without it. */
  private void restarted(String node) {
    machines.kill(node);
    machines.start(node);
    machines.mayEnd(node, false);
  }

  /** All connections as the present faults have them. */
  private void connect() {
    network.heal();
    for (Schedule.Planned planned : present) {
      List<String> hosts = planned.hosts();
      switch (planned.fault()) {
        case ISOLATE_NODE, ISOLATE_CLIENT, SPLIT -> apart(hosts);
        case BRIDGE -> network.cut(hosts.get(0), hosts.get(1));
        case ONE_WAY -> network.cutOneWay(hosts.get(0), hosts.get(1));
        case LOSS -> network.lose(hosts.get(0), (int) planned.amount());
        case DELAY -> network.delay(hosts.get(0), 1, (int) planned.amount());
        default -> {
          // It has nothing to do with connections.
        }
      }
    }
  }

  private void apart(List<String> part) {
    List<String> others = new ArrayList<>(network.names());
    others.removeAll(part);
    part.forEach(inside -> others.forEach(outside -> network.cut(inside, outside)));
  }

  private void rollingRestart(List<String> nodes) {
    for (String node : nodes) {
      machines.stop(node);
      machines.start(node);
      awaitReady(node);
    }
  }

  private void awaitReady(String node) {
    Node of = machines.node(node);
    if (!Conditions.within(
        60 * Jar.crowding(), () -> of.get("/health/ready").statusCode() == 200)) {
      violations.add("a node did not become ready", node);
    }
  }

  /** As an operator would, by another node, until the empty one is ready. */
  private void replace(String node) {
    String by = Schedule.NODES.stream().filter(other -> !other.equals(node)).findFirst().get();
    List<String> answers = new ArrayList<>();
    Node empty = machines.node(node);
    boolean done =
        Conditions.within(
            120 * Jar.crowding(),
            () -> {
              if (machines.isUp(node) && empty.get("/health/ready").statusCode() == 200) {
                return true;
              }
              answers.add(
                  machines.node(by).post("/api/cluster/nodes/" + node + "/replace", "").body());
              return false;
            });
    if (!done) {
      violations.add(
          "a node was not replaced",
          node + ": " + answers.subList(Math.max(0, answers.size() - 3), answers.size()));
    }
  }
}
