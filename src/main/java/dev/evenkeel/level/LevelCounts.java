package dev.evenkeel.level;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts how many messages each member of a group may be handed, so that no two live members ever
 * differ by more than {@code range} <em>finished</em> messages since the later of them joined.
 *
 * <p>For one thread; without I/O, and {@code now} is a parameter, of any clock that never goes
 * back.
 *
 * <p>What is heard of is late: a member has finished at least F (heard of) and at most F + H (in
 * hand too). So a member a is handed a message only if for every other live member b
 *
 * <pre>F(a) + H(a) + 1 &lt;= reference(a, b) + F(b) + range</pre>
 *
 * which holds for the true counts whatever finishes first and whatever report is late. Like tracks
 * ({@link Coordinator}), each pair has references of its own. Let n join after o:
 *
 * <ul>
 *   <li>o is held to n with reference F(o) at the joining: no more than o had finished then.
 *   <li>n is held to o with reference −(F + H)(o), as of the joining, and again as of the moment
 *       when n's first finished message is heard of: no fewer than o had finished then.
 * </ul>
 *
 * So the bound holds whether one counts from n's joining, from n's first finished message, or from
 * any moment between. A newcomer needs no common position, and whoever leaves, dies or is set aside
 * takes its references along; its messages in hand are to be handed out again. It comes back by
 * joining.
 *
 * <p><b>Why handing out never stops</b> while all members finish and report what they have. Let
 * v(a, b) = f(a) − f(b) − reference(a, b) with true counts f; a is handed nothing for b's sake only
 * if v is at least the range, once all is reported. Suppose a cycle of k members that wait for one
 * another: the sum of v is at least k·range. Since references are constant, look at the moment when
 * the last of them was taken. If it was a joining of n, which waits for j and is waited for by i:
 * v(i, n) = f(i) − F(i), v(n, j) = (F + H)(j) − f(j), and for the others v(a, b) is at most range −
 * ((F + H)(a) − f(a)) − (f(b) − F(b)) by what was handed out; their sum is at most (k − 2)·range,
 * or for k = 2, where i = j, just H(i), at most the range by {@link #mayHandOut}. If it was the
 * first report of n: v(n, j) = f(n) + (F + H)(j) − f(j), and v(i, n) is at most range − ((F + H)(i)
 * − f(i)) − f(n), since F(n) was 0; the sum is at most (k − 1)·range. Both are below k·range:
 * contradiction.
 *
 * <p>That leaves out a keeper that takes over from another ({@link #restore}): of a member whose
 * first report only the former one heard, it knows no more than a bound of the reference. With two
 * such bounds, members may wait for one another with nothing in hand. {@link #holder} names one of
 * them then, and others go on once it has left and joined again, which costs nothing.
 *
 * <p>Costs: handing out and finishing O(1), but {@link #mayHandOut} looks at all members, one
 * sequential pass, when a limit is used up and the member that set it has finished something. So it
 * is one pass for as many messages as the answer allows. Joining and leaving O(members); memory
 * 8·members² bytes.
 */
public final class LevelCounts {
  /** Most members at a time. */
  public static final int MEMBERS_MAX = 10_000;

  private static final int ROOM_FIRST = 8;

  /** The counts of one member. */
  private static final class Entry {
    final String name;
    final long joined;
    final long base;

    /** Where it is in the arrays; changes when others leave. */
    int slot;

    long finished;
    int inHand;

    /**
     * Whether a finished message of it was reported, so that its references to older ones are
     * final.
     */
    boolean heard;

    /** By slot: own count less that one's, at the moment from which this one is held to it. */
    long[] references;

    /** When it last finished something, or got something after it had nothing. */
    long quietSinceMillis;

    /**
     * Finished and in hand together may reach this; right while {@code version} is that of the
     * counts.
     */
    long limit;

    int version = -1;

    /** Slot of the one that sets the limit, or −1, and its count then. */
    int blocker = -1;

    long blockerFinished;

    Entry(String name, long joined, long base, int room) {
      this.name = name;
      this.joined = joined;
      this.base = base;
      this.references = new long[room];
    }

    /** The most it can have finished by now. */
    long most() {
      return finished + inHand;
    }
  }

  private final int range;
  private final Map<String, Entry> byName = new HashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private long[] finished = new long[ROOM_FIRST];
  private long nextJoined = 1;
  private long inHandOfAll;
  private int version;

  /** Without members. */
  public LevelCounts(Range range) {
    this.range = range.steps();
  }

  /**
   * Who holds the round.
   *
   * @param member the others wait until it finishes something
   * @param inHand messages handed to it and not finished
   * @param heldMillis since it last finished something, or got something after it had nothing
   */
  public record Holder(String member, int inHand, long heldMillis) {}

  /**
   * Counts that go on from what the live members report. Nothing that an earlier keeper hands out
   * may reach a member after its report.
   *
   * @param joinedFrom no newcomer's {@link Checkpoint#joined} is lower. With one that grows with
   *     each keeper, what a member that was missed knows of another is never taken for a newcomer
   * @throws IllegalArgumentException if a member does not know of an older one that reports too;
   *     let it join anew
   */
  public static LevelCounts restore(
      Range range, Collection<Checkpoint> checkpoints, long joinedFrom, long nowMillis) {
    LevelCounts counts = new LevelCounts(range);
    counts.nextJoined = joinedFrom;
    List<Checkpoint> inOrder = new ArrayList<>(checkpoints);
    inOrder.sort(Comparator.comparingLong(Checkpoint::joined));
    for (Checkpoint each : inOrder) {
      Entry entry = counts.add(each.name(), each.joined(), each.base(), nowMillis);
      entry.finished = each.finished();
      entry.inHand = each.inHand();
      counts.inHandOfAll += each.inHand();
      entry.heard = each.heard();
      counts.finished[entry.slot] = each.finished();
    }
    for (Checkpoint each : inOrder) {
      counts.relate(each);
    }
    return counts;
  }

  private void relate(Checkpoint checkpoint) {
    Entry young = entry(checkpoint.name());
    Map<Long, Checkpoint.Reference> references = new HashMap<>();
    for (Checkpoint.Reference each : checkpoint.references()) {
      references.put(each.joined(), each);
    }
    for (Entry old : entries) {
      if (old.joined >= young.joined) {
        continue;
      }
      Checkpoint.Reference known = references.get(old.joined);
      if (known == null) {
        throw new IllegalArgumentException(young.name + " does not know of " + old.name);
      }
      old.references[young.slot] = known.low();
      long high = known.high();
      if (!young.heard && young.finished > 0) {
        // Its first report was heard by nobody, or by one who could not tell it any more. Until it
        // was heard, the other was handed no more than the range.
        high = Math.max(high, Math.min(old.most(), known.low() + range));
      }
      young.references[old.slot] = -high;
    }
    young.heard |= young.finished > 0;
  }

  /** The checkpoint that {@code member} needs, with the next message at the latest. */
  public Checkpoint checkpoint(String member) {
    Entry young = entry(member);
    List<Checkpoint.Reference> references = new ArrayList<>();
    for (Entry old : entries) {
      if (old.joined < young.joined) {
        references.add(
            new Checkpoint.Reference(
                old.joined, old.references[young.slot], -young.references[old.slot]));
      }
    }
    return new Checkpoint(
        young.name,
        young.joined,
        young.base,
        young.finished,
        young.inHand,
        young.heard,
        references);
  }

  /** Names of the live members, in no order. */
  public List<String> members() {
    return entries.stream().map(entry -> entry.name).toList();
  }

  /**
   * A member joins, or comes back.
   *
   * @throws IllegalStateException if one of that name is live: let it leave first
   */
  public void join(String member, long nowMillis) {
    long base = entries.isEmpty() ? 0 : lowest();
    Entry young = add(member, nextJoined, base, nowMillis);
    for (Entry old : entries) {
      if (old != young) {
        old.references[young.slot] = old.finished;
        young.references[old.slot] = -old.most();
      }
    }
  }

  private Entry add(String member, long joined, long base, long nowMillis) {
    if (byName.containsKey(member)) {
      throw new IllegalStateException(member + " is live already");
    }
    if (entries.size() == MEMBERS_MAX) {
      throw new IllegalStateException(MEMBERS_MAX + " members: that is the limit");
    }
    int slot = entries.size();
    if (slot == finished.length) {
      int room = slot * 2;
      finished = Arrays.copyOf(finished, room);
      for (Entry each : entries) {
        each.references = Arrays.copyOf(each.references, room);
      }
    }
    Entry entry = new Entry(member, joined, base, finished.length);
    entry.slot = slot;
    entry.quietSinceMillis = nowMillis;
    finished[slot] = 0;
    entries.add(entry);
    byName.put(member, entry);
    nextJoined = Math.max(nextJoined, joined + 1);
    version++;
    return entry;
  }

  /**
   * A member has left, died, or is set aside. What it has in hand is to be handed out again; later
   * reports of it do not count. Does nothing if it is not live.
   */
  public void leave(String member) {
    Entry gone = byName.remove(member);
    if (gone == null) {
      return;
    }
    inHandOfAll -= gone.inHand;
    int last = entries.size() - 1;
    Entry moved = entries.remove(last);
    if (moved != gone) {
      entries.set(gone.slot, moved);
      moved.slot = gone.slot;
      finished[gone.slot] = finished[last];
      for (Entry each : entries) {
        each.references[gone.slot] = each.references[last];
      }
    }
    version++;
  }

  /**
   * How many more messages {@code member} may be handed now: 0 to the range. It never has more than
   * the range in hand.
   */
  public int mayHandOut(String member) {
    return mayHandOut(entry(member));
  }

  private int mayHandOut(Entry entry) {
    long most = entry.most();
    if (most >= limit(entry, most)) {
      return 0;
    }
    return (int) Math.min(entry.limit - most, range - entry.inHand);
  }

  /** The limit as it was, if that allows one more or cannot have changed; else as it is. */
  private long limit(Entry entry, long most) {
    boolean same = entry.version == version;
    if (same && (most < entry.limit || finished[entry.blocker] == entry.blockerFinished)) {
      return entry.limit;
    }
    long least = Long.MAX_VALUE - range;
    int blocker = -1;
    long[] references = entry.references;
    int own = entry.slot;
    for (int i = 0; i < entries.size(); i++) {
      long reach = finished[i] + references[i];
      if (reach < least && i != own) {
        least = reach;
        blocker = i;
      }
    }
    entry.version = version;
    entry.limit = least + range;
    entry.blocker = blocker;
    entry.blockerFinished = blocker < 0 ? 0 : finished[blocker];
    return entry.limit;
  }

  /**
   * {@code member} is handed {@code count} messages.
   *
   * @param count 1 to {@link #mayHandOut}
   * @throws IllegalStateException if it is more than that
   */
  public void handedOut(String member, int count, long nowMillis) {
    Entry entry = entry(member);
    int most = mayHandOut(entry);
    if (count < 1 || count > most) {
      throw new IllegalStateException(
          member + " may be handed " + most + " messages, and not " + count);
    }
    if (entry.inHand == 0) {
      entry.quietSinceMillis = nowMillis;
    }
    entry.inHand += count;
    inHandOfAll += count;
  }

  /**
   * {@code member} has finished {@code count} of what it has in hand.
   *
   * @throws IllegalStateException if it has fewer
   */
  public void finished(String member, int count, long nowMillis) {
    Entry entry = entry(member);
    checkInHand(entry, count);
    if (!entry.heard) {
      entry.heard = true;
      entry.version = -1;
      for (Entry old : entries) {
        if (old.joined < entry.joined) {
          entry.references[old.slot] = -old.most();
        }
      }
    }
    takeFromHand(entry, count);
    entry.finished += count;
    finished[entry.slot] = entry.finished;
    entry.quietSinceMillis = nowMillis;
  }

  /**
   * {@code member} gives {@code count} messages back that it did not begin, to be handed out again.
   *
   * @throws IllegalStateException if it has fewer
   */
  public void givenBack(String member, int count) {
    Entry entry = entry(member);
    checkInHand(entry, count);
    takeFromHand(entry, count);
  }

  private void takeFromHand(Entry entry, int count) {
    entry.inHand -= count;
    inHandOfAll -= count;
  }

  private static void checkInHand(Entry entry, int count) {
    if (count < 1 || count > entry.inHand) {
      throw new IllegalStateException(
          entry.name + " has " + entry.inHand + " messages in hand, and not " + count);
    }
  }

  /** Messages of {@code member} finished since it joined, as far as reported. */
  public long finishedOf(String member) {
    return entry(member).finished;
  }

  /**
   * When {@code member} last finished something, or got something after it had nothing, or joined.
   */
  public long quietSinceMillisOf(String member) {
    return entry(member).quietSinceMillis;
  }

  /**
   * Whom {@code member} waits for: it may be handed nothing before that one has finished something.
   * Null if it waits for nobody but perhaps itself.
   */
  public @Nullable String waitsFor(String member) {
    Entry entry = entry(member);
    long most = entry.most();
    return most < limit(entry, most) ? null : entries.get(entry.blocker).name;
  }

  /** Number of {@code member}'s joining; see {@link Checkpoint#joined}. */
  public long joinedOf(String member) {
    return entry(member).joined;
  }

  /**
   * How long the bar of {@code member} is: what it finished since it joined, on top of the shortest
   * bar of that moment.
   */
  public long positionOf(String member) {
    Entry entry = entry(member);
    return entry.base + entry.finished;
  }

  /** The range that these counts keep. */
  public int range() {
    return range;
  }

  /**
   * The largest difference of two live members in finished messages since the later of them joined;
   * never more than the range. O(members²).
   */
  public long gap() {
    long gap = 0;
    for (Entry old : entries) {
      for (Entry young : entries) {
        if (old.joined < young.joined) {
          long ahead = old.finished - old.references[young.slot] - young.finished;
          gap = Math.max(gap, Math.abs(ahead));
        }
      }
    }
    return gap;
  }

  /** How often the shortest bar has grown by the range. */
  public long round() {
    return entries.isEmpty() ? 0 : lowest() / range;
  }

  private long lowest() {
    long lowest = Long.MAX_VALUE;
    for (Entry each : entries) {
      lowest = Math.min(lowest, each.base + each.finished);
    }
    return lowest;
  }

  /**
   * Who holds the round: of those who keep another one from being handed anything and have messages
   * in hand, the one that has been quiet for the longest; empty if nobody does. If nobody may be
   * handed anything, and nobody has anything in hand, it is one that has nothing.
   *
   * <p>If {@link Holder#heldMillis} has reached the stall time while messages wait to be handed
   * out, let it leave; it comes back by joining.
   */
  public Optional<Holder> holder(long nowMillis) {
    Entry holder = null;
    boolean idle = isIdle();
    for (Entry each : entries) {
      long most = each.most();
      if (most < limit(each, most)) {
        if (idle) {
          return Optional.empty();
        }
        continue;
      }
      Entry blocker = entries.get(each.blocker);
      if ((idle || blocker.inHand > 0)
          && (holder == null || blocker.quietSinceMillis < holder.quietSinceMillis)) {
        holder = blocker;
      }
    }
    return holder == null
        ? Optional.empty()
        : Optional.of(new Holder(holder.name, holder.inHand, nowMillis - holder.quietSinceMillis));
  }

  /** Whether nobody has anything in hand. */
  public boolean isIdle() {
    return inHandOfAll == 0;
  }

  private Entry entry(String member) {
    Entry entry = byName.get(member);
    if (entry == null) {
      throw new IllegalStateException(member + " is not live");
    }
    return entry;
  }
}
