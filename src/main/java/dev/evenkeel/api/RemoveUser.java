package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Removes a user that the cluster keeps. Nodes close the connections of its programs within two
 * seconds.
 *
 * @param name name of the user
 * @param by who asks; null: nobody in particular
 */
public record RemoveUser(String name, @Caller @Nullable String by) {
  /** Says that the cluster keeps no such user any more. */
  public record RemovedUser(String name, boolean removed) {}
}
