package dev.evenkeel.protocol;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a group on a shard, as the log holds it.
 *
 * @param group the group
 * @param shard the shard
 * @param epoch grows by one with every grant. That of a new lease is above every epoch that a lease
 *     of its log group ever had: an epoch never comes again, whatever was forgotten or deleted
 * @param owner name of the owning member; null while nobody owns the shard
 * @param instance which run of that member: a second run under the same name is another instance;
 *     null while nobody owns the shard
 * @param committed next offset to be consumed: everything below is done
 * @param stateOffset the offset that {@code state} stands for, or -1 if there is no state
 * @param state the shard's state; never modified
 * @param drain the handover under way
 * @param groupTerm highest term of the group's lease that a grant named; 0: none did. It never goes
 *     back
 * @param generation since the last reset
 * @param ownerTimeoutMillis silence after which the owner counts as dead; the last owner's while
 *     nobody owns the shard. Whoever does not know the owner waits for so long
 * @param stage how far the group is with a shard that is sealed
 * @param crashes owners that died without progress of the group; null: none
 * @param skipped what limits of the topic have dropped before the group had consumed it; null:
 *     nothing, or it is forgotten
 */
public record Lease(
    String group,
    Shard shard,
    long epoch,
    @Nullable String owner,
    @Nullable String instance,
    long committed,
    long stateOffset,
    byte @Nullable [] state,
    @Nullable Drain drain,
    long groupTerm,
    Generation generation,
    long ownerTimeoutMillis,
    Stage stage,
    @Nullable Crashes crashes,
    @Nullable Skipped skipped) {

  /** How far a group is with a shard that takes no more messages. */
  public enum Stage {
    /** It has messages to consume, or messages may still come. */
    CONSUMING,
    /** It has consumed all messages. Dead letters that were put back wait to be tried again. */
    PASSED,
    /** Nothing is left to do, and nobody owns the shard. */
    FINISHED
  }

  /** Before its first grant: nobody owns the shard. */
  public static Lease fresh(
      String group, Shard shard, long epoch, long committed, Generation generation) {
    return new Lease(
        group,
        shard,
        epoch,
        null,
        null,
        committed,
        -1,
        null,
        null,
        0,
        generation,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
        Stage.CONSUMING,
        null,
        null);
  }

  public boolean owned() {
    return owner != null;
  }

  /** Whether the group may consume what has taken the place of the sealed shard. */
  public boolean passed() {
    return stage != Stage.CONSUMING;
  }

  /** Whether the shard is sealed, and the group has nothing more to do with it. */
  public boolean finished() {
    return stage == Stage.FINISHED;
  }

  /** Whether {@code epoch} may act on this lease now. */
  public boolean ownedAt(long epoch) {
    return owner != null && this.epoch == epoch;
  }

  /** Retention keeps messages from here. */
  public long floor() {
    return state == null ? committed : Math.min(committed, stateOffset);
  }

  public Lease granted(
      String newOwner, String newInstance, long newGroupTerm, long newOwnerTimeoutMillis) {
    Stage next = passed() ? Stage.PASSED : stage;
    return with(epoch + 1, newOwner, newInstance, committed, stateOffset, state, null, generation)
        .with(newGroupTerm, newOwnerTimeoutMillis, next, crashes, skipped);
  }

  public Lease draining(@Nullable Drain newDrain) {
    return with(epoch, owner, instance, committed, stateOffset, state, newDrain, generation);
  }

  /** The same at that stage. */
  public Lease at(Stage next) {
    return with(groupTerm, ownerTimeoutMillis, next, crashes, skipped);
  }

  public Lease committedAt(long offset) {
    return with(epoch, owner, instance, offset, stateOffset, state, drain, generation)
        .with(crashes == null || offset == committed ? crashes : crashes.progressed(offset));
  }

  /**
   * Its owner has died.
   *
   * @param end the next offset of the shard
   * @param retry the message that is due first for another attempt; -1: none waits for one
   */
  public Lease died(long end, long retry) {
    return with(Crashes.died(crashes, committed, end, retry));
  }

  /**
   * A level dispatcher says of which messages its members died.
   *
   * @param end the next offset of the shard
   */
  public Lease died(Outcome.Died by, long end) {
    return with(Crashes.said(crashes, by, committed, end));
  }

  /** With care: a message has begun; -1: it is over. */
  public Lease begun(long offset) {
    return crashes == null ? this : with(crashes.begun(offset));
  }

  private Lease with(@Nullable Crashes newCrashes) {
    return with(newCrashes, skipped);
  }

  /** A limit has dropped the messages from {@code from} up to {@code to}, which is kept. */
  public Lease skipping(long from, long to, long millis) {
    return with(crashes, Skipped.more(skipped, from, to, millis));
  }

  /** The same at that time of the log. */
  public Lease asOf(long millis) {
    return skipped != null && skipped.isOld(millis) ? with(crashes, null) : this;
  }

  private Lease with(@Nullable Crashes newCrashes, @Nullable Skipped newSkipped) {
    return with(groupTerm, ownerTimeoutMillis, stage, newCrashes, newSkipped);
  }

  /** The state's bytes are kept apart. */
  public Lease withStateAt(long newStateOffset) {
    return withState(newStateOffset, new byte[0]);
  }

  /** Without an owner and without state, beginning again at {@code offset}. */
  public Lease reset(long offset) {
    return with(epoch + 1, null, null, offset, -1, null, null, generation.next())
        .at(Stage.CONSUMING)
        .with(null, null);
  }

  /** With this producer for what handlers publish. */
  public Lease publishingAs(long producerId) {
    return with(
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        drain,
        new Generation(generation.number(), producerId));
  }

  /** After a release. The drain stays, so that a new dispatcher knows who is next. */
  public Lease released(long offset, long newStateOffset, byte @Nullable [] newState) {
    return committedAt(offset)
        .begun(-1)
        .with(epoch, null, null, offset, newStateOffset, newState, drain, generation);
  }

  /** After a release, if its drain names an heir: that run owns the shard. */
  public Lease inherited() {
    Drain next = Objects.requireNonNull(drain);
    Drain.Heir heir = Objects.requireNonNull(next.heir());
    return granted(next.to(), heir.instance(), groupTerm, heir.timeoutMillis());
  }

  /** The same with these bytes of its state. */
  public Lease withState(byte @Nullable [] newState) {
    return withState(stateOffset, newState);
  }

  /** As if no owner had given one. */
  public Lease withNoState() {
    return withState(-1, null);
  }

  private Lease withState(long newStateOffset, byte @Nullable [] newState) {
    return with(epoch, owner, instance, committed, newStateOffset, newState, drain, generation);
  }

  /**
   * With the usual timeout, without an heir, crashes and what was skipped, for the owner: it learns
   * them with its assignment if at all, and clients of versions without them can read this.
   */
  public Lease forOwner() {
    return draining(drain == null ? null : drain.withoutHeir())
        .with(groupTerm, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT, Stage.CONSUMING, null, null);
  }

  /** The same without the state's bytes, for those who only look. */
  public Lease withoutState() {
    return state == null ? this : withState(new byte[0]);
  }

  private Lease with(
      long newEpoch,
      @Nullable String newOwner,
      @Nullable String newInstance,
      long newCommitted,
      long newStateOffset,
      byte @Nullable [] newState,
      @Nullable Drain newDrain,
      Generation newGeneration) {
    return new Lease(
        group,
        shard,
        newEpoch,
        newOwner,
        newInstance,
        newCommitted,
        newStateOffset,
        newState,
        newDrain,
        groupTerm,
        newGeneration,
        ownerTimeoutMillis,
        stage,
        crashes,
        skipped);
  }

  private Lease with(
      long newGroupTerm,
      long newOwnerTimeoutMillis,
      Stage newStage,
      @Nullable Crashes newCrashes,
      @Nullable Skipped newSkipped) {
    return new Lease(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        drain,
        newGroupTerm,
        generation,
        newOwnerTimeoutMillis,
        newStage,
        newCrashes,
        newSkipped);
  }

  @Override
  public String toString() {
    return "%s:%s@%s%s committed=%s%s%s"
            .formatted(
                group,
                shard,
                epoch,
                owner == null ? " free" : " " + owner,
                committed,
                groupTerm == 0 ? "" : " term=" + groupTerm,
                drain == null ? "" : " " + drain)
        + (passed() ? " " + stage : "")
        + (crashes == null ? "" : " " + crashes)
        + (skipped == null ? "" : " " + skipped);
  }
}
