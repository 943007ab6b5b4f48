package dev.evenkeel.client.internal.consume;

import static dev.evenkeel.client.internal.consume.OwnedShardState.ASSIGNING;
import static dev.evenkeel.client.internal.consume.OwnedShardState.ATTACHING;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.util.Backoff;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Takes an owned shard over: what it does in the states ATTACHING and ASSIGNING. It waits for an
 * earlier owner in this consumer, reads the lease to learn where to begin and with which state,
 * fences what former owners publish, and calls onAssign. Times are monotonic milliseconds.
 */
final class ShardTakeover {
  /** An earlier owner of the same shard in this consumer. */
  interface Former extends Owned {
    /** Whether writes to the log are under way, so that the lease may change. */
    boolean writes();

    /** Whether no handler, callback or request of the shard is under way. */
    boolean quiet();

    /** See {@link Port#inDoubt}. */
    boolean inDoubt();
  }

  /**
   * What is known of the shard when it is granted.
   *
   * @param predecessor an earlier owner of the same shard in this consumer, some of whose handlers
   *     may still run; or null
   * @param spent nothing may begin under this epoch any more: the shard is only released
   * @param committed the committed offset that the grant found, or -1 if the lease must be read for
   *     it
   * @param origin where its keys come from, or null
   * @param crashes owners that died before, or null
   * @param skipped what was dropped before the group had consumed it, or null
   */
  record Start(
      Former predecessor,
      boolean spent,
      long committed,
      Assignment.Origin origin,
      Crashes crashes,
      Skipped skipped) {}

  /** The shard around it. */
  interface Port extends ShardPort {
    /** Whether the shard must be given away. */
    boolean isDraining();

    /**
     * Whether the log may take something of this epoch at any time, although no answer is awaited
     * any more.
     */
    boolean inDoubt();

    /** Whether callbacks and handlers may start: nobody else owns what this member owns. */
    boolean mayStart(long now);

    /** What callbacks of the handler get. */
    ShardContext context();

    /**
     * It is known where to begin.
     *
     * @param emptyStateOffset where the empty state stands that this owner begins with, or -1
     */
    void attached(long offset, long emptyStateOffset, long now);
  }

  private final Port shard;
  private final ShardLog log;
  private final ShardOutputs outputs;
  private final Environment environment;

  /** See {@link Start}. Null once nothing of the earlier owner is waited for. */
  private Former predecessor;

  /** See {@link Start}. */
  private final long grantedCommitted;

  private final Crashes crashes;

  /** Where the keys come from, or null. */
  private final Assignment.Origin origin;

  /** What was dropped before the group had consumed it, or null. */
  private final Skipped skipped;

  /** A request or callback is under way. */
  private boolean busy;

  /** The next request or callback is not sent before this time. */
  private long retryMillis;

  /** The lease's committed offset when it was read, or where this owner began. */
  private long leaseCommitted;

  /** The generation of the lease; -1 if the lease was not read. */
  private long generation = -1;

  private long beginOffset;

  /** Under which the handlers publish, according to the lease; 0: none yet. */
  private long producerId;

  /** Where the empty state stands that this owner begins with, if it begins with that; else -1. */
  private long emptyStateOffset = -1;

  /** The former owner's state, until onAssign has ended well; null: there is none. */
  private byte[] givenState;

  /** The leases on the shards from which the keys come, as far as they are read. */
  private List<Lease> parents = new ArrayList<>();

  /** How many answers to reads of those leases are awaited. */
  private int parentsAwaited;

  /** Why one of them could not be read, or null. */
  private RefusedException parentRefused;

  /** States of the shards from which the keys come, until onAssign has ended well. */
  private List<ConsumerAction.Parent> parentStates = List.of();

  private int assignFailures;
  private boolean assignCalled;
  private boolean assigned;

