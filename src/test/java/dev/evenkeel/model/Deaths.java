package dev.evenkeel.model;

import dev.evenkeel.model.UserModel.Sent;
import java.util.HashMap;
import java.util.Map;

/** How many members of a group have died of each message, as the product counts them. */
final class Deaths {
  private static final class Count {
    private int deaths;

    /** Who is given up since it has begun the message, and says nothing; null: nobody. */
    private String dying;

    private long diedAt;
  }

  private final Map<Sent, Count> counts = new HashMap<>();

  /** When a message of a shard was last over that had not been before. */
  private final Map<Object, Long> progressed = new HashMap<>();

  /** A member begins a message that is to kill it. Returns how many have died of it. */
  int begins(Sent sent, Object shard, String member, long moment) {
    Count count = counts.computeIfAbsent(sent, any -> new Count());
    if (count.dying != null && !count.dying.equals(member)) {
      // The deaths before the group made progress may have had another reason.
      boolean progress = progressed.getOrDefault(shard, -1L) > count.diedAt;
      count.deaths = progress ? 1 : count.deaths + 1;
    }
    count.dying = null;
    count.diedAt = moment;
    return count.deaths;
  }

  /** A member is given up while it has the message; that counts once another one begins it. */
  void dies(Sent sent, String member) {
    counts.computeIfAbsent(sent, any -> new Count()).dying = member;
  }

  /** The handler of a member ends: if the member is dying, it still had its shard. */
  void ends(Sent sent, String member) {
    Count count = counts.get(sent);
    if (count != null && member.equals(count.dying)) {
      // That was a failure like others, and no death.
      counts.remove(sent);
    }
  }

  /** A message of the shard is over that had not been before. */
  void progresses(Object shard, long moment) {
    progressed.put(shard, moment);
  }

  /** Members may have lost what they had: deaths are held against messages anew. */
  void forget() {
    counts.clear();
  }
}
