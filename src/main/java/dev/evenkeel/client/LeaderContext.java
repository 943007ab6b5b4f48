package dev.evenkeel.client;

/**
 * One leadership of a group in mode singleton: from the grant of the group's lease to its end. May
 * be used from any thread.
 */
public interface LeaderContext {

  /**
   * The fencing token: it grows with each leader of the group, for ever, and no two have the same.
   * Hand it to what you write to, and have that refuse whoever comes with a lower one than it has
   * seen.
   */
  long term();

  /** Name of this member. */
  String member();

  /**
   * Another is to lead, or all shards are set to another place: this one is handing over, or has.
   * Once true, it may become false again.
   */
  boolean isHandingOver();

  /**
   * Whether the leadership is over, as far as is known here. If it is false another may lead all
   * the same: only who checks the {@link #term} knows.
   */
  boolean isOver();

  /**
   * Asks that another lead: this one hands over to the standby that registered first, and leads
   * again only when it comes to nobody else. Without a standby it leads on, and hands over as soon
   * as there is one. Returns at once, and asking again changes nothing.
   */
  void resign();
}
