package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Removes a token of a user that the cluster keeps. Nodes close the connections that show it within
 * two seconds.
 *
 * @param name name of the user
 * @param id the word between the underscores of the token
 * @param by who asks; null: nobody in particular
 */
public record RemoveToken(String name, String id, @Caller @Nullable String by) {
  /** Says that the user has no such token any more. */
  public record RemovedToken(String name, String id, boolean removed) {}
}
