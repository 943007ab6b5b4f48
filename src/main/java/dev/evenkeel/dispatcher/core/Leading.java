package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Election;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Who leads a group in mode singleton. All shards are planned to the elected member; it gets the
 * group's lease once nobody else holds any of them, and the shards once it has that lease. So the
 * former leader has handed over, or was waited for long enough, before the term grows.
 *
 * <pre>
 * lease       elected   shards of others         what is done
 * of A        A         none                     grant the shards to A, naming the lease's term
 * of A        B         held by A                drain them to B, for the lock time at most
 * of A        B         none, or waited enough   grant the lease to B: the term grows
 * of A        A         none; all given back     grant the lease to A again: the term grows
 * of nobody   B         none                     grant the lease to B
 * </pre>
 *
 * A reset of all shards that the leader has is a hand-over to itself: it gives all back, and leads
 * again at the next term. Until then no shard is granted.
 *
 * <p>An election has no shards. There the heartbeats of the leader say which term it has handed
 * over:
 *
 * <pre>
 * lease       elected   A                              what is done
 * of A        A         leads                          nothing
 * of A        A         has handed over                grant the lease to A again: the term grows
 * of A        B         lives                          A must hand over, within the lock time
 * of A        B         has handed over, waited enough,
 *                       or is gone                     grant the lease to B: the term grows
 * </pre>
 */
final class Leading {
  private final GroupState group;

  /** Who is to lead, by the last plan; or null. */
  private Election.Candidate elected;

  private static final long NEVER = Long.MAX_VALUE;

  /** An election: until when the next leader waits for the handover of the present one. */
  private long handoverEndMillis = NEVER;

  /** The term whose handover that is. */
  private long handoverTerm;

  /** See {@link #higherTermAsked}. */
  private long givenUpTerm = -1;

  Leading(GroupState group) {
    this.group = group;
  }

  /** Whether the group is in mode singleton. */
  boolean applies() {
    return group.info() != null && group.info().policy().isSingleton();
  }

  /** Name of the lease's holder if it is there, or null. */
  String leader() {
    String holder = group.lease().holder();
    Member member = holder == null ? null : group.members().live(holder);
    boolean there =
        member != null && holds(member.instance())
            || group.lease().held() && group.members().isUnheard(holder, group.lease().instance());
    return there ? holder : null;
  }

  /** Who is to lead, by the last plan; or null. */
  Election.Candidate elected() {
    return elected;
  }

  /** Elects the leader among the members that are there now. */
  void elect() {
    List<Election.Candidate> candidates = new ArrayList<>();
    for (Member member : group.members().live()) {
      if (!group.departing().include(member)) {
        candidates.add(
            new Election.Candidate(
                member.name(),
                member.instance(),
                member.beat().bornMillis(),
                member.beat().resignedTerm(),
                group.stuck().passedOver(member.instance())));
      }
    }
    // A leader that was not heard yet is waited for: a change of the dispatcher moves nothing.
    for (UnheardMember run : group.members().unheard()) {
      if (run.instance().equals(group.lease().instance())) {
        candidates.add(
            new Election.Candidate(run.name(), run.instance(), Long.MAX_VALUE, 0, false));
      }
    }
    elected = Election.elect(group.lease(), candidates);
  }

  /** Plans all shards to the elected member, and takes them at once from a leader that is stuck. */
  Targets targets(Topics topics) {
    Map<Shard, String> owners = new HashMap<>();
    Map<Shard, Long> taken = new HashMap<>();
    if (elected == null) {
      return new Targets(owners, taken);
    }
    Member member = group.members().live(elected.name());
    Set<Integer> read = topics.ids(member == null ? group.topicNames() : member.topics());
    group.ready(read, topics).forEach(shard -> owners.put(shard, elected.name()));
    for (Member other : group.members().live()) {
      if (!elected(other) && group.stuck().passedOver(other.instance())) {
        for (Shard shard : group.shards().ownedBy(other.instance())) {
          taken.put(shard, group.shards().get(shard).epoch());
        }
      }
    }
    return new Targets(owners, taken);
  }

  /** Whether that run is the elected one. */
  boolean elected(Member member) {
    return elected != null && elected.instance().equals(member.instance());
  }

  /** Who is to lead and has been heard, or null. */
  Member electedMember() {
    Member member = elected == null ? null : group.members().live(elected.name());
    return member != null && elected(member) ? member : null;
  }

  /**
   * Whether nobody else owns a shard: each is that member's, or waits only for its lease. A shard
   * that nobody is to get was waited for long enough once the time of its hand-over is over.
   */
  boolean nobodyElseOwns(Member member, Topics topics, long nowMillis) {
    for (Shard shard : group.plan().targets().owners().keySet()) {
      ShardState state = group.shards().state(shard);
      boolean has = state.lease() != null && member.instance().equals(state.lease().instance());
      if (topics.has(shard) && !has && !state.waitsForLead) {
        return false;
      }
    }
    return group.shards().states().stream()
        .filter(state -> topics.has(state.shard) && !state.waitsForLead)
        .filter(state -> group.plan().owner(state.lease()).lives())
        .filter(state -> !isLeftToItsOwner(state, nowMillis))
        .allMatch(state -> state.lease().instance().equals(member.instance()));
  }

