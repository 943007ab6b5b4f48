package dev.evenkeel.dispatcher;

import io.vertx.core.Future;

/**
 * Makes members count as dead, for tests. While a node runs with the dispatcher role, {@link
 * dev.evenkeel.bus.LocalObjects} holds one; nobody outside of the JVM can reach it.
 */
@FunctionalInterface
public interface MemberExpiry {
  /**
   * Ends a member as if nothing had been heard of it for too long.
   *
   * @return whether there was such a member; fails if the dispatcher is active on another node
   */
  Future<Boolean> expire(String group, String member);
}
