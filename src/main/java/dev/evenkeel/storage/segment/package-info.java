/**
 * The bodies of log entries in append-only files, the segments.
 *
 * <p>Begin with {@link dev.evenkeel.storage.segment.Segments}. {@code Segment} is one file, with a
 * {@code RecordTable} beside it; {@code RecordHeader} is the format.
 */
package dev.evenkeel.storage.segment;
