package dev.evenkeel.sim;

/** Something that must never be, found by a simulation. */
final class SimulationFailure extends AssertionError {
  private static final long serialVersionUID = 1L;

  SimulationFailure(String what) {
    super(what);
  }
}
