package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.Map;

/**
 * Decides who is to own which shard. Deterministic: the same snapshot gives the same answer,
 * whatever the order of its lists. It neither blocks nor keeps anything between calls, and is
 * called from one thread or another.
 *
 * <p>One of your own: implement it with a public constructor without parameters, name the class in
 * {@code META-INF/services/dev.evenkeel.assign.Assignor} of your jar, and put that jar on the class
 * path of every node with the dispatcher role. Groups then ask for it by its {@link #name()}.
 */
public interface Assignor {

  /** How groups ask for it: 1 to 64 of {@code a-z 0-9 . -}, unique among those of a node. */
  String name();

  /**
   * @return an owner for each shard that a member subscribes to, and no other
   */
  Map<Shard, String> assign(Snapshot snapshot);
}
