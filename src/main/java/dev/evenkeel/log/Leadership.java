package dev.evenkeel.log;

/**
 * Who leads a log group, as far as this node knows.
 *
 * @param leader node id, or null if none is known
 * @param term Raft term
 * @param ready this node leads and has applied everything of earlier terms, so that what it reads
 *     from its state is current
 */
public record Leadership(String leader, long term, boolean ready) {
  public static final Leadership UNKNOWN = new Leadership(null, 0, false);
}
