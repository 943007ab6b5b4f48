package dev.evenkeel.model;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How far the members of a group in mode level are: any two differ by at most the range, counted
 * since the later of them joined. It joined at some moment between its request and its first
 * message, so each pair is compared from the moment that is best for it.
 */
final class Levels {
  /** A member, how many messages it has finished, and how many the others had when it joined. */
  private static final class Member {
    private long finished;
    private final Map<String, Long> whenAsked = new HashMap<>();
    private Map<String, Long> whenFirst;
  }

  private final Map<String, Member> members = new LinkedHashMap<>();

  /** A member asks to join. */
  void joins(String name) {
    Member joins = new Member();
    members.forEach(
        (other, member) -> {
          if (member.whenFirst != null) {
            joins.whenAsked.put(other, member.finished);
          }
        });
    members.put(name, joins);
  }

  void leaves(String name) {
    members.remove(name);
  }

  /** A member gets a message. */
  void begins(String name) {
    Member begins = members.get(name);
    if (begins != null && begins.whenFirst == null) {
      begins.whenFirst = new HashMap<>();
      members.forEach((other, member) -> begins.whenFirst.put(other, member.finished));
    }
  }

  /** A member finishes a message. Returns by how much it is ahead of the one that has fewest. */
  long finishes(String name) {
    Member ahead = members.get(name);
    if (ahead == null) {
      return 0;
    }
    ahead.finished++;
    long most = 0;
    for (Map.Entry<String, Member> each : members.entrySet()) {
      Member other = each.getValue();
      // Who joined later knows what the former had: its own count begins with 0.
      Long had = ahead.whenAsked.get(each.getKey());
      long mine = ahead.finished;
      long others = other.finished;
      if (had != null) {
        others -= had;
      } else if (other.whenFirst != null) {
        mine -= other.whenFirst.getOrDefault(name, mine);
      } else {
        continue;
      }
      most = Math.max(most, mine - others);
    }
    return most;
  }
}
