package dev.evenkeel.sim;

import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.Task;

/** What a user has written for one run of a member: its handlers. */
interface SimHandling {
  void start(Task task);

  void assign(CallAssign call);

  void release(CallRelease call);

  /** The member has lost a shard, which it did not release. */
  void lost(ShardContext context);

  /** What hangs goes on. */
  void wake();

  /** The run is over. */
  void stopped();
}
