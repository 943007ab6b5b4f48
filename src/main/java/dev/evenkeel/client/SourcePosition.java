package dev.evenkeel.client;

/**
 * How far a source has been read.
 *
 * @param bytes from its beginning, up to the end of the last line taken
 * @param lines up to there
 * @param refused of those lines, how many were no messages, because they were too long
 * @param complete whether the source had ended there
 */
public record SourcePosition(long bytes, long lines, long refused, boolean complete) {
  /** Nothing has been read. */
  public static final SourcePosition START = new SourcePosition(0, 0, 0, false);
}
