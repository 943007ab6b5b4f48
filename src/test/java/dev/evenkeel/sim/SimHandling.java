package dev.evenkeel.sim;

import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.OwnedShard;
import dev.evenkeel.client.internal.consume.Task;
import java.util.List;

/** What a user has written for one run of a member: its handlers. */
interface SimHandling {
  void start(Task task);

  void assign(
      OwnedShard owned, ShardContext context, byte[] state, List<ConsumerAction.Parent> parents);

  void release(OwnedShard owned, ShardContext context);

  /** The member has lost a shard, which it did not release. */
  void lost(ShardContext context);

  /** What hangs goes on. */
  void wake();

  /** The run is over. */
  void stopped();
}
