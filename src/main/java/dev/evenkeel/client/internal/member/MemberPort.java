package dev.evenkeel.client.internal.member;

import java.util.function.LongConsumer;

/** A running consumer as its parts know it. */
interface MemberPort {
  /** Feeds an event on the consumer's context, and then does everything that can be done. */
  void onEvent(LongConsumer event);

  /** Something has changed that the dispatcher must know before the next heartbeat is due. */
  void heartbeatNow();

  /** Ends the consumer, which releases its shards. */
  void stop(String text, Throwable cause);

  /** Ends the consumer against its will: nothing is released. */
  void endBecause(Throwable cause);
}
