package dev.evenkeel.sim;

import dev.evenkeel.broker.node.ClusterClock;

/** A node that brokers and dispatchers run on: its clocks, and what it takes for the time. */
final class SimNode {
  final String name;
  final Machine machine;

  /** That of the product. */
  final ClusterClock clock;

  SimNode(String name, Machine machine) {
    this.name = name;
    this.machine = machine;
    clock = new ClusterClock(machine::wallMillis, machine::monotonicMillis);
  }

  @Override
  public String toString() {
    return name;
  }
}
