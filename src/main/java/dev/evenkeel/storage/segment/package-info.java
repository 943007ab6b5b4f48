/**
 * The bodies of log entries in append-only files.
 *
 * <p>Begin with {@link dev.evenkeel.storage.segment.Segments}.
 */
package dev.evenkeel.storage.segment;
