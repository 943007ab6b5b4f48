package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The track that a question is about.
 *
 * @param coordinator name of the coordinator
 * @param track the track, as it was opened
 * @param user who asks: only the one who opened it may; null: the cluster has no users
 */
public record InTrack(String coordinator, String track, @Caller @Nullable String user) {}
