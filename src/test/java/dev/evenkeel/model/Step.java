package dev.evenkeel.model;

import java.util.Locale;

/** What users do, and what happens to the machines. Two numbers say with what. */
public enum Step {
  CREATE_TOPIC(3),
  CONFIGURE_TOPIC(2),
  DELETE_TOPIC(2),
  DELETE_AND_CREATE(2),
  RESHARD(3),
  SEND(6),
  SEND_COMPRESSED(2),
  SEND_SPOOLED(2),
  SEND_OVER_HTTP(2),
  SEND_TO_ALL_REPLICAS(2),
  SEND_WITHOUT_WAITING(2),
  SEND_MANY(2),
  SEND_LARGE(2),
  SEND_LATER(3),
  CANCEL_DELAYED(2),
  JOIN(5),
  JOIN_OVER_HTTP(2),
  SUBSCRIBE(3),
  UNSUBSCRIBE(3),
  LEAVE(3),
  TAKE_NAME(2),
  EXPIRE(3),
  HANG(2),
  PAUSE(2),
  PAUSE_ONE_TOPIC(2),
  RESUME(2),
  RESET_TO_EARLIEST(2),
  RESET_TO_LATEST(2),
  REPLAY(2),
  DROP_DEAD_LETTERS(2),
  DELETE_GROUP(2),
  SET_QUOTA(2),
  CLEAR_QUOTA(2),
  MANY_NAMES(2),
  LOOK(2),

  JOIN_AT_ADDRESS(2),
  LISTENERS_GO(2),
  STAND_FOR_ELECTION(3),
  LEAVE_ELECTION(2),
  HANG_LEADER(2),
  CLAIM_KEYS(3),
  ABANDON_KEYS(2),
  MAKE_TRACK(3),
  MOVE_TRACKS(2),
  DESTROY_TRACK(2),
  HANG_CLIENT(2),
  KILL_CLIENT(2),

  RESTART_NODE(2),
  KILL_NODE(2),
  HANG_NODE(2),
  CUT_NODE(2),
  SET_CLOCK(2),
  FILL_DISK(2),
  DRAIN_NODE(2),
  REMOVE_AND_JOIN(2),

  LET_TIME_PASS(3),
  KILL_MEMBER(2),
  CUT_MEMBER(2),
  SUSPEND_MEMBER(2),
  REPLACE_DISPATCHER(2),
  CLEAR_MAPS(1);

  /** How often it comes, beside the others. */
  final int weight;

  Step(int weight) {
    this.weight = weight;
  }

  /** Whether it is about machines: each {@link Place} has some of these. */
  boolean ofMachines() {
    return ordinal() >= RESTART_NODE.ordinal() && !ofSimulation();
  }

  /** Whether users must be on the event bus of the nodes for it. */
  boolean ofEventBus() {
    return this == JOIN_AT_ADDRESS || this == LISTENERS_GO;
  }

  /** Whether it is about elections, dedups or coordinators. */
  boolean ofServices() {
    return compareTo(STAND_FOR_ELECTION) >= 0 && compareTo(KILL_CLIENT) <= 0;
  }

  /** Whether only the simulation can do it. */
  boolean ofSimulation() {
    return ordinal() >= LET_TIME_PASS.ordinal();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
