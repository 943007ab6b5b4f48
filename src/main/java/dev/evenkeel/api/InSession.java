package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The session that a question is about.
 *
 * @param group name of the group
 * @param session the session, as it was opened
 * @param user who asks: only the one who opened it may; null: the cluster has no users
 */
public record InSession(String group, String session, @Caller @Nullable String user) {}
