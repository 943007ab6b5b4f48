package dev.evenkeel.client;

/**
 * One leadership of a group in mode singleton, or of an election, from the grant of the lease to
 * its end. All methods may be called from any thread and return at once.
 */
public interface LeaderContext {

  /**
   * The fencing token: each leader of the group has a higher one than all before, and no two have
   * the same. Pass it to every system that you write to. That system must remember the highest term
   * that it has seen and refuse lower ones.
   */
  long term();

  /** Name of this member in its group. */
  String member();

  /**
   * Whether this leadership is being handed over, or has been: because another member is to lead,
   * or because all shards are being reset. It becomes false again if the handover is called off.
   */
  boolean isHandingOver();

  /**
   * Whether the leadership is over, as far as this member knows. If it is false, another member may
   * lead nevertheless, for example while this one is cut off. Only a check of {@link #term} is
   * safe.
   */
  boolean isOver();

  /**
   * Whether this member leads for sure: it neither hands over nor is cut off. It is false when the
   * last answered heartbeat was sent too long ago (the member timeout less 1 s), which is before
   * another member can lead, and true again if the cluster still counts this member as the leader.
   * Work that takes long should ask from time to time. A program that is stopped between this
   * question and its next step may be late all the same; only a check of {@link #term} is safe.
   */
  boolean isLeading();

  /**
   * Asks that another member lead. This member hands over to the standby that joined first, and
   * leads again only if no other member can. Without a standby it continues to lead, and hands over
   * as soon as there is one; in an election it hands over at once, and leads again at a higher term
   * if there is still nobody else. Calling it again has no effect.
   */
  void resign();
}
