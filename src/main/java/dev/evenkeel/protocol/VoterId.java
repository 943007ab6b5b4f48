package dev.evenkeel.protocol;

/**
 * The name under which a node votes: its id and, in a cluster of several nodes, the incarnation of
 * its data directory ({@code n2@1f0c9a7be2d4}). People see the node id only. A lost directory takes
 * its incarnation with it, so no other directory can ever vote in its place.
 */
public final class VoterId {
  private static final char SEPARATOR = '@';

  private VoterId() {}

  /**
   * @param incarnation empty for a lone node
   */
  public static String of(String node, String incarnation) {
    return incarnation.isEmpty() ? node : node + SEPARATOR + incarnation;
  }

  /** The node that votes under this name. */
  public static String node(String voter) {
    int at = voter.indexOf(SEPARATOR);
    return at < 0 ? voter : voter.substring(0, at);
  }
}
