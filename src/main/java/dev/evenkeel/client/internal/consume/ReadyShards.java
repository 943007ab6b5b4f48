package dev.evenkeel.client.internal.consume;

import java.util.ArrayDeque;
import java.util.function.Function;

/** The shards that have something to hand out, perhaps; each gets its turn. */
final class ReadyShards {
  /** Messages of one shard that are started before the next shard gets its turn. */
  private static final int TURN_MESSAGES = 32;

  private final ArrayDeque<OwnedShard> ready = new ArrayDeque<>();
  private int turn;

  void add(OwnedShard hold) {
    if (!hold.inReady) {
      hold.inReady = true;
      ready.add(hold);
    }
  }

  boolean isEmpty() {
    return ready.isEmpty();
  }

  /**
   * The next message, or null.
   *
   * @param take gives the next message of a shard, or null if it has none now
   */
  Task next(Function<OwnedShard, Task> take) {
    OwnedShard hold;
    while ((hold = ready.peek()) != null) {
      Task task = take.apply(hold);
      if (task == null) {
        ready.poll();
        hold.inReady = false;
        turn = 0;
        continue;
      }
      if (++turn >= TURN_MESSAGES) {
        ready.add(ready.poll());
        turn = 0;
      }
      return task;
    }
    return null;
  }
}
