package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.Shard;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Says which groups get no messages because they are paused, and has fetches that waited for the
 * end of a pause looked at again. Runs on one context.
 */
final class PauseGate {
  /** Groups get nothing for this long at most while the node does not know which are paused. */
  private static final long UNKNOWN_NANOS_MAX = 10_000_000_000L;

  private static final long UNKNOWN_LOOK_MILLIS = 100;

  private final ServeContext serve;
  private final Consumer<LeaseKey> onResumed;

  /** Where fetches wait because their group is paused, or was until lately. */
  private final Set<LeaseKey> paused = new HashSet<>();

  private final long begunNanos = System.nanoTime();
  private boolean knows;
  private boolean looksSoon;

  /**
   * @param onResumed looks again at the fetches of a group that wait for a shard
   */
  PauseGate(ServeContext serve, Consumer<LeaseKey> onResumed) {
    this.serve = serve;
    this.onResumed = onResumed;
  }

  /**
   * Whether the group of a fetch gets nothing from its shard because it is paused: then the fetch
   * is looked at again when the pause ends.
   */
  boolean holds(FetchRequest fetch) {
    boolean holds = !fetch.group().isEmpty() && holds(fetch.group(), fetch.shard());
    if (holds) {
      paused.add(new LeaseKey(fetch.shard(), fetch.group()));
    }
    return holds;
  }

  /**
   * Whether a group gets nothing from a shard because it is paused, or because it may be, or
   * because the topic is being deleted.
   */
  boolean holds(String group, Shard shard) {
    return !knowsPauses() || serve.node().meta().tables().isHeld(group, shard);
  }

  /**
   * A node that has just started may not have applied a pause yet. It waits for that, but not for
   * long: the meta group may be without a leader.
   */
  private boolean knowsPauses() {
    if (!knows) {
      knows =
          serve.node().log().meta().copy().caughtUp()
              || System.nanoTime() - begunNanos > UNKNOWN_NANOS_MAX;
      if (!knows && !looksSoon) {
        looksSoon = true;
        serve
            .vertx()
            .setTimer(
                UNKNOWN_LOOK_MILLIS,
                id -> {
                  looksSoon = false;
                  resumed();
                });
      }
    }
    return knows;
  }

  /** A pause of a group has ended, perhaps: looks again at the fetches that waited for that. */
  void resumed() {
    List<LeaseKey> keys = List.copyOf(paused);
    paused.clear();
    keys.forEach(onResumed);
  }
}
