package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.NewestMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The members of one group: the live ones by name, and runs not heard yet by instance.
 *
 * <pre>
 *            heartbeat          timeout, cluster member or session gone, leaving, later run
 * (unknown) ----------> live member ---------------------------------------------------> ended
 * (lease or registry) -> unheard -- heartbeat ---> live member
 *                          `--- timeout, cluster member or session gone, later run ----> ended
 * </pre>
 *
 * <p>A run that wished for a grace time, and has no successor, is absent before it has ended.
 */
public final class MemberTable {
  /** What a heartbeat meant. */
  enum Heard {
    /** A new member, or one that had been given up. */
    JOINED,
    /** A member known to the dispatcher before is heard by this one for the first time. */
    RETURNED,
    /** A later run comes in the grace time of an earlier one. */
    BACK,
    /** A later run took the place of an earlier one. */
    REPLACED_FORMER,
    /** It reads other topics than before. */
    CHANGED,
    /** It has begun to close. */
    CLOSING,
    /** It wants another member to lead its group. */
    RESIGNED,
    /** It led its group, and has handed over. */
    HANDED_OVER,
    SAME,
    /** A later run has its place. */
    REFUSED
  }

  /** Who ended, and why. */
  record Ended(String name, String instance, Cause cause) {}

  /**
   * The cluster removes a member when its connection breaks, which happens at once if the process
   * ends, or after this silence. In the second case the member may be alive and only be cut off.
   */
  private static final long CLUSTER_SILENCE_MILLIS = 7_000;

  /**
   * A member whose last heartbeat is younger than this was not silent for that long, even if the
   * heartbeat came late.
   */
  private static final long HEARD_LATELY_MILLIS = 4_000;

  /**
   * A member whose last run has ended, and of which a later run may come.
   *
   * @param untilMillis when others get its shards
   */
  private record Absent(Ended ended, long untilMillis) {}

  /** Most names of which it is known when the last run that has ended began. */
  private static final int ENDED_MAX = 1_000;

  /** Most runs of which {@link #takeDiedOf} knows. */
  private static final int DIED_MAX = 100;

  private static final TreeSet<String> NO_NAMES = new TreeSet<>();

  private final EndedRuns endings;

  /** See {@link #takeDiedOf}. */
  private final Map<String, List<MessageId>> diedOf = new NewestMap<>(DIED_MAX);

  /** By name, when the last run began that has ended: it may only have been cut off. */
  private final Map<String, Long> endedBorn = new NewestMap<>(ENDED_MAX);

  /** By name. */
  private final Map<String, Absent> absent = new TreeMap<>();

  private final Map<String, Member> live = new TreeMap<>();

  /** By instance, the names under which live and unheard runs have it: most often one. */
  private final Map<String, TreeSet<String>> names = new HashMap<>();

  /** The filter of all live members but in mode broadcast; null: they want all messages. */
  private List<String> filter;

  private int filterHash;
  private long filterChars;
  private boolean inRegistry;

  /** By name and instance; most often there is one instance of a name. */
  private final Map<String, Map<String, UnheardMember>> unheard = new TreeMap<>();

  MemberTable(EndedRuns endings) {
    this.endings = endings;
  }

  /**
   * The others, as if these had ended and did not come back.
   *
   * @param names those of members
   * @param clusterMember all of this one, too; null: of none
   */
  MemberTable without(Set<String> names, String clusterMember) {
    MemberTable others = new MemberTable(endings);
    live.values().stream()
        .filter(member -> !isOf(member.beat().clusterMember(), clusterMember))
        .forEach(others::put);
    unheard().stream()
        .filter(run -> !isOf(run.clusterMember(), clusterMember))
        .forEach(others::sighted);
    others.absent.putAll(absent);
    for (String name : names) {
      others.drop(name);
      others.unheardNamed(name).forEach(run -> others.removeUnheard(name, run.instance()));
      others.absent.remove(name);
    }
    return others;
  }

  private static boolean isOf(String clusterMember, String sought) {
    return sought != null && sought.equals(clusterMember);
  }

  /** Adds a member that is only supposed to be there. */
  void suppose(Member member) {
    put(member);
  }

  private void put(Member member) {
    Member former = live.put(member.name(), member);
    if (former == null || !former.instance().equals(member.instance())) {
      if (former != null) {
        unname(former.instance(), member.name());
      }
      named(member.instance(), member.name());
    }
  }

  private void drop(String name) {
    Member former = live.remove(name);
    if (former != null) {
      unname(former.instance(), name);
    }
  }

  private void named(String instance, String name) {
    names.computeIfAbsent(instance, none -> new TreeSet<>()).add(name);
  }

  /** A run is not live, or not unheard, any more. */
  private void unname(String instance, String name) {
    Member member = live.get(name);
    boolean still =
        member != null && member.instance().equals(instance) || isUnheard(name, instance);
    if (!still) {
      names.computeIfPresent(
          instance, (same, all) -> all.remove(name) && all.isEmpty() ? null : all);
    }
  }

  /**
   * Takes a heartbeat.
   *
   * @param topics those that the member reads
   */
  Heard heard(Heartbeat sent, Set<String> topics, long nowMillis) {
    Heartbeat beat = sent;
    String instance = beat.instance();
    if (replaced(beat)) {
      endings.add(instance, Cause.REPLACED);
      removeUnheard(beat.member(), instance);
      return Heard.REFUSED;
    }
    beat = beat.bornAt(born(beat));
    boolean wasUnheard = removeUnheard(beat.member(), instance);
    boolean replaces = endEarlierUnheard(beat);
    endings.revive(instance);
    Member former = live.get(beat.member());
    boolean sameRun = former != null && former.instance().equals(instance);
    boolean closedBefore = sameRun && former.beat().closing();
    Heartbeat latest = sameRun ? latest(former.beat(), beat) : beat;
    boolean back = absent.remove(beat.member()) != null;
    put(new Member(shared(latest), topics, nowMillis));
    if (former != null && !sameRun) {
      endings.add(former.instance(), Cause.REPLACED);
      return Heard.REPLACED_FORMER;
    }
    if (former == null) {
      return wasUnheard
          ? Heard.RETURNED
          : back ? Heard.BACK : replaces ? Heard.REPLACED_FORMER : Heard.JOINED;
    }
    if (beat.closing() && !closedBefore) {
      return Heard.CLOSING;
    }
    if (latest.resignedTerm() > former.beat().resignedTerm()) {
      return Heard.RESIGNED;
    }
    if (latest.handedOverTerm() > former.beat().handedOverTerm()) {
      return Heard.HANDED_OVER;
    }
    return former.topics().equals(topics) ? Heard.SAME : Heard.CHANGED;
  }

  // ---- Filters

  /**
   * Whether the others have the filter of this heartbeat, or there are none. It takes the same time
   * for any number of them.
   */
  boolean hasFilterOf(Heartbeat beat) {
    return beat.policy().isBroadcast()
        || live.size() <= (live.containsKey(beat.member()) ? 1 : 0)
        || sameFilter(beat);
  }

  private boolean sameFilter(Heartbeat beat) {
    List<String> its = beat.wishes().filter();
    return its == filter
        || its != null && filter != null && its.hashCode() == filterHash && its.equals(filter);
  }

  /** The filter of the live members; null: all messages. Not of a group in mode broadcast. */
  List<String> filter() {
    return filter;
  }

  /**
   * Characters of filters that are kept because of the members: in the registry, each has its own.
   */
  long filterChars() {
    return live.isEmpty() ? 0 : filterChars * (inRegistry ? live.size() : 1);
  }

  /** The user of one of the live members; null: unknown, or there is none. */
  String anyUser() {
    return live.isEmpty() ? null : live.values().iterator().next().beat().user();
  }

  /**
   * The heartbeat, with the one filter of the group. In mode broadcast each member has its own; it
   * is kept as it is shown.
   */
  private Heartbeat shared(Heartbeat beat) {
    List<String> its = beat.wishes().filter();
    if (beat.policy().isBroadcast()) {
      List<String> shown = its == null ? null : MessageFilter.shown(its);
      return shown == its ? beat : beat.withWishes(beat.wishes().withFilter(shown));
    }
    inRegistry = beat.policy().isLevel();
    if (!sameFilter(beat)) {
      filter = its;
      filterHash = its == null ? 0 : its.hashCode();
      filterChars = its == null ? 0 : its.stream().mapToLong(String::length).sum();
    }
    return its == filter ? beat : beat.withWishes(beat.wishes().withFilter(filter));
  }

  /**
   * Finds out anew what each live member reads.
   *
   * @return whether one reads other topics than before
   */
  boolean resubscribe(Function<Heartbeat, Set<String>> topics) {
    boolean any = false;
    for (Map.Entry<String, Member> each : live.entrySet()) {
      Set<String> now = topics.apply(each.getValue().beat());
      if (!now.equals(each.getValue().topics())) {
        each.setValue(each.getValue().reading(now));
        any = true;
      }
    }
    return any;
  }

  /**
   * A heartbeat from before a closing, a resignation or a handover may arrive after one that says
   * so.
   */
  private static Heartbeat latest(Heartbeat former, Heartbeat beat) {
    Heartbeat latest = former.closing() ? beat.asClosing() : beat;
    if (former.resignedTerm() > latest.resignedTerm()) {
      latest = latest.withWishes(latest.wishes().resignedAt(former.resignedTerm()));
    }
    return former.handedOverTerm() > latest.handedOverTerm()
        ? latest.withWishes(latest.wishes().handedOverAt(former.handedOverTerm()))
        : latest;
  }

  /** Whether a later run has its place. */
  boolean replaced(Heartbeat beat) {
    return endings.of(beat.instance()) == Cause.REPLACED || !beat.joining() && outlived(beat);
  }

  private boolean outlived(Heartbeat beat) {
    Member member = live.get(beat.member());
    if (member != null && isLater(member.beat().bornMillis(), member.instance(), beat)) {
      return true;
    }
    for (UnheardMember run : unheardNamed(beat.member())) {
      if (run.bornMillis() != null && isLater(run.bornMillis(), run.instance(), beat)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isLater(long born, String instance, Heartbeat beat) {
    return !instance.equals(beat.instance())
        && Member.later(born, instance, beat.bornMillis(), beat.instance());
  }

  /**
   * When a run that is not replaced began: later than the others of its name. Its clock may say
   * something else, because it is behind that of an earlier run. A run keeps what was found once.
   */
  private long born(Heartbeat beat) {
    long born = beat.bornMillis();
    Long ended = endedBorn.get(beat.member());
    if (beat.joining() && ended != null) {
      born = Math.max(born, ended + 1);
    }
    Member member = live.get(beat.member());
    if (member != null) {
      long former = member.beat().bornMillis();
      born = Math.max(born, member.instance().equals(beat.instance()) ? former : former + 1);
    }
    for (UnheardMember run : unheardNamed(beat.member())) {
      if (run.bornMillis() != null) {
        boolean same = run.instance().equals(beat.instance());
        born = Math.max(born, same ? run.bornMillis() : run.bornMillis() + 1);
      }
    }
    return born;
  }

  private List<UnheardMember> unheardNamed(String name) {
    return List.copyOf(unheard.getOrDefault(name, Map.of()).values());
  }

  private boolean removeUnheard(String name, String instance) {
    boolean there = isUnheard(name, instance);
    unheard.computeIfPresent(
        name, (same, runs) -> runs.remove(instance) != null && runs.isEmpty() ? null : runs);
    unname(instance, name);
    return there;
  }

  private boolean endEarlierUnheard(Heartbeat beat) {
    boolean any = false;
    for (UnheardMember run : unheardNamed(beat.member())) {
      // A run whose birth is unknown may be the later one: it keeps its shards until it times out.
      if (run.bornMillis() != null) {
        endings.add(run.instance(), Cause.REPLACED);
        removeUnheard(run.name(), run.instance());
        any = true;
      }
    }
    return any;
  }

  /** Adds a run that the registry or a lease names, unless it is known already. */
  boolean sighted(UnheardMember run) {
    Member member = live.get(run.name());
    boolean known =
        endings.of(run.instance()) != null
            || member != null && member.instance().equals(run.instance())
            || isUnheard(run.name(), run.instance());
    if (!known) {
      unheard.computeIfAbsent(run.name(), name -> new TreeMap<>()).put(run.instance(), run);
      named(run.instance(), run.name());
    }
    return !known;
  }

  /** Removes a run that leaves; null if it was not there, or is absent now. */
  Ended leave(Heartbeat beat, long nowMillis) {
    Ended ended = new Ended(beat.member(), beat.instance(), causeOf(beat));
    Heartbeat.Wishes wishes = wishes(beat.member(), beat.instance());
    if (wishes != null && beat.policy().isLevel() && !beat.diedOf().isEmpty()) {
      diedOf.put(beat.instance(), beat.diedOf());
    }
    remove(ended);
    endings.add(beat.instance(), ended.cause());
    return wishes == null || becomesAbsent(ended, wishes, nowMillis) ? null : ended;
  }

  /** Why a run leaves. */
  static Cause causeOf(Heartbeat leaving) {
    return leaving.diedOf().isEmpty() ? Cause.LEAVE : Cause.EXPIRED;
  }

  /**
   * Mode level: the messages that a run had in hand when it left, and may have died of. Returns
   * them once.
   */
  public List<MessageId> takeDiedOf(String instance) {
    List<MessageId> messages = diedOf.remove(instance);
    return messages == null ? List.of() : messages;
  }

  /** Removes all runs that have timed out. */
  List<Ended> expire(long nowMillis) {
    if (live.isEmpty() && unheard.isEmpty() && absent.isEmpty()) {
      return List.of();
    }
    List<Ended> ended = new ArrayList<>();
    for (Member member : live.values()) {
      if (member.timedOut(nowMillis)) {
        ended.add(new Ended(member.name(), member.instance(), Cause.TIMEOUT));
      }
    }
    for (UnheardMember run : unheard()) {
      if (nowMillis >= run.untilMillis()) {
        ended.add(new Ended(run.name(), run.instance(), Cause.TIMEOUT));
      }
    }
    end(ended, nowMillis);
    for (Absent each : List.copyOf(absent.values())) {
      if (nowMillis >= each.untilMillis()) {
        absent.remove(each.ended().name());
        ended.add(each.ended());
      }
    }
    return ended;
  }

  /** Removes the live member of that name as if it had timed out. */
  List<Ended> expire(String name, long nowMillis) {
    List<Ended> ended = new ArrayList<>();
    Member member = live.get(name);
    if (member != null) {
      ended.add(new Ended(name, member.instance(), Cause.TIMEOUT));
    }
    end(ended, nowMillis);
    return ended;
  }

  /**
   * Removes all runs whose cluster member or session is among {@code departed}. A run that may only
   * be cut off, and may still start handlers, stays until it times out.
   */
  List<Ended> clusterMembersLeft(Set<String> departed, long nowMillis) {
    List<Ended> ended = new ArrayList<>();
    for (Member member : live.values()) {
      String place = member.beat().clusterMember();
      boolean heardLately = nowMillis - member.heardMillis() < HEARD_LATELY_MILLIS;
      if (place != null
          && departed.contains(place)
          && (heardLately || !outlastsSilence(member.beat().memberTimeoutMillis()))) {
        ended.add(new Ended(member.name(), member.instance(), Cause.MEMBER_LEFT));
      }
    }
    for (UnheardMember run : unheard()) {
      if (run.clusterMember() != null
          && departed.contains(run.clusterMember())
          && !outlastsSilence(run.timeoutMillis())) {
        ended.add(new Ended(run.name(), run.instance(), Cause.MEMBER_LEFT));
      }
    }
    end(ended, nowMillis);
    return ended;
  }

  /** Whether the cluster member or session of any run is this one. */
  boolean anyIn(String clusterMember) {
    return live.values().stream().anyMatch(m -> clusterMember.equals(m.beat().clusterMember()))
        || unheard().stream().anyMatch(run -> clusterMember.equals(run.clusterMember()));
  }

  /** Whether a member may still start handlers when the cluster removes it for its silence. */
  private static boolean outlastsSilence(long memberTimeoutMillis) {
    return memberTimeoutMillis > CLUSTER_SILENCE_MILLIS;
  }

  /** Removes those runs; those that become absent are no longer among {@code ended}. */
  private void end(List<Ended> ended, long nowMillis) {
    for (Ended each : List.copyOf(ended)) {
      Heartbeat.Wishes wishes = wishes(each.name(), each.instance());
      long lockMillis = wishes == null ? 0 : wishes.crashLockTimeMillis();
      endings.add(
          each.instance(), each.cause(), lockMillis == 0 ? Long.MIN_VALUE : nowMillis + lockMillis);
      remove(each);
      if (wishes != null && becomesAbsent(each, wishes, nowMillis)) {
        ended.remove(each);
      }
    }
  }

  private void remove(Ended ended) {
    Long born = born(ended);
    if (born != null) {
      endedBorn.put(ended.name(), Math.max(born, endedBorn.getOrDefault(ended.name(), born)));
    }
    removeUnheard(ended.name(), ended.instance());
    Member member = live.get(ended.name());
    if (member != null && member.instance().equals(ended.instance())) {
      drop(ended.name());
    }
  }

  /** When the run began; null: that is not known. */
  private Long born(Ended ended) {
    Member member = live.get(ended.name());
    if (member != null && member.instance().equals(ended.instance())) {
      return member.beat().bornMillis();
    }
    UnheardMember run = unheard.getOrDefault(ended.name(), Map.of()).get(ended.instance());
    return run == null ? null : run.bornMillis();
  }

  /**
   * Keeps its place for a later run, if it wished for that and no other run of its name is here.
   */
  private boolean becomesAbsent(Ended ended, Heartbeat.Wishes wishes, long nowMillis) {
    boolean waits =
        wishes.graceMillis() > 0
            && !live.containsKey(ended.name())
            && !unheard.containsKey(ended.name());
    if (waits) {
      absent.put(ended.name(), new Absent(ended, nowMillis + wishes.graceMillis()));
    }
    return waits;
  }

  /** What a run that counts as alive has wished for: a later one may wish for something else. */
  private Heartbeat.Wishes wishes(String name, String instance) {
    Member member = live.get(name);
    if (member != null && member.instance().equals(instance)) {
      return member.beat().wishes();
    }
    UnheardMember run = unheard.getOrDefault(name, Map.of()).get(instance);
    return run == null ? null : run.wishes();
  }

  /** Whether another user's program has sent the heartbeats of this run so far. */
  boolean ofAnother(Heartbeat beat) {
    String user = userOf(beat);
    return user != null && !user.equals(beat.user());
  }

  /** The user to whom the run belongs, whatever name the heartbeat gives it; null: unknown. */
  private String userOf(Heartbeat beat) {
    String instance = beat.instance();
    Member member = live.get(beat.member());
    if (member != null && member.instance().equals(instance)) {
      return member.beat().user();
    }
    // Only the first heartbeat of a run comes here.
    for (String name : names.getOrDefault(instance, NO_NAMES)) {
      Member other = live.get(name);
      if (other != null && other.instance().equals(instance)) {
        return other.beat().user();
      }
    }
    for (String name : names.getOrDefault(instance, NO_NAMES)) {
      UnheardMember run = unheard.getOrDefault(name, Map.of()).get(instance);
      if (run != null) {
        return run.user();
      }
    }
    return null;
  }

  /** Whether shards wait for a later run of any member. */
  boolean anyAbsent() {
    return !absent.isEmpty();
  }

  /** Whether the shards of that member wait for a later run. */
  boolean isAbsent(String name) {
    return absent.containsKey(name);
  }

  /** The live member of that name, or null. */
  public Member live(String name) {
    return live.get(name);
  }

  public Collection<Member> live() {
    return live.values();
  }

  /** Runs that count as alive though they were not heard. */
  public List<UnheardMember> unheard() {
    return unheard.isEmpty()
        ? List.of()
        : unheard.values().stream().flatMap(runs -> runs.values().stream()).toList();
  }

  boolean anyUnheard() {
    return !unheard.isEmpty();
  }

  boolean isUnheard(String name, String instance) {
    return unheard.getOrDefault(name, Map.of()).containsKey(instance);
  }

  /** Whether this run has subscribed before to a topic that it names, as far as is known. */
  boolean reads(Heartbeat beat, String topic) {
    Member member = live.get(beat.member());
    if (member != null && member.instance().equals(beat.instance())) {
      return member.beat().topics().contains(topic);
    }
    UnheardMember run = unheard.getOrDefault(beat.member(), Map.of()).get(beat.instance());
    return run != null && run.mayRead(topic);
  }

  /** Whether a run of another member than {@code name} counts as alive. */
  boolean othersThan(String name) {
    return live.size() > (live.containsKey(name) ? 1 : 0)
        || unheard.size() > (unheard.containsKey(name) ? 1 : 0);
  }

  boolean isEmpty() {
    return live.isEmpty() && unheard.isEmpty();
  }
}
