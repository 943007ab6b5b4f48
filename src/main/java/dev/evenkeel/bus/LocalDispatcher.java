package dev.evenkeel.bus;

import io.netty.channel.EventLoop;
import io.vertx.core.Future;

/**
 * The dispatcher of this node. While it runs, {@link LocalObjects} holds one.
 *
 * @param loop the event loop on which it works. A plan for a thousand members takes it a while, so
 *     no client's connection should be served there.
 */
public record LocalDispatcher(EventLoop loop, MemberExpiry members, Groups groups) {
  /** What it knows of groups. */
  @FunctionalInterface
  public interface Groups {
    /**
     * Whether a group has members, or waits for some; fails if the dispatcher is not active here.
     */
    Future<Boolean> hasMembers(String group);
  }

  /** Makes members count as dead, for tests; nobody outside of the JVM can reach it. */
  @FunctionalInterface
  public interface MemberExpiry {
    /**
     * Ends a member as if nothing had been heard of it for too long.
     *
     * @return whether there was such a member; fails if the dispatcher is active on another node
     */
    Future<Boolean> expire(String group, String member);
  }
}