  private boolean isLeftToItsOwner(ShardState state, long nowMillis) {
    Drain drain = state.lease().drain();
    return state.reset == null
        && group.target(state.shard) == null
        && drain != null
        && drain.deadlineMillis() <= nowMillis;
  }

  /**
   * An election: the elected member if it is to get the group's lease at a higher term now, else
   * null. The time of a handover counts from the first time that this dispatcher asks for it.
   */
  Member successor(long nowMillis) {
    Member next = electedMember();
    Member leader = group.lease().held() ? group.members().live(group.lease().holder()) : null;
    boolean leads =
        leader != null && holds(leader.instance()) && leader.beat().handedOverTerm() != term();
    if (next == null || !leads || elected(leader)) {
      handoverEndMillis = NEVER;
      return next == null || leads ? null : next;
    }
    if (handoverEndMillis == NEVER || handoverTerm != term()) {
      handoverTerm = term();
      handoverEndMillis = nowMillis + leader.beat().lockTimeMillis();
    }
    return nowMillis >= handoverEndMillis ? next : null;
  }

  private long term() {
    return group.lease().term();
  }

  /** Until when {@link #successor} waits for a handover; {@link Long#MAX_VALUE}: it does not. */
  long handoverEndMillis() {
    return handoverEndMillis;
  }

  /**
   * An election: a higher term is asked for. The log may have given it, even if the answer is lost
   * or late. So whoever had the term before leads no more, also if it comes back meanwhile.
   */
  void higherTermAsked() {
    if (group.isElection()) {
      givenUpTerm = term();
      group.leadChanged();
    }
  }

  /** Whether the lease is that run's. */
  private boolean holds(String instance) {
    return group.lease().held()
        && group.lease().instance().equals(instance)
        && givenUpTerm != term();
  }

  /**
   * Whether shards may be granted to that member now. One that gave all of them back has handed
   * over: it needs a new term, and so does everybody else.
   */
  boolean mayBeGranted(Member member, Topics topics) {
    return member != null
        && holds(member.instance())
        && !gaveAllBack()
        && !givesBackToReset(member, topics);
  }

  /**
   * Whether that member leads, and all its shards are being reset by force. If only some are reset,
   * they go and come within the term.
   */
  boolean givesBackToReset(Member member, Topics topics) {
    return givesBack(
        member,
        topics,
        lease -> {
          GroupReset reset = group.shards().state(lease.shard()).reset;
          return reset != null && reset.force;
        });
  }

  /** Whether that member leads, has shards, and all of them go. */
  private boolean givesBack(Member member, Topics topics, Predicate<Lease> goes) {
    if (!holds(member.instance())) {
      return false;
    }
    List<Lease> has =
        group.shards().ownedBy(member.instance()).stream()
            .filter(topics::has)
            .map(group.shards()::get)
            .filter(lease -> lease.groupTerm() == group.lease().term())
            .toList();
    return !has.isEmpty() && has.stream().allMatch(goes);
  }

  private boolean gaveAllBack() {
    List<Lease> granted =
        group.shards().leases().stream()
            .filter(lease -> lease.groupTerm() == group.lease().term() && !lease.finished())
            .toList();
    return !granted.isEmpty() && granted.stream().noneMatch(Lease::owned);
  }

  /**
   * Whether a lease is of an earlier term of the run that leads now, because another led in
   * between, or seemed to. The shard is granted again, so that all leases of the leader name its
   * term.
   */
  boolean outOfTerm(Lease lease) {
    return applies()
        && lease != null
        && lease.owned()
        && holds(lease.instance())
        && lease.groupTerm() < group.lease().term();
  }

  /** What the assignment of a member says of it; null: the member does not lead. */
  Assignment.Lead of(Member member, Topics topics) {
    if (!applies() || !holds(member.instance())) {
      return null;
    }
    if (group.isElection()) {
      boolean resigned = member.beat().resignedTerm() >= term();
      return new Assignment.Lead(term(), true, resigned || elected != null && !elected(member));
    }
    boolean whole = true;
    for (Shard shard : group.ready(topics.ids(member.topics()), topics)) {
      Lease lease = group.shards().get(shard);
      whole &=
          lease != null
              && lease.owned()
              && member.instance().equals(lease.instance())
              && lease.groupTerm() == group.lease().term()
              && !group.shards().state(shard).takenAway;
    }
    // Without wishes, too: the dispatcher that knew of a reset may have died.
    boolean ending =
        !elected(member)
            || gaveAllBack()
            || givesBackToReset(member, topics)
            || givesBack(member, topics, lease -> lease.drain() != null);
    return new Assignment.Lead(group.lease().term(), whole, ending);
  }
}