  /**
   * @param crashes owners that died before, as far as they count; or null
   */
  ShardTakeover(
      Port shard,
      ShardLog log,
      Environment environment,
      ShardOutputs outputs,
      Crashes crashes,
      Start start) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.outputs = outputs;
    this.crashes = crashes;
    predecessor = start.predecessor();
    grantedCommitted = start.committed();
    origin = start.origin();
    skipped = start.skipped();
  }

  boolean isBusy() {
    return busy;
  }

  /** Whether the shard waits for a call of onAssign, or for handlers of the owner before it. */
  boolean awaitsHandler() {
    boolean assigning = shard.state() == ASSIGNING && assignCalled;
    return assigning || predecessor != null && !predecessor.quiet();
  }

  /** Where the keys come from, or null. */
  Assignment.Origin origin() {
    return origin;
  }

  /** The generation of the lease; -1 if the lease was not read. */
  long generation() {
    return generation;
  }

  /** The lease's committed offset when it was read, or where this owner began. */
  long leaseCommitted() {
    return leaseCommitted;
  }

  /** Whether onAssign was called, however that ended. */
  boolean assignCalled() {
    return assignCalled;
  }

  /** Whether onAssign has ended well. */
  boolean assigned() {
    return assigned;
  }

  void linkUp(long now) {
    if (shard.state() == ATTACHING) {
      retryMillis = now;
    }
  }

  // ---- ATTACHING

  /** Does what ATTACHING requires now. */
  void attach(long now) {
    if (predecessor != null) {
      // If the log took a commit or a failure of the same epoch after this owner read the lease,
      // this owner would not know what has become of the messages from which it begins.
      boolean same = predecessor.epoch() == shard.epoch();
      if (same && predecessor.writes() || !predecessor.quiet()) {
        return;
      }
      if (same && predecessor.inDoubt()) {
        shard.markSpent();
      }
      predecessor = null;
    }
    boolean needsLease =
        environment.handler.keepsState()
            || environment.handler.publishes()
            || environment.options.isHoldFailed();
    if (!needsLease && grantedCommitted >= 0) {
      // Only the lease has the state, and the generation, which a level dispatcher needs. Without
      // them the assignment says where to begin. If that grant is over, the log refuses the first
      // request with its epoch.
      beginOffset = grantedCommitted;
      attached(now);
    } else if (!busy && environment.linkUp() && now >= retryMillis) {
      busy = true;
      environment.act(new ConsumerAction.ReadLease(shard));
    }
  }

  /** The lease was read. */
  void leaseRead(Lease lease, long now) {
    busy = false;
    if (shard.state() != ATTACHING) {
      return;
    }
    if (lease.epoch() < shard.epoch()) {
      // The node that answered has not applied the grant yet.
      retryMillis = now + Backoff.soon(environment.random);
      return;
    }
    if (!lease.ownedAt(shard.epoch()) || !environment.instance.equals(lease.instance())) {
      shard.lose("the log says: " + lease.withoutState(), now);
      return;
    }
    HandlerKind handler = environment.handler;
    boolean given = handler.keepsState() && lease.state() != null && lease.stateOffset() >= 0;
    boolean empty = given && lease.state().length == 0;
    givenState = given && !empty ? lease.state() : null;
    // The empty state stands where the first owner that keeps state begins: after a crash the next
    // owner needs all messages from there. Once the log has it, the log keeps it.
    boolean keepsEmpty =
        handler.keepsState() && (handler.givesState() || environment.effectivelyOnce);
    emptyStateOffset =
        empty ? lease.stateOffset() : keepsEmpty && lease.state() == null ? lease.committed() : -1;
    leaseCommitted = lease.committed();
    generation = lease.generation().number();
    beginOffset = given ? lease.stateOffset() : lease.committed();
    producerId = lease.generation().producerId();
    // Until a first owner has given a state, only its former shards have one, wherever it begins:
    // retention may have dropped its first messages. The empty state at 0 is that of the beginning.
    boolean begins = lease.state() == null || empty && lease.stateOffset() == 0;
    boolean hasParents = origin != null && !origin.parents().isEmpty();
    if (handler.keepsState() && hasParents && begins) {
      // It begins where the shards end from which its keys come, with what is known of these keys.
      busy = true;
      parentsAwaited = origin.parents().size();
      parentRefused = null;
      environment.act(new ConsumerAction.ReadParents(shard, origin.parents()));
    } else {
      open(now);
    }
  }

  /** The lease could not be read. */
  void leaseFailed(RefusedException refused, long now) {
    busy = false;
    if (shard.state() == ATTACHING && !shard.fenced(refused, now)) {
      retryMillis = now + log.pause("its lease cannot be read", refused);
    }
  }

  /** The lease was read on one of the shards from which its keys come. */
  void parentRead(Lease lease, long now) {
    parents.add(lease);
    parentAnswered(now);
  }

  /** It could not be read. */
  void parentFailed(RefusedException refused, long now) {
    // A layout is forgotten when no later owner begins with the states that are left there, which
    // may be after this owner got the shard.
    boolean forgotten =
        refused.refusal() == Refusal.UNKNOWN_SHARD || refused.refusal() == Refusal.UNKNOWN_GROUP;
    parentRefused = forgotten ? parentRefused : refused;
    parentAnswered(now);
  }

  private void parentAnswered(long now) {
    if (--parentsAwaited > 0) {
      return;
    }
    busy = false;
    List<Lease> leases = parents;
    parents = new ArrayList<>();
    if (shard.state() != ATTACHING) {
      return;
    }
    if (parentRefused != null) {
      retryMillis = now + log.pause("the state of its former shards cannot be read", parentRefused);
    } else if (!leases.stream().allMatch(Lease::passed)) {
      // A node that answered has not applied the release yet.
      retryMillis = now + Backoff.soon(environment.random);
    } else {
      parentStates =
          leases.stream()
              .filter(lease -> lease.state() != null && lease.state().length > 0)
              .map(this::parentState)
              .sorted(Comparator.comparingInt(ConsumerAction.Parent::shard))
              .toList();
      if (!parentStates.isEmpty() && emptyStateOffset > 0) {
        // Wherever the shard begins: until it has a state, later owners need those of its parents.
        emptyStateOffset = 0;
      }
      open(now);
    }
  }

  private ConsumerAction.Parent parentState(Lease lease) {
    int parent = lease.shard().shard();
    return new ConsumerAction.Parent(parent, lease.state(), origin.heirOf().contains(parent));
  }

  private void open(long now) {
    if (environment.handler.publishes() && !shard.isDraining() && !shard.inDoubt()) {
      // No message is handled before everything that a former owner may still send is fenced.
      busy = true;
      environment.act(new ConsumerAction.OpenPublisher(shard, producerId));
    } else {
      attached(now);
    }
  }

  /** The lease's epoch may publish. */
  void publisherOpened(ConsumerAction.Opened opened, long now) {
    busy = false;
    if (shard.state() == ATTACHING) {
      outputs.open(opened, beginOffset);
      attached(now);
    }
  }

  /** The epoch could not be opened for publishing. */
  void publisherFailed(RefusedException refused, long now) {
    busy = false;
    if (shard.state() != ATTACHING) {
      return;
    }
    if (refused.refusal() == Refusal.PRODUCER_FENCED) {
      shard.lose(refused.getMessage(), now);
    } else if (!shard.fenced(refused, now)) {
      retryMillis = now + log.pause("its handlers cannot publish yet", refused);
    }
  }

  private void attached(long now) {
    leaseCommitted = Math.max(leaseCommitted, beginOffset);
    // An owner that begins before the gap says it when it gets there.
    if (skipped != null && beginOffset == skipped.last() + 1) {
      log.error(
          ": retention dropped messages before the group had consumed them: " + skipped.text(),
          null);
    }
    shard.attached(beginOffset, emptyStateOffset, now);
  }

  // ---- ASSIGNING

  /** Calls onAssign if it may start now. */
  void assign(long now) {
    // An assignment may come late, to a process that was suspended: the shard may have another
    // owner.
    if (!busy && shard.mayStart(now) && now >= retryMillis) {
      busy = true;
      assignCalled = true;
      environment.act(
          new ConsumerAction.CallAssign(shard, shard.context(), givenState, parentStates, crashes));
    }
  }

  /**
   * onAssign has ended.
   *
   * @param failure why it failed, or null
   */
  void assignDone(Throwable failure, long now) {
    busy = false;
    if (shard.state() != ASSIGNING) {
      return;
    }
    if (failure == null) {
      givenState = null;
      parentStates = List.of();
      assigned = true;
    } else {
      long wait = Backoff.steps(++assignFailures);
      retryMillis = now + wait;
      if (Fault.of(failure) == Fault.MEMBER) {
        environment.faulty("the consumer ends", failure);
      } else {
        log.error(": onAssign failed, it is called again in " + wait / 1000 + " s", failure);
      }
    }
    shard.step(now);
  }
}
