package dev.evenkeel.protocol;

/**
 * The lease of a group on a shard, as the log holds it.
 *
 * @param group the group
 * @param shard the shard
 * @param epoch grows by one with every grant. That of a new lease is above every epoch that a lease
 *     of its log group ever had: an epoch never comes again, whatever was forgotten or deleted
 * @param owner name of the owning member, or null while nobody owns the shard
 * @param instance which run of that member: a second run under the same name is another instance;
 *     null while nobody owns the shard
 * @param committed next offset to be consumed: everything below is done
 * @param stateOffset the offset that {@code state} stands for, or -1 if there is no state
 * @param state the shard's state, or null; never modified
 * @param drain the hand-over under way, or null
 * @param groupTerm highest term of the group's lease that a grant named; 0: none did. It never goes
 *     back
 * @param generation since the last reset
 * @param ownerTimeoutMillis silence after which the owner counts as dead; the last owner's while
 *     nobody owns the shard. Whoever does not know the owner waits for so long
 */
public record Lease(
    String group,
    Shard shard,
    long epoch,
    String owner,
    String instance,
    long committed,
    long stateOffset,
    byte[] state,
    Drain drain,
    long groupTerm,
    Generation generation,
    long ownerTimeoutMillis) {

  /** Of an owner with the usual timeout. */
  public Lease(
      String group,
      Shard shard,
      long epoch,
      String owner,
      String instance,
      long committed,
      long stateOffset,
      byte[] state,
      Drain drain,
      long groupTerm,
      Generation generation) {
    this(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        drain,
        groupTerm,
        generation,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
  }

  /** That was never reset, and whose handlers never published. */
  public Lease(
      String group,
      Shard shard,
      long epoch,
      String owner,
      String instance,
      long committed,
      long stateOffset,
      byte[] state,
      Drain drain,
      long groupTerm) {
    this(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        drain,
        groupTerm,
        Generation.FIRST);
  }

  /** Of a group that has no lease of the whole. */
  public Lease(
      String group,
      Shard shard,
      long epoch,
      String owner,
      String instance,
      long committed,
      long stateOffset,
      byte[] state,
      Drain drain) {
    this(group, shard, epoch, owner, instance, committed, stateOffset, state, drain, 0);
  }

  public boolean owned() {
    return owner != null;
  }

  /** Whether {@code epoch} may act on this lease now. */
  public boolean heldAt(long epoch) {
    return owner != null && this.epoch == epoch;
  }

  /** Retention keeps messages from here. */
  public long floor() {
    return state == null ? committed : Math.min(committed, stateOffset);
  }

  /** To an owner with the usual timeout. */
  public Lease granted(String newOwner, String newInstance, long newGroupTerm) {
    return granted(newOwner, newInstance, newGroupTerm, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
  }

  public Lease granted(
      String newOwner, String newInstance, long newGroupTerm, long newOwnerTimeoutMillis) {
    return new Lease(
        group,
        shard,
        epoch + 1,
        newOwner,
        newInstance,
        committed,
        stateOffset,
        state,
        null,
        newGroupTerm,
        generation,
        newOwnerTimeoutMillis);
  }

  public Lease draining(Drain newDrain) {
    return new Lease(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        newDrain,
        groupTerm,
        generation,
        ownerTimeoutMillis);
  }

  public Lease committedAt(long offset) {
    return new Lease(
        group,
        shard,
        epoch,
        owner,
        instance,
        offset,
        stateOffset,
        state,
        drain,
        groupTerm,
        generation,
        ownerTimeoutMillis);
  }

  /** The state's bytes are kept apart. */
  public Lease withStateAt(long newStateOffset) {
    return withState(newStateOffset, new byte[0]);
  }

  /** Nobody owns it any more, and it begins anew at {@code offset}, without state. */
  public Lease reset(long offset) {
    return new Lease(
        group,
        shard,
        epoch + 1,
        null,
        null,
        offset,
        -1,
        null,
        null,
        groupTerm,
        generation.next(),
        ownerTimeoutMillis);
  }

  /** With this producer for what handlers publish. */
  public Lease publishingAs(long producerId) {
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
        groupTerm,
        new Generation(generation.number(), producerId),
        ownerTimeoutMillis);
  }

  /** The owner has let go; who is next stays known, so that a new dispatcher can go on. */
  public Lease released(long offset, long newStateOffset, byte[] newState) {
    return new Lease(
        group,
        shard,
        epoch,
        null,
        null,
        offset,
        newStateOffset,
        newState,
        drain,
        groupTerm,
        generation,
        ownerTimeoutMillis);
  }

  /** The same with these bytes of its state. */
  public Lease withState(byte[] newState) {
    return withState(stateOffset, newState);
  }

  private Lease withState(long newStateOffset, byte[] newState) {
    return new Lease(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        newStateOffset,
        newState,
        drain,
        groupTerm,
        generation,
        ownerTimeoutMillis);
  }

  /** As its owner reads it, who knows the timeout: clients of before it was told can read that. */
  public Lease forOwner() {
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
        groupTerm,
        generation);
  }

  /** The same without the state's bytes, for those who only look. */
  public Lease withoutState() {
    return state == null ? this : withState(new byte[0]);
  }

  @Override
  public String toString() {
    return group
        + ":"
        + shard
        + "@"
        + epoch
        + (owner == null ? " free" : " " + owner)
        + " committed="
        + committed
        + (groupTerm == 0 ? "" : " term=" + groupTerm)
        + (drain == null ? "" : " " + drain);
  }
}
