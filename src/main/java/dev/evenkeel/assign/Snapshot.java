package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one group when a rebalance is planned. A snapshot says the same in whatever
 * order its members and shards are listed.
 *
 * @param members who may own shards: live, and not about to leave; each name once
 * @param shards every shard of every topic that a member subscribes to, each once
 */
public record Snapshot(List<Member> members, List<Held> shards) {
  public Snapshot {
    members = List.copyOf(members);
    shards = List.copyOf(shards);
  }

  /**
   * @param name unique in the group
   * @param topicIds topics it subscribes to; it may own no shard of another
   */
  public record Member(String name, Set<Integer> topicIds) {}

  /**
   * A shard and who has it.
   *
   * @param owner who owns it and lives; null if nobody does. It need not be among the members: one
   *     that is about to leave still owns
   * @param heir who gets it when the hand-over under way ends; null if there is none or it is open
   *     who; it need not be among the members either
   * @param lag messages that the group has not consumed; null if that is unknown
   * @param work what the shard costs its owner; null if that is unknown
   */
  public record Held(
      Shard shard,
      @Nullable String owner,
      @Nullable String heir,
      @Nullable Long lag,
      @Nullable Work work) {
    /** A shard of unknown work. */
    public Held(Shard shard, @Nullable String owner, @Nullable String heir, @Nullable Long lag) {
      this(shard, owner, heir, lag, null);
    }
  }

  /**
   * What a shard costs its owner, on average over the last minute.
   *
   * @param busy handlers that run at a time: their time divided by the time that passed
   * @param bytesPerSecond bytes of messages that are handled
   */
  public record Work(double busy, double bytesPerSecond) {}
}
