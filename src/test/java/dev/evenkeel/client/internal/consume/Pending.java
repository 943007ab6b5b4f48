package dev.evenkeel.client.internal.consume;

/** What a core knows of its messages, for tests in other packages. */
public final class Pending {
  private Pending() {}

  /** Messages that were fetched and are not finished. */
  public static long messages(ConsumerCore core) {
    return core.environment.flow.messages;
  }

  /** Their bytes. */
  public static long bytes(ConsumerCore core) {
    return core.environment.flow.bytes;
  }

  /** Where a message comes from. */
  public static Ownership ownership(Task task) {
    return task.owner.ownership();
  }

  /** Whether the shard of a message hands messages out. */
  public static boolean works(Task task) {
    return ((ShardHandling) task.owner).shard.works();
  }

  /** Handlers of a shard that have not ended. */
  public static int running(Owned owned) {
    return ((OwnedShard) owned).messages.running();
  }

  /** Whether the time for a handover is over: what still waits goes to the next owner. */
  public static boolean tooLate(Owned owned, long now) {
    return ((OwnedShard) owned).tooLate(now);
  }
}
