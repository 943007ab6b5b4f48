package dev.evenkeel.api;

import dev.evenkeel.protocol.Worded;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A group. A figure that is unknown is null, never 0.
 *
 * @param mode sharded, level, singleton or broadcast
 * @param assignor name of what decides who shall own which shard; null in modes other than sharded
 * @param status OK, or one word for what is wrong with the assignment
 * @param paused whether the group is paused as a whole
 * @param topicsLeftOut topics that members subscribe to and that the group does not read: it has
 *     too many, or they were deleted. Missing if there are none
 * @param failures null while a log group has no leader
 */
public record GroupView(
    String group,
    @Nullable String mode,
    @Nullable String assignor,
    String status,
    boolean paused,
    @LeftOut long topicsLeftOut,
    List<Member> members,
    List<Shard> shards,
    Singleton singleton,
    Level level,
    Dedup dedup,
    Rates rates,
    @Nullable Failures failures) {

  /** Messages of all shards that it has not finished; null if that of a shard is unknown. */
  public @Nullable Long lag() {
    return shards.stream().map(Shard::lag).anyMatch(Objects::isNull)
        ? null
        : (Long) shards.stream().mapToLong(Shard::lag).sum();
  }

  /**
   * A live member of a group.
   *
   * @param node the session or cluster member that it belongs to
   * @param consumed messages finished
   * @param shards shards that it owns, as topic/shard
   * @param stuck shards, as topic/shard, on which it finishes nothing, or which it owns and has not
   *     taken up
   * @param stuckMs for how long, the longest of them; 0 if it is not stuck
   * @param lag mode broadcast: messages that it has not consumed, by its last fetches; null in
   *     other modes
   * @param passedOver mode broadcast: messages that failed so often that it went on without them;
   *     null in other modes
   * @param breaker open while most messages fail at the member, and it tries one at a time
   * @param lastHeartbeatMs since the last heartbeat
   * @param version the version of the member's client; left out if that is unknown
   * @param filter the first conditions of its filter, at most 20; left out without one
   * @param filtered messages that its filter has passed over; left out without one
   */
  public record Member(
      String member,
      @Nullable String node,
      @Nullable String host,
      @Nullable Long consumed,
      List<String> shards,
      @Nullable List<String> stuck,
      @Nullable Long stuckMs,
      @Nullable Long lag,
      @Nullable Long passedOver,
      @Nullable Breaker breaker,
      @Nullable Long lastHeartbeatMs,
      @LeftOut @Nullable String version,
      @LeftOut @Nullable List<String> filter,
      @LeftOut @Nullable Long filtered) {

    /** The state of a circuit breaker. */
    public enum Breaker implements Worded {
      OPEN,
      CLOSED;

      @Override
      public String word() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }

  /**
   * A shard that a group reads.
   *
   * @param owner null if nobody owns it
   * @param nextOwner who gets it next; null: nobody, or unknown
   * @param drainDeadline milliseconds since 1970
   * @param epoch of the lease: it grows with each owner
   * @param paused whether the group gets nothing from the shard because it, the topic or the group
   *     is paused
   * @param position offset below which the owner has finished everything, as of its last heartbeat
   *     or its last commit, whichever is later; null if the owner has not reported it
   * @param committed offset where the next owner begins, by the last commit
   * @param end next offset to be assigned
   * @param lag messages not finished: end minus position, or minus committed if the position is
   *     unknown
   * @param sealed true if the shard takes no more messages, because the topic has got another
   *     number of shards; otherwise left out
   * @param finished of a sealed shard: whether the group has nothing more to do with it
   * @param crashes owners died without progress, so messages are handled one by one; left out for
   *     other shards
   * @param skipped what a limit of the topic dropped before the group consumed it; left out if
   *     there was nothing, 7 days later and after a reset
   * @param waitsFor numbers of the sealed shards that the group consumes before this one; left out
   *     if there is none
   */
  public record Shard(
      String topic,
      int shard,
      @Nullable String owner,
      @Nullable String nextOwner,
      @Nullable Long drainDeadline,
      @Nullable Long epoch,
      State state,
      boolean paused,
      @Nullable Long position,
      @Nullable Long committed,
      @Nullable Long end,
      @Nullable Long lag,
      @LeftOut boolean sealed,
      @LeftOut @Nullable Boolean finished,
      @LeftOut @Nullable Crashed crashes,
      @LeftOut @Nullable Skips skipped,
      @LeftOut List<Integer> waitsFor) {

    /** Whether a shard has an owner. */
    public enum State {
      OWNED,
      DRAINING,
      FREE
    }

    /**
     * Owners that died without progress.
     *
     * @param offset the message that may be the reason
     * @param count how many owners died
     */
    public record Crashed(long offset, int count) {}

    /**
     * Messages that were dropped before the group consumed them.
     *
     * @param first offset of the first such message
     * @param last offset of the last one
     * @param total how many there were
     */
    public record Skips(long first, long last, long total) {}

    /** Its name, such as {@code orders/2}. */
    public String name() {
      return topic + "/" + shard;
    }
  }

  /**
   * Null figures in other modes than singleton.
   *
   * @param leader member that holds the group's lease
   * @param term term of that lease, which grows with each leader
   */
  public record Singleton(@Nullable String leader, @Nullable Long term) {}

  /**
   * Null figures in other modes than level.
   *
   * @param range largest allowed difference in finished messages; null in other modes than level
   * @param strategy pull or push, or steps of a coordinator, whose members are tracks; null in
   *     other modes than level
   * @param gap largest difference of two live members in finished messages since the later of them
   *     joined or came back; at most the range
   * @param round how often the member that has finished least has got ahead by the range
   * @param holder the member that the others wait for; null if nobody waits, too
   * @param heldMs for how long they have waited for it, in milliseconds; null without a holder
   * @param setAside how often a member was set aside because it held the round for longer than its
   *     stall timeout
   * @param bars one for each live member, by name
   */
  public record Level(
      @Nullable Integer range,
      @Nullable String strategy,
      @Nullable Long gap,
      @Nullable Long round,
      @Nullable String holder,
      @Nullable Long heldMs,
      @Nullable Long setAside,
      @Nullable List<Bar> bars) {

    /**
     * How far a member is.
     *
     * @param finished what it has finished since it joined or came back, on top of the least of
     *     that moment
     * @param inHand messages dealt to it that have not ended
     */
    public record Bar(String member, long finished, int inHand) {}
  }

  /**
   * What deduplication does.
   *
   * @param mode off, key or payload
   * @param accepted handlers that could begin at once, since the members began
   * @param blocked messages that waited for their turn
   * @param declined messages finished without their handler
   * @param evicted claims found overdue and taken away
   * @param lost runs whose place was gone at their end: another may have run at the same time
   * @param unguarded runs that went ahead because the cluster did not answer
   * @param processing handlers at work now
   * @param waiting messages that wait for their turn now
   * @param savedShare part of the messages that was declined, 0 to 1
   * @param repetition how much the messages repeat themselves, also with dedup off
   * @param hot keys declined most often by the live members, hottest first
   */
  public record Dedup(
      @Nullable String mode,
      @Nullable Long accepted,
      @Nullable Long blocked,
      @Nullable Long declined,
      @Nullable Long evicted,
      @Nullable Long lost,
      @Nullable Long unguarded,
      @Nullable Long processing,
      @Nullable Long waiting,
      @Nullable Double savedShare,
      Repetition repetition,
      List<HotKey> hot) {

    /**
     * How much messages repeat themselves.
     *
     * @param level none, sparse or high
     * @param smallestDistance of two of the same; null if there were none
     * @param declinedShare part of the messages that dedup would decline, 0 to 1
     */
    public record Repetition(
        @Nullable String level,
        @Nullable Integer smallestDistance,
        @Nullable Double declinedShare,
        @Nullable Long observedMessages) {}

    /**
     * A key that is declined often.
     *
     * @param key the beginning of the key, or a digest of the payload
     * @param declined about how often
     */
    public record HotKey(String key, long declined) {}
  }

  /**
   * What the members' rates do; null where no member has any.
   *
   * @param delayed messages that waited because of the rate limit of their key, since the members
   *     began
   * @param dropped messages over the rate of their key that were finished without their handler
   * @param waiting messages that wait for their turn now
   * @param shardsWaiting shards of which no more may wait, so that they wait themselves
   */
  public record Rates(
      @Nullable Long delayed,
      @Nullable Long dropped,
      @Nullable Long waiting,
      @Nullable Long shardsWaiting) {}

  /**
   * Messages that failed.
   *
   * @param retriesWaiting messages waiting for a retry
   * @param parked messages parked behind a failed message with the same key
   * @param shardsWaiting shards blocked by a retry, or because no more messages can be parked
   * @param deadLetters messages whose attempts have all failed
   */
  public record Failures(
      @Default("0") long retriesWaiting,
      @Default("0") long parked,
      @Default("0") long shardsWaiting,
      @Default("0") long deadLetters) {}

  /** The example in the OpenAPI document. */
  static GroupView example() {
    return new GroupView(
        "billing",
        "sharded",
        "sticky",
        "OK",
        false,
        0,
        List.of(
            new Member(
                "a",
                "s-bd5ad81a854147bb98bf0defff45f5b9",
                "10.0.0.7",
                3L,
                List.of("orders/1"),
                List.of(),
                0L,
                null,
                null,
                Member.Breaker.CLOSED,
                997L,
                "0.1.0",
                null,
                null)),
        List.of(
            new Shard(
                "orders",
                1,
                "a",
                null,
                null,
                1L,
                Shard.State.OWNED,
                false,
                3L,
                3L,
                3L,
                0L,
                false,
                null,
                null,
                null,
                List.of())),
        new Singleton(null, null),
        new Level(null, null, null, null, null, null, null, null),
        new Dedup(
            "key",
            5L,
            0L,
            0L,
            0L,
            0L,
            0L,
            0L,
            0L,
            0.0,
            new Dedup.Repetition(null, null, null, null),
            List.of()),
        new Rates(null, null, null, null),
        new Failures(0, 0, 0, 1));
  }
}
