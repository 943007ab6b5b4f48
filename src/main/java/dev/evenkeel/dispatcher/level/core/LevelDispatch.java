package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.level.LevelCounts;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the level dispatcher of one group does next, in one term. Deliveries come in, each
 * with a ticket; every ticket comes out once, in a {@link LevelAction}.
 *
 * <p>For one thread; {@code now} is of a clock that never goes back, in milliseconds. The caller
 * reports what happened, then calls {@link #handOut}, then takes {@link #poll actions} until there
 * are none. Many events before one {@link #handOut} are better than one.
 *
 * <p>It begins by asking every live member for its counts. It hands out nothing before all have
 * answered or left, or the time for that is over: ten seconds for a member that has sent this
 * dispatcher a heartbeat, three for one that only the registry names. It goes on from those counts.
 * A member that comes later, does not answer in time or was set aside joins anew: its session
 * begins with nothing in hand and a count of 0.
 *
 * <p>The consumer that delivers bounds what waits or is in hand.
 */
public final class LevelDispatch {
  /**
   * How long it waits for the answers of members that it has heard in the beginning. Those that are
   * gone leave before.
   */
  static final long BEGIN_MILLIS_MAX = 10_000;

  /**
   * How long it waits for members that it has not heard. Those that live may first have to find
   * another node to connect to, and this dispatcher. Those that are gone count as alive for their
   * whole timeout, and the others must not stand still for that: a member that comes later joins
   * anew, and what it has in hand may be handled twice.
   */
  static final long UNHEARD_MILLIS_MAX = 3_000;

  private static final long BEGIN_RETRY_MILLIS = 200;
  private static final long START_RETRY_MILLIS = 500;
  private static final long HAND_OUT_RETRY_MILLIS = 200;

  /** Bits of the number of a joining within its term. */
  static final int JOININGS_BITS = 32;

  /**
   * What a report is answered with.
   *
   * @param permission null if it is refused
   * @param refusal null if it is not
   */
  public record Heard(@Nullable StartPermission permission, @Nullable Refusal refusal) {
    static final Heard FENCED = new Heard(null, Refusal.FENCED);
    static final Heard NOT_YET = new Heard(null, Refusal.UNAVAILABLE);
  }

  private final String group;
  private final String node;
  private final LevelPolicy policy;
  private final ArrayDeque<LevelAction> actions = new ArrayDeque<>();
  private final Map<Integer, String> topicNames = new HashMap<>();
  private final CommittedOffsets offsets = new CommittedOffsets();
  // The tests look at these.
  final Deliveries deliveries = new Deliveries(actions::add, offsets);
  final LevelMembers members;
  private final HandOutOrder order;
  private final JoinPauses joins;
  private final Stalls stalls;
  private boolean begun;

  /** Whether the counts of the members are known, and handing out has begun. */
  boolean restored;

  private boolean closed;
  private boolean paused;
  private long term;
  private long beganMillis;
  private long lastSession;
  private long setAside;

  /** How often members have joined or left. */
  private long changes;

  /**
   * @param node where reports are to be sent to
   */
  public LevelDispatch(String group, String node, LevelPolicy policy) {
    this.group = group;
    this.node = node;
    this.policy = policy;
    members = new LevelMembers(policy.range());
    order = new HandOutOrder(policy.strategy(), members, deliveries);
    joins = new JoinPauses(members);
    stalls = new Stalls(members, order);
  }

  /** The next thing to do; null: nothing now. */
  public @Nullable LevelAction poll() {
    return actions.poll();
  }

  /**
   * This node has the group's lease.
   *
   * @throws IllegalStateException if it was before: another term needs another instance
   */
  public void begin(long term, long now) {
    if (begun) {
      throw new IllegalStateException("already started, with term " + this.term);
    }
    begun = true;
    this.term = term;
    beganMillis = now;
    startDue(now);
    restoreIfAllAnswered(now);
  }

  /** Stops handing out and asking. What is in hand may still end. */
  public void close() {
    closed = true;
    deliveries.giveBackAll(List.of());
  }

  // Deliveries

  /**
   * A message to be handled.
   *
   * @param ticket comes back in {@link LevelAction.Finished}, {@link LevelAction.Failed} or {@link
   *     Action.GivenBack}
   */
  public void delivery(String topic, Entry message, Object ticket) {
    if (closed) {
      actions.add(new LevelAction.GivenBack(ticket));
      return;
    }
    Integer topicId = message.id().shard().topicId();
    if (!topic.equals(topicNames.get(topicId))) {
      topicNames.put(topicId, topic);
    }
    deliveries.add(message, ticket);
  }

  /**
   * The shard is this dispatcher's.
   *
   * @param crashes what the log knows of members that died before; null: nothing
   */
  public void assigned(Shard shard, @Nullable Crashes crashes) {
    // What came after it was withdrawn may be of before a reset.
    offsets.forget(shard);
    deliveries.deaths.assigned(shard, crashes);
  }

  /** The group has committed {@code offset} of the shard. */
  public void committed(Shard shard, long offset) {
    offsets.committed(shard, offset);
    deliveries.committed(shard, offset);
  }

  /**
   * While a shard is paused, nothing of it is handed out, and nothing is delivered: gives waiting
   * messages back. Members may handle what they have in hand.
   */
  public void paused(Shard shard, boolean on) {
    deliveries.paused(shard, on);
  }

  /**
   * The shard is to get another owner: gives waiting messages back; those in hand may still end.
   */
  public void draining(Shard shard) {
    deliveries.giveBackWaiting(shard);
  }

  /** The shard has another owner: no message of it is awaited any more. */
  public void withdrawn(Shard shard) {
    deliveries.giveBackWaiting(shard);
    for (MemberSlot slot : members.all()) {
      for (long each = slot.first(); each < slot.next(); each++) {
        Item item = slot.at(each);
        if (item != null && item.id.shard().equals(shard)) {
          deliveries.giveBack(item);
        }
      }
    }
    offsets.forget(shard);
    deliveries.paused(shard, false);
    deliveries.deaths.forget(shard);
  }

  /** All shards have other owners. */
  public void withdrawAll() {
    List<Item> inHand = new ArrayList<>();
    members.all().forEach(slot -> inHand.addAll(slot.takeAll()));
    deliveries.giveBackAll(inHand);
  }

  // Members

  /** Takes all live members of the group. Those that are not named have left. */
  public void members(List<LiveMember> live, long now) {
    Map<String, String> instances = new HashMap<>();
    live.forEach(each -> instances.put(each.name(), each.instance()));
    for (MemberSlot slot : List.copyOf(members.all())) {
      if (!slot.instance.equals(instances.get(slot.name))) {
        members.remove(slot);
        if (!slot.closing) {
          deliveries.died(slot.inHand(any -> true));
        }
        leave(slot);
      }
    }
    for (LiveMember each : live) {
      MemberSlot slot = members.named(each.name());
      if (slot == null) {
        slot = new MemberSlot(each.name(), each.instance());
        members.add(slot);
        slot.startMillis = now;
      }
      slot.stallMillis = each.stallTimeoutMillis();
      slot.closing = each.closing();
      slot.user = each.user();
      if (each.heard() && !slot.heard && slot.state == MemberSlot.State.STARTING) {
        // Now it is known where it is: the question under way may have gone astray.
        start(slot);
      }
      slot.heard = each.heard();
      leaveIfDone(slot);
    }
    // Of the members that are there. What the last one died of is judged by what it asked for.
    live.stream()
        .mapToInt(each -> each.crashesMax() == 0 ? Integer.MAX_VALUE : each.crashesMax())
        .max()
        .ifPresent(deliveries::deathsMax);
    startDue(now);
    restoreIfAllAnswered(now);
  }

  /**
   * A run of a member is about to leave as one that has died of one of these messages. What else it
   * has in hand has nothing to do with that.
   */
  public void died(String instance, List<MessageId> diedOf) {
    MemberSlot slot = members.run(instance);
    if (slot != null) {
      slot.closing = true;
      deliveries.died(slot.inHand(Set.copyOf(diedOf)::contains));
    }
  }

  /** A member that closes leaves as soon as it has nothing in hand. */
  private void leaveIfDone(MemberSlot slot) {
    if (slot.closing && slot.state == MemberSlot.State.LIVE && slot.items() == 0) {
      leave(slot);
    }
  }

  /** A member that can handle nothing for now must not hold up the others. */
  private void leaveIfAway(MemberSlot slot, long now) {
    if (slot.capacity == 0 && slot.state == MemberSlot.State.LIVE) {
      leave(slot);
      slot.startMillis = now + START_RETRY_MILLIS;
    }
  }

  private void leave(MemberSlot slot) {
    if (slot.state == MemberSlot.State.LIVE) {
      changes++;
      members.counts().leave(slot.name);
      order.left(members.inTurn().indexOf(slot));
      members.inTurn().remove(slot);
      for (MemberSlot each : members.inTurn()) {
        each.checkpointDue = true;
      }
    }
    slot.state = MemberSlot.State.AWAY;
    slot.answer = null;
    joins.remove(slot);
    if (closed) {
      deliveries.giveBackAll(slot.takeAll());
    } else {
      slot.takeAll().forEach(deliveries::handOutAgain);
    }
  }

  private void startDue(long now) {
    if (!begun || closed) {
      return;
    }
    for (MemberSlot slot : members.all()) {
      // What a closing member has in hand may still end, so it is not handed to others.
      boolean wanted = !slot.closing || !restored;
      if (wanted && slot.state == MemberSlot.State.AWAY && now >= slot.startMillis) {
        start(slot);
      }
    }
  }

  private void start(MemberSlot slot) {
    slot.state = MemberSlot.State.STARTING;
    slot.session = ++lastSession;
    long mayStart = Stalls.firstPermission(slot.stallMillis);
    actions.add(
        new LevelAction.SendStart(
            slot.instance, new SessionStart(group, term, slot.session, node, !restored, mayStart)));
  }

  /** A SessionStart was answered. */
  public void started(LevelAction.SendStart asked, SessionState answer, long now) {
    MemberSlot slot = slot(asked.instance(), MemberSlot.State.STARTING, asked.body().session());
    if (slot == null) {
      return;
    }
    slot.capacity = answer.capacity();
    slot.begin();
    slot.state = MemberSlot.State.ANSWERED;
    Stalls.permitted(slot, now);
    if (restored) {
      joins.add(slot);
    } else {
      slot.answer = answer;
      restoreIfAllAnswered(now);
    }
  }

  /** A SessionStart was refused, or nobody answered it. */
  public void startFailed(LevelAction.SendStart asked, Refusal refusal, long now) {
    MemberSlot slot = slot(asked.instance(), MemberSlot.State.STARTING, asked.body().session());
    if (slot != null) {
      slot.state = MemberSlot.State.AWAY;
      slot.startMillis = now + (restored ? START_RETRY_MILLIS : BEGIN_RETRY_MILLIS);
    }
  }

  /** The member if its run is in that state of that session. */
  private @Nullable MemberSlot slot(String instance, MemberSlot.State state, long session) {
    MemberSlot slot = members.run(instance);
    return slot != null && slot.state == state && slot.session == session ? slot : null;
  }

  private void admit(long now) {
    for (MemberSlot slot : joins.admit(now)) {
      join(slot, now);
    }
  }

  private void join(MemberSlot slot, long now) {
    if (slot.closing || members.counts().members().size() >= LevelCounts.MEMBERS_MAX) {
      slot.state = MemberSlot.State.AWAY;
      slot.startMillis = now + START_RETRY_MILLIS;
      return;
    }
    members.counts().join(slot.name, now);
    enter(slot, now);
    joins.joined(slot);
  }

  private void enter(MemberSlot slot, long now) {
    changes++;
    slot.state = MemberSlot.State.LIVE;
    slot.answer = null;
    members.inTurn().add(slot);
    Stalls.permitted(slot, now);
  }

  private void restoreIfAllAnswered(long now) {
    if (!begun || restored) {
      return;
    }
    List<MemberSlot> placed = new ArrayList<>();
    for (MemberSlot slot : members.all()) {
      if (slot.state == MemberSlot.State.ANSWERED) {
        placed.add(slot);
      } else if (now - beganMillis < (slot.heard ? BEGIN_MILLIS_MAX : UNHEARD_MILLIS_MAX)) {
        return;
      }
    }
    restored = true;
    restore(placed, now);
    actions.add(new LevelAction.Restored(term, namesOf(members.inTurn()), anew()));
    deliveries.sortAgain();
    for (MemberSlot slot : members.all()) {
      if (slot.state == MemberSlot.State.STARTING) {
        // If its answer still comes, it is of a session that is over.
        slot.state = MemberSlot.State.AWAY;
        slot.startMillis = now;
      }
    }
    startDue(now);
  }

  private static List<String> namesOf(List<MemberSlot> slots) {
    return slots.stream().map(slot -> slot.name).toList();
  }

  /** Those that do not go on from their counts. */
  private List<String> anew() {
    return members.all().stream()
        .filter(slot -> slot.state != MemberSlot.State.LIVE)
        .map(slot -> slot.name)
        .toList();
  }

  private void restore(List<MemberSlot> placed, long now) {
    Restoring restoring = new Restoring(policy.range(), placed);
    members.restored(restoring.counts(policy.range(), term << JOININGS_BITS, now));
    for (MemberSlot slot : placed) {
      SessionState answer = Objects.requireNonNull(slot.answer);
      answer.ended().forEach(deliveries::endedEarlier);
      if (restoring.fits(slot)) {
        for (MessageId id : answer.held()) {
          slot.holds(deliveries.held(id));
        }
        enter(slot, now);
        leaveIfDone(slot);
      } else if (answer.held().isEmpty() && answer.finished() == 0 && !slot.closing) {
        slot.answer = null;
        joins.add(slot);
      } else {
        slot.state = MemberSlot.State.AWAY;
        slot.answer = null;
        slot.startMillis = now;
      }
    }
  }

  // Handing out

  /** While the group is paused, nothing is handed out, and nobody is waited for. */
  public void paused(boolean on) {
    paused = on;
  }

  /** Hands out what may be handed out, and sends it. */
  public void handOut(long now) {
    if (!restored || closed) {
      return;
    }
    admit(now);
    if (!members.inTurn().isEmpty()) {
      deliveries.dropDeadly();
    }
    if (!joins.pausing() && !paused) {
      List<MemberSlot> unheard = joins.unheard(now);
      if (unheard.isEmpty()) {
        order.handOut(now);
      } else {
        order.first(unheard, now);
      }
    }
    stalls.waiting(!paused && deliveries.waiting() + deliveries.waitingAlone() > 0, now);
    for (MemberSlot slot : members.inTurn()) {
      while (slot.mayFlush(now)) {
        byte[] checkpoint = slot.checkpointDue ? checkpoint(slot) : null;
        actions.add(slot.flush(term, checkpoint, topicNames, offsets));
      }
    }
  }

  private byte[] checkpoint(MemberSlot slot) {
    long joined = members.counts().joinedOf(slot.name);
    List<Long> younger =
        members.inTurn().stream()
            .map(each -> members.counts().joinedOf(each.name))
            .filter(other -> other > joined)
            .toList();
    return new MemberCheckpoint(members.counts().checkpoint(slot.name), term, changes, younger)
        .encode();
  }

  /** A hand-out was answered: the member has got {@code count} messages of the session. */
  public void received(LevelAction.SendHandOut sent, long count, long now) {
    MemberSlot slot = slot(sent.instance(), MemberSlot.State.LIVE, sent.body().session());
    if (slot != null) {
      slot.answered(sent, count, now);
    }
  }

  /** A hand-out was refused, or nobody answered it. */
  public void handOutFailed(LevelAction.SendHandOut sent, Refusal refusal, long now) {
    MemberSlot slot = slot(sent.instance(), MemberSlot.State.LIVE, sent.body().session());
    if (slot == null) {
      return;
    }
    if (refusal == Refusal.FENCED) {
      // It does not know the session, so nobody may have what was handed to it.
      leave(slot);
      slot.startMillis = now + START_RETRY_MILLIS;
    } else {
      slot.unanswered(sent, now + HAND_OUT_RETRY_MILLIS);
    }
  }

  /** Whether a run is known to belong to another user's program. */
  public boolean ofAnother(String instance, String user) {
    MemberSlot slot = members.run(instance);
    return slot != null && slot.user != null && !slot.user.equals(user);
  }

  /** A member says what has ended. */
  public Heard reported(Report report, long now) {
    MemberSlot slot = members.run(report.instance());
    if (slot == null || !begun || report.term() != term || report.session() != slot.session) {
      return Heard.FENCED;
    }
    if (slot.state != MemberSlot.State.LIVE) {
      return slot.state == MemberSlot.State.AWAY ? Heard.FENCED : Heard.NOT_YET;
    }
    if (report.number() > slot.reportNumber) {
      slot.reportNumber = report.number();
      slot.capacity = report.capacity();
      hear(slot, report, now);
      leaveIfDone(slot);
      leaveIfAway(slot, now);
      if (slot.state != MemberSlot.State.LIVE) {
        return new Heard(new StartPermission(report.number(), 0), null);
      }
    }
    long mayStart = stalls.permit(slot, now);
    return new Heard(new StartPermission(report.number(), mayStart), null);
  }

  private void hear(MemberSlot slot, Report report, long now) {
    long[] above = report.endedAbove();
    long top = above.length == 0 ? report.endedBelow() : above[above.length - 1] + 1;
    slot.confirmed(Math.max(report.received(), top), now);
    int failed = 0;
    for (Report.Failed each : report.failed()) {
      boolean ended =
          each.sequence() < report.endedBelow() || Arrays.binarySearch(above, each.sequence()) >= 0;
      Item item = ended ? slot.end(each.sequence()) : null;
      if (item != null) {
        deliveries.failed(item, each.error());
        failed++;
      }
    }
    int finished = 0;
    for (long each = slot.first(); each < Math.min(report.endedBelow(), slot.next()); each++) {
      finished += finish(slot, each);
    }
    for (long each : above) {
      finished += finish(slot, each);
    }
    if (finished > 0) {
      slot.checkpointDue |= members.counts().finishedOf(slot.name) == 0;
      members.counts().finished(slot.name, finished, now);
    }
    if (failed > 0) {
      members.counts().givenBack(slot.name, failed);
    }
  }

  private int finish(MemberSlot slot, long number) {
    Item item = slot.end(number);
    if (item == null) {
      return 0;
    }
    deliveries.finished(item);
    return 1;
  }

  // Time

  /** Does what is due by time. To be called about every 20 ms. */
  public void tick(long now) {
    if (!begun || closed) {
      return;
    }
    restoreIfAllAnswered(now);
    startDue(now);
    if (paused) {
      stalls.paused(now);
    }
    if (!restored || paused || !stalls.mayJudge(now)) {
      return;
    }
    LevelCounts.Holder holder = stalls.holder(now);
    List<MemberSlot> late = new ArrayList<>();
    for (MemberSlot slot : members.inTurn()) {
      long held = holder != null && holder.member().equals(slot.name) ? holder.heldMillis() : -1;
      if (stalls.late(slot, held, now)) {
        late.add(slot);
      }
    }
    for (MemberSlot slot : late) {
      actions.add(new LevelAction.SetAside(slot.name, slot.stallMillis, slot.items()));
      leave(slot);
      setAside++;
      slot.startMillis = now;
    }
    startDue(now);
  }

  // Figures

  /** How level the group is. O(members²). */
  public LevelFigures figures(long now) {
    List<LevelFigures.Bar> bars = new ArrayList<>();
    for (MemberSlot slot : members.all()) {
      boolean level = slot.state == MemberSlot.State.LIVE;
      long position = level ? members.counts().positionOf(slot.name) : 0;
      long finished = level ? members.counts().finishedOf(slot.name) : 0;
      bars.add(new LevelFigures.Bar(slot.name, level, position, finished, slot.items()));
    }
    LevelCounts.Holder holder = stalls.holder(now);
    return new LevelFigures(
        term,
        policy.range().steps(),
        policy.strategy(),
        members.counts().gap(),
        members.counts().round(),
        holder == null ? null : holder.member(),
        holder == null ? 0 : holder.heldMillis(),
        setAside,
        deliveries.waiting() + deliveries.waitingAlone(),
        members.all().stream().mapToInt(MemberSlot::items).sum(),
        bars);
  }
}
