package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Permission;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.level.LevelCounts;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the dealer of one group does next, in one term. Deliveries come in, each with a ticket;
 * every ticket comes out once, in an {@link LevelAction}.
 *
 * <p>For one thread; {@code now} is of a clock that never goes back, in milliseconds. The caller
 * tells what happened, then calls {@link #deal}, then takes {@link #poll actions} until there are
 * none. Many events before one {@link #deal} are better than one.
 *
 * <p>It begins by asking every live member where it stands, deals nothing before all have answered
 * or two seconds are over, and goes on from their counts. Who comes later, is missed or was set
 * aside joins anew: its session begins with nothing in hand and a count of 0.
 *
 * <p>What waits or is in hand is bounded by who delivers.
 */
public final class LevelDispatch {
  /** How long members are waited for in the beginning. */
  static final long BEGIN_MILLIS_MAX = 2_000;

  private static final long BEGIN_RETRY_MILLIS = 200;
  private static final long COLLECT_RETRY_MILLIS = 500;
  private static final long DEAL_RETRY_MILLIS = 200;

  /** A term has so many joinings before the next one's numbers begin. */
  private static final int JOININGS_BITS = 32;

  /**
   * What a report is answered with.
   *
   * @param permission null if it is refused
   * @param refusal null if it is not
   */
  public record Heard(Permission permission, Refusal refusal) {
    static final Heard FENCED = new Heard(null, Refusal.FENCED);
    static final Heard NOT_YET = new Heard(null, Refusal.UNAVAILABLE);
  }

  private final String group;
  private final String node;
  private final LevelPolicy policy;
  private final ArrayDeque<LevelAction> actions = new ArrayDeque<>();
  private final Map<Integer, String> topicNames = new HashMap<>();
  private final CommittedOffsets news = new CommittedOffsets();
  private final Deliveries deliveries = new Deliveries(actions::add, news);
  private final Map<String, MemberSlot> byName = new LinkedHashMap<>();
  private final Map<String, MemberSlot> byInstance = new HashMap<>();

  /** Those in the book, in the order of their turns. */
  private final List<MemberSlot> ring = new ArrayList<>();

  private final HandOutOrder draw;
  private final JoinPauses arrivals = new JoinPauses();
  private final Stalls stalls = new Stalls();

  private LevelCounts book;
  private boolean begun;
  private boolean restored;
  private boolean closed;
  private long term;
  private long beginUntilMillis;
  private long lastSession;
  private long setAside;

  /** How often somebody has joined the book or left it. */
  private long changes;

  /**
   * @param node where reports are to be sent to
   */
  public LevelDispatch(String group, String node, LevelPolicy policy) {
    this.group = group;
    this.node = node;
    this.policy = policy;
    this.draw = new HandOutOrder(policy.strategy());
    this.book = new LevelCounts(policy.range());
  }

  /** The next thing to do, or null. */
  public LevelAction poll() {
    return actions.poll();
  }

  /**
   * The group lease is ours.
   *
   * @throws IllegalStateException if it was before: another term needs another book
   */
  public void begin(long term, long now) {
    if (begun) {
      throw new IllegalStateException("begun already, with term " + this.term);
    }
    begun = true;
    this.term = term;
    beginUntilMillis = now + BEGIN_MILLIS_MAX;
    collectDue(now);
    restoreIfAllAnswered(now);
  }

  /** Nothing is dealt any more, and nobody is asked; what is in hand may still end. */
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

  /** The group is done with everything of the shard below {@code offset}. */
  public void committed(Shard shard, long offset) {
    news.committed(shard, offset);
    deliveries.committed(shard, offset);
  }

  /** The shard is to go elsewhere: what waits is given back, what is in hand may still end. */
  public void draining(Shard shard) {
    deliveries.giveBackWaiting(shard);
  }

  /** The shard is gone: nothing of it is awaited any more. */
  public void withdrawn(Shard shard) {
    deliveries.giveBackWaiting(shard);
    for (MemberSlot hand : byName.values()) {
      for (long each = hand.first(); each < hand.next(); each++) {
        Item item = hand.at(each);
        if (item != null && item.id.shard().equals(shard)) {
          deliveries.giveBack(item);
        }
      }
    }
    news.forget(shard);
  }

  /** Everything is gone. */
  public void withdrawAll() {
    List<Item> inHand = new ArrayList<>();
    byName.values().forEach(hand -> inHand.addAll(hand.takeAll()));
    deliveries.giveBackAll(inHand);
  }

  // Members

  /** All live members of the group; who is not among them has gone. */
  public void members(List<LiveMember> live, long now) {
    Map<String, LiveMember> named = new HashMap<>();
    live.forEach(each -> named.put(each.name(), each));
    Iterator<MemberSlot> hands = byName.values().iterator();
    while (hands.hasNext()) {
      MemberSlot hand = hands.next();
      LiveMember same = named.get(hand.name);
      if (same == null || !same.instance().equals(hand.instance)) {
        hands.remove();
        byInstance.remove(hand.instance);
        leave(hand);
      }
    }
    for (LiveMember each : live) {
      MemberSlot hand = byName.get(each.name());
      if (hand == null) {
        hand = new MemberSlot(each.name(), each.instance());
        byName.put(hand.name, hand);
        byInstance.put(hand.instance, hand);
        hand.collectMillis = now;
      }
      hand.stallMillis = each.stallTimeoutMillis();
      hand.closing = each.closing();
      leaveIfDone(hand);
    }
    collectDue(now);
    restoreIfAllAnswered(now);
  }

  /** Who leaves holds nobody up once it has nothing in hand. */
  private void leaveIfDone(MemberSlot hand) {
    if (hand.closing && hand.state == MemberSlot.State.LIVE && hand.items() == 0) {
      leave(hand);
    }
  }

  private void leave(MemberSlot hand) {
    if (hand.state == MemberSlot.State.LIVE) {
      changes++;
      book.leave(hand.name);
      draw.left(ring.indexOf(hand));
      ring.remove(hand);
      for (MemberSlot each : ring) {
        each.checkpointDue = true;
      }
    }
    hand.state = MemberSlot.State.AWAY;
    hand.place = null;
    arrivals.remove(hand);
    if (closed) {
      deliveries.giveBackAll(hand.takeAll());
    } else {
      hand.takeAll().forEach(deliveries::dealAgain);
    }
  }

  private void collectDue(long now) {
    if (!begun || closed) {
      return;
    }
    for (MemberSlot hand : byName.values()) {
      // What one that leaves has in hand may still end, and is not to be dealt to others.
      boolean wanted = !hand.closing || !restored;
      if (wanted && hand.state == MemberSlot.State.AWAY && now >= hand.collectMillis) {
        collect(hand);
      }
    }
  }

  private void collect(MemberSlot hand) {
    hand.state = MemberSlot.State.COLLECTING;
    hand.session = ++lastSession;
    long mayStart = Stalls.firstPermission(hand.stallMillis);
    actions.add(
        new LevelAction.SendStart(
            hand.instance, new SessionStart(group, term, hand.session, node, !restored, mayStart)));
  }

  /** A Collect was answered. */
  public void placed(LevelAction.SendStart asked, SessionState place, long now) {
    MemberSlot hand = awaiting(asked);
    if (hand == null) {
      return;
    }
    hand.capacity = place.capacity();
    hand.begin();
    hand.state = MemberSlot.State.PLACED;
    Stalls.permitted(hand, now);
    if (restored) {
      arrivals.add(hand);
    } else {
      hand.place = place;
      restoreIfAllAnswered(now);
    }
  }

  /** A Collect was refused, or nobody answered it. */
  public void collectFailed(LevelAction.SendStart asked, Refusal refusal, long now) {
    MemberSlot hand = awaiting(asked);
    if (hand != null) {
      hand.state = MemberSlot.State.AWAY;
      hand.collectMillis = now + (restored ? COLLECT_RETRY_MILLIS : BEGIN_RETRY_MILLIS);
    }
  }

  private MemberSlot awaiting(LevelAction.SendStart asked) {
    MemberSlot hand = byInstance.get(asked.instance());
    return hand != null
            && hand.state == MemberSlot.State.COLLECTING
            && hand.session == asked.body().session()
        ? hand
        : null;
  }

  private void admit(long now) {
    for (MemberSlot hand : arrivals.admit(ring, now)) {
      join(hand, now);
    }
  }

  private void join(MemberSlot hand, long now) {
    if (hand.closing || book.members().size() >= LevelCounts.MEMBERS_MAX) {
      hand.state = MemberSlot.State.AWAY;
      hand.collectMillis = now + COLLECT_RETRY_MILLIS;
      return;
    }
    book.join(hand.name, now);
    enter(hand, now);
    arrivals.joined(hand);
  }

  private void enter(MemberSlot hand, long now) {
    changes++;
    hand.state = MemberSlot.State.LIVE;
    hand.place = null;
    ring.add(hand);
    Stalls.permitted(hand, now);
  }

  private void restoreIfAllAnswered(long now) {
    if (!begun || restored) {
      return;
    }
    List<MemberSlot> placed = new ArrayList<>();
    for (MemberSlot hand : byName.values()) {
      if (hand.state == MemberSlot.State.PLACED) {
        placed.add(hand);
      } else if (now < beginUntilMillis) {
        return;
      }
    }
    restored = true;
    restore(placed, now);
    deliveries.sortAgain();
    for (MemberSlot hand : byName.values()) {
      if (hand.state == MemberSlot.State.COLLECTING) {
        // Should its answer still come, it is of a session that is over.
        hand.state = MemberSlot.State.AWAY;
        hand.collectMillis = now;
      }
    }
    collectDue(now);
  }

  private void restore(List<MemberSlot> placed, long now) {
    Restoring restoring = new Restoring(policy.range(), placed);
    book = restoring.book(policy.range(), term << JOININGS_BITS, now);
    for (MemberSlot hand : placed) {
      SessionState place = hand.place;
      place.ended().forEach(deliveries::endedEarlier);
      if (restoring.fits(hand)) {
        for (MessageId id : place.held()) {
          hand.holds(deliveries.held(id));
        }
        enter(hand, now);
        leaveIfDone(hand);
      } else if (place.held().isEmpty() && place.finished() == 0 && !hand.closing) {
        hand.place = null;
        arrivals.add(hand);
      } else {
        hand.state = MemberSlot.State.AWAY;
        hand.place = null;
        hand.collectMillis = now;
      }
    }
  }

  /** Whether the members' places are known, and dealing has begun. */
  public boolean restored() {
    return restored;
  }

  // Dealing

  /** Deals what may be dealt, and sends what is dealt. */
  public void deal(long now) {
    if (!restored || closed) {
      return;
    }
    admit(now);
    if (!arrivals.pausing()) {
      List<MemberSlot> unheard = arrivals.unheard(book, now);
      if (unheard.isEmpty()) {
        draw.deal(ring, byName, deliveries.line(), book, now);
      } else {
        draw.first(unheard, deliveries.line(), book, now);
      }
    }
    stalls.waiting(!deliveries.line().isEmpty(), now);
    for (int i = 0; i < ring.size(); i++) {
      MemberSlot hand = ring.get(i);
      while (hand.mayFlush(now)) {
        byte[] checkpoint = hand.checkpointDue ? told(hand) : null;
        actions.add(hand.flush(term, checkpoint, topicNames, news));
      }
    }
  }

  private byte[] told(MemberSlot hand) {
    long joined = book.joinedOf(hand.name);
    List<Long> younger = new ArrayList<>();
    for (MemberSlot each : ring) {
      long other = book.joinedOf(each.name);
      if (other > joined) {
        younger.add(other);
      }
    }
    return new MemberCheckpoint(book.checkpoint(hand.name), term, changes, younger).encode();
  }

  /** A Deal was answered: the member has got {@code count} messages of the session. */
  public void received(LevelAction.SendHandOut deal, long count, long now) {
    MemberSlot hand = live(deal);
    if (hand != null) {
      hand.answered(deal, count, now);
    }
  }

  /** A Deal was refused, or nobody answered it. */
  public void dealFailed(LevelAction.SendHandOut deal, Refusal refusal, long now) {
    MemberSlot hand = live(deal);
    if (hand == null) {
      return;
    }
    if (refusal == Refusal.FENCED) {
      // It does not know the session, so what it was dealt may be nowhere.
      leave(hand);
      hand.collectMillis = now + COLLECT_RETRY_MILLIS;
    } else {
      hand.unanswered(deal, now + DEAL_RETRY_MILLIS);
    }
  }

  private MemberSlot live(LevelAction.SendHandOut deal) {
    MemberSlot hand = byInstance.get(deal.instance());
    return hand != null
            && hand.state == MemberSlot.State.LIVE
            && hand.session == deal.body().session()
        ? hand
        : null;
  }

  /** A member says what has ended. */
  public Heard reported(Report report, long now) {
    MemberSlot hand = byInstance.get(report.instance());
    if (hand == null || !begun || report.term() != term || report.session() != hand.session) {
      return Heard.FENCED;
    }
    if (hand.state != MemberSlot.State.LIVE) {
      return hand.state == MemberSlot.State.AWAY ? Heard.FENCED : Heard.NOT_YET;
    }
    if (report.number() > hand.reportNumber) {
      hand.reportNumber = report.number();
      hand.capacity = report.capacity();
      hear(hand, report, now);
      leaveIfDone(hand);
      if (hand.state != MemberSlot.State.LIVE) {
        return new Heard(new Permission(report.number(), 0), null);
      }
    }
    long mayStart = stalls.permit(hand, book, () -> holds(hand, now), now);
    return new Heard(new Permission(report.number(), mayStart), null);
  }

  private boolean holds(MemberSlot hand, long now) {
    LevelCounts.Holder holder = stalls.holder(book, draw, ring, now);
    return holder != null && holder.member().equals(hand.name);
  }

  private void hear(MemberSlot hand, Report report, long now) {
    long[] above = report.endedAbove();
    long top = above.length == 0 ? report.endedBelow() : above[above.length - 1] + 1;
    hand.confirmed(Math.max(report.received(), top), now);
    int failed = 0;
    for (Report.Failed each : report.failed()) {
      boolean ended = each.sequence() < report.endedBelow() || among(above, each.sequence());
      Item item = ended ? hand.end(each.sequence()) : null;
      if (item != null) {
        deliveries.failed(item, each.error());
        failed++;
      }
    }
    int finished = 0;
    for (long each = hand.first(); each < Math.min(report.endedBelow(), hand.next()); each++) {
      finished += finish(hand, each);
    }
    for (long each : above) {
      finished += finish(hand, each);
    }
    if (finished > 0) {
      hand.checkpointDue |= book.finishedOf(hand.name) == 0;
      book.finished(hand.name, finished, now);
    }
    if (failed > 0) {
      book.givenBack(hand.name, failed);
    }
  }

  private static boolean among(long[] numbers, long number) {
    return Arrays.binarySearch(numbers, number) >= 0;
  }

  private int finish(MemberSlot hand, long number) {
    Item item = hand.end(number);
    if (item == null) {
      return 0;
    }
    deliveries.finished(item);
    return 1;
  }

  // Time

  /** To be called every few 10 ms: what is due by time. */
  public void tick(long now) {
    if (!begun || closed) {
      return;
    }
    restoreIfAllAnswered(now);
    collectDue(now);
    if (!restored || !stalls.mayJudge(now)) {
      return;
    }
    LevelCounts.Holder holder = stalls.holder(book, draw, ring, now);
    List<MemberSlot> late = new ArrayList<>();
    for (MemberSlot hand : ring) {
      boolean holds = holder != null && holder.member().equals(hand.name);
      if (stalls.late(hand, holds ? holder.heldMillis() : -1, now)) {
        late.add(hand);
      }
    }
    for (MemberSlot hand : late) {
      leave(hand);
      setAside++;
      hand.collectMillis = now;
    }
    collectDue(now);
  }

  // Figures

  /** How level the group is. O(members²). */
  public LevelFigures figures(long now) {
    List<LevelFigures.Bar> bars = new ArrayList<>();
    int inHand = 0;
    for (MemberSlot hand : byName.values()) {
      boolean level = hand.state == MemberSlot.State.LIVE;
      long position = level ? book.positionOf(hand.name) : 0;
      long finished = level ? book.finishedOf(hand.name) : 0;
      bars.add(new LevelFigures.Bar(hand.name, level, position, finished, hand.items()));
      inHand += hand.items();
    }
    LevelCounts.Holder holder = stalls.holder(book, draw, ring, now);
    return new LevelFigures(
        term,
        policy.range().steps(),
        policy.strategy(),
        book.gap(),
        book.round(),
        holder == null ? null : holder.member(),
        holder == null ? 0 : holder.heldMillis(),
        setAside,
        deliveries.line().size(),
        inHand,
        bars);
  }

  /** For tests: deliveries that wait or are in a hand. */
  int open() {
    int open = deliveries.line().size();
    for (MemberSlot hand : byName.values()) {
      for (long each = hand.first(); each < hand.next(); each++) {
        Item item = hand.at(each);
        open += item != null && item.ticket != null ? 1 : 0;
      }
    }
    return open;
  }

  /** For tests: those that take part, in the order in which they joined. */
  List<String> level() {
    List<String> names = new ArrayList<>(book.members());
    names.sort(Comparator.comparingLong(book::joinedOf));
    return names;
  }

  /** For tests: whether it joined under this dealer, and does not go on from an earlier one. */
  boolean joinedHere(String name) {
    return book.joinedOf(name) >= term << JOININGS_BITS;
  }

  /** For tests: messages remembered that were not delivered. */
  int remembered() {
    return deliveries.remembered();
  }
}
