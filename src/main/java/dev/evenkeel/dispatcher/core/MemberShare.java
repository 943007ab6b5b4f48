package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Decides whether a user gets another member, of all groups together: nobody gets more while it has
 * its share of what is left, so there is always room for another user.
 *
 * @param user null: there are no users, or a program that is a member of the cluster asks
 * @param own members that the user has
 * @param all members that there are
 * @param weight the share of the user, usually 1
 */
record MemberShare(String user, int own, int all, double weight) {
  private static final int MAX = DispatcherSettings.MEMBERS_MAX;

  static MemberShare of(DispatcherState state, String user) {
    int all = state.groups().stream().mapToInt(each -> each.members().live().size()).sum();
    double weight = user == null ? 1 : state.weight(user);
    // Counting is slow, and needed only if the user may have too many.
    boolean counts = user != null && !FairShare.fits(all, all, 1, MAX, weight);
    return new MemberShare(user, counts ? own(state, user) : 0, all, weight);
  }

  private static int own(DispatcherState state, String user) {
    int own = 0;
    for (GroupState group : state.groups()) {
      for (Member member : group.members().live()) {
        own += user.equals(member.beat().user()) ? 1 : 0;
      }
    }
    return own;
  }

  private static Map<String, Integer> byUser(DispatcherState state) {
    Map<String, Integer> counts = new TreeMap<>();
    for (GroupState group : state.groups()) {
      for (Member member : group.members().live()) {
        if (member.beat().user() != null) {
          counts.merge(member.beat().user(), 1, Integer::sum);
        }
      }
    }
    return counts;
  }

  /** What each user holds. */
  static List<ShareUse> uses(DispatcherState state) {
    return byUser(state).entrySet().stream()
        .map(each -> new ShareUse("members", each.getKey(), each.getValue(), MAX))
        .toList();
  }

  /**
   * @param returns whether the member was in the group before this dispatcher began
   * @throws RefusedException OVERLOADED if that is too much
   */
  void require(boolean returns) {
    if (all >= MAX && (user == null || returns)) {
      throw Refusal.OVERLOADED.error("the cluster has " + MAX + " members, which is its limit");
    }
    if (user != null && !returns && !FairShare.fits(own, all, 1, MAX, weight)) {
      throw Refusal.OVERLOADED.error(
          "the user '%s' has %s of the %s members of the cluster, and %s are taken: stop members"
              + " that you do not need",
          user, own, MAX, all);
    }
  }
}
