package dev.evenkeel.client.internal.spool;

import dev.evenkeel.protocol.RefusedException;

/** What a {@link SpoolSender} tells, on the producer's context. */
interface SpoolListener {
  /** The topic has so many shards. */
  void shards(int count);

  /** The spool has become smaller, or messages are acknowledged. */
  void progress();

  /** Nothing is on its way: what is in memory may be written and sent at once. */
  void idle();

  void ended(RefusedException reason);
}
