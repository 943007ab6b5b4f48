package dev.evenkeel.sim;

/** Somebody in the simulated cluster: a consumer, a dispatcher, the brokers. */
abstract class Actor {
  final String name;

  /** What happens to it is put off until then, as with a stopped process; its clocks go on. */
  long pausedUntil;

  /** No message gets to it or away from it, and nobody tells. */
  boolean cutOff;

  /** It has crashed or ended: nothing happens to it any more. */
  boolean gone;

  Actor(String name) {
    this.name = name;
  }

  @Override
  public String toString() {
    return name;
  }
}
