package dev.evenkeel.broker.member;

import dev.evenkeel.log.Follower;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** To whom a node that stops gives a group, best first. */
final class Successors {
  /** A follower that has not answered for this long is asked in vain. */
  static final long SILENT_MILLIS_MAX = 2_500;

  private Successors() {}

  /**
   * @param answers of the nodes that answered, by id
   */
  static List<String> of(String group, List<Follower> followers, Map<String, Peer> answers) {
    return followers.stream()
        .filter(follower -> follower.silentMillis() <= SILENT_MILLIS_MAX)
        .sorted(
            Comparator.comparing((Follower follower) -> fit(answers.get(follower.node()), group))
                .thenComparing(Follower::matchIndex)
                .reversed()
                .thenComparing(Follower::node))
        .map(Follower::node)
        .toList();
  }

  /**
   * One that cannot be of use as the leader still keeps what was acknowledged, and passes it on.
   */
  private static boolean fit(Peer peer, String group) {
    return peer != null && peer.serving() && !peer.unfit().contains(group);
  }
}
