package dev.evenkeel.sim;

/**
 * What most of the faults of a world are about: something that happens too rarely in one in which
 * everything goes wrong equally often. One seed of 25 has each, and a {@link Setup} may ask for
 * one.
 */
enum Focus {
  /** On nothing. */
  NONE(1),

  /**
   * A new dispatcher finds no registry, and members of which it has heard nothing yet may start
   * handlers for longer than is usual.
   */
  LOST_REGISTRY(3),

  /** Topics are deleted and made again, and shards of their names come to other data groups. */
  TOPICS_COME_AGAIN(1),

  /**
   * All members go, for longer than a group is remembered or shorter, and come again. Meanwhile
   * there may be no dispatcher, or clocks jump.
   */
  GROUPS_COME_AGAIN(6),

  /** The group is in mode singleton, and dispatchers follow each other without noticing. */
  LEADERS_FOLLOW(2),

  /** Topics get other numbers of shards. */
  SHARDS_CHANGE(2),

  /** Some messages end the process that handles them. Otherwise members only come and go. */
  DEADLY_MESSAGES(6),

  /**
   * The same, and what all groups have consumed is dropped at once. Another group is quick, and in
   * half of all worlds a third one has nobody who consumes.
   */
  CONSUMED_IS_DROPPED(2);

  /** How often the usual time its faults take. */
  final int lasts;

  /** Whether topics get other numbers of shards. */
  boolean reshards() {
    return this == SHARDS_CHANGE || this == CONSUMED_IS_DROPPED;
  }

  Focus(int lasts) {
    this.lasts = lasts;
  }
}
