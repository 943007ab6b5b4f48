package dev.evenkeel.assign;

/**
 * Shards leave the most loaded members for the least loaded ones that they can reach, if need be
 * over others; between members of the same subscription that is a matter of counting.
 */
final class Level implements Strategy {
  @Override
  public int[] owners(GroupView view) {
    Flow flow = view.flow();
    new Levelling(flow).exchange();
    return view.dealt(flow);
  }
}
