package dev.evenkeel.client;

/**
 * How far a {@link Source} has been read.
 *
 * @param bytes number of bytes from its beginning to the end of the last line that was read
 * @param lines number of lines in these bytes
 * @param refused how many of these lines did not become messages, because they were too long
 * @param complete whether this is the end of the source
 */
public record SourcePosition(long bytes, long lines, long refused, boolean complete) {
  /** The beginning of a source. */
  public static final SourcePosition START = new SourcePosition(0, 0, 0, false);
}
