package dev.evenkeel.model;

import dev.evenkeel.api.GroupView.Shard.Skips;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.Delivery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a user may expect of the product: a topic is a list of messages, a group is what it has
 * begun and finished of them. It knows no node, no owner and no protocol. Whoever plays a user says
 * what was asked, what was answered and what handlers got; the model says what was wrong, and what
 * is still missing. Moments are numbers that grow with each event.
 */
public final class UserModel {
  /** How long after the answer to a pause handlers may still begin, in milliseconds. */
  private static final long PAUSE_MILLIS_MAX = 3_000;

  /** Due times are rounded up to steps of so many milliseconds. */
  private static final long DUE_STEP_MILLIS = 10;

  /** Each death takes seconds: so a run has two messages at most that kill. */
  private static final int DEADLY_BELOW = 302;

  /** A message that kills members is not given to more of them. */
  private static final int DEATHS_MAX = Kind.CRASHES_MAX + 4;

  /** What is known of a message that was sent. */
  public enum Fate {
    SENDING,
    STORED,
    REFUSED,
    UNKNOWN
  }

  /** A topic, from its creation to its deletion. A topic of the same name later is another one. */
  public static final class Topic {
    public final String name;
    public final List<Sent> messages = new ArrayList<>();

    /** What all groups have consumed may be dropped. */
    public boolean drops;

    /** What no group has consumed may be dropped. */
    public boolean limited;

    public boolean deleted;

    /** How many shards take messages; null: it is not known. */
    public Integer shardsNow;

    /** How often it got other shards, at most, and once more. */
    public int layouts = 1;

    /** The shards of each key. */
    private final Map<String, Set<Integer>> shards = new HashMap<>();

    public Topic(String name) {
      this.name = name;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** A message. */
  public static final class Sent {
    final int id;
    public final Topic topic;
    public final String key;
    final String tag;

    /** Which of several producers sent it: there is no order between them. */
    final String way;

    /** Its handlers fail always. */
    final boolean poison;

    /** Its first handler of each group fails. */
    final boolean flaky;

    /** It kills members of groups that take care of such messages. */
    final boolean deadly;

    /** Not delivered before; 0: at once. In milliseconds of the wall clock. */
    final long dueMillis;

    private final long askedAt;
    private long storedAt = Long.MAX_VALUE;
    private long storedMillis = Long.MAX_VALUE;
    public Fate fate = Fate.SENDING;

    /** Its place once it is in a shard, or -1. */
    private int shard = -1;

    private long offset = -1;

    /** The id under which it waits for its time, or null. */
    public String delayedId;

    /** Somebody asked to cancel it. */
    public boolean cancelAsked;

    /** Nobody knows whether that was done. */
    private boolean cancelUnsure;

    /** It was cancelled: nobody gets it. */
    private boolean cancelled;

    private Sent(
        int id, Topic topic, String key, String tag, String way, long dueMillis, long askedAt) {
      this.id = id;
      this.topic = topic;
      this.key = key;
      this.tag = tag;
      this.way = way;
      poison = id % 17 == 11;
      flaky = id % 13 == 5;
      deadly = id % 151 == 23 && id < DEADLY_BELOW;
      this.dueMillis = dueMillis;
      this.askedAt = askedAt;
    }

    public int id() {
      return id;
    }

    /** Whether it is before another one in the order of its key. */
    private boolean isBefore(Sent other) {
      if (shard >= 0 && shard == other.shard) {
        return offset < other.offset;
      }
      return way.equals(other.way) && storedAt < other.askedAt && dueMillis + other.dueMillis == 0;
    }

    @Override
    public String toString() {
      String place = shard < 0 ? "" : " at " + shard + "/" + offset;
      return topic + "#" + id + (key == null ? "" : " key " + key) + " " + fate + place;
    }
  }

  /** How a handler got a message. */
  public record Got(String member, int shard, long offset, long epoch, int attempt) {
    public static Got of(Delivery delivery) {
      return new Got(
          delivery.member(),
          delivery.shard(),
          delivery.offset(),
          delivery.epoch(),
          delivery.attempt());
    }
  }

  /** A shard that a group reads. */
  private record Shard(Topic topic, int number) {}

  /** From a shard of inputs to one of outputs. */
  private record Way(Shard from, int to) {}

  /** Who got a shard last, and under which epoch; or who led, and at which term. */
  private record Owner(String member, long epoch) {}

  /** From where a group reads a topic. */
  private record Floor(boolean earliest, long askedAt, long doneAt) {}

  /** What became of a message in a group. */
  private static final class Work {
    /** How many handlers began. */
    private int begun;

    private long lastBegunAt = -1;

    /** When it was finished last, or -1. */
    private long doneAt = -1;

    /** A handler ended well. */
    private boolean well;

    private long declinedAt = -1;

    /** How many handlers have it now. */
    private int running;

    private int failures;

    /** Somebody put it back, or dropped it, as a dead letter. */
    private boolean letterTouched;

    /** Where what was published for it is. */
    private final Set<String> outputs = new HashSet<>();
  }

  /** What an owner holds as the state of a shard: numbers of messages. */
  private record Kept(Object owner, Set<Integer> ids) {}

  /** A group of consumers; in mode broadcast one member of it. */
  public static final class Group {
    public final String name;
    public final Kind kind;
    private final Map<Topic, Floor> floors = new LinkedHashMap<>();
    private final Map<Sent, Work> works = new HashMap<>();

    /** What it had begun of topics that it unsubscribed from: it may begin it again. */
    private final Set<Sent> forgotten = new HashSet<>();

    /** When pauses were answered, in milliseconds of the wall clock, by topic; null: of all. */
    private final Map<Topic, Long> paused = new HashMap<>();

    private final Map<String, Bucket> buckets = new HashMap<>();
    private final Map<Shard, Owner> owners = new HashMap<>();

    private final Map<Shard, Long> committed = new HashMap<>();
    private final Levels levels = new Levels();
    private final Deaths deaths = new Deaths();

    /**
     * What was overtaken, and how: members have died, perhaps of it, so it may be a dead letter.
     */
    private final Map<Sent, String> overtaken = new HashMap<>();

    /** Where what was published is, by the offset of its input. */
    private final Map<Way, TreeMap<Long, Long>> published = new HashMap<>();

    /** In mode singleton: who leads, or led last. */
    private Owner leader;

    private boolean leads;

    /** The states of shards that members own. */
    private final Map<String, Kept> kept = new HashMap<>();

    /**
     * Members were given up while they ran: messages may come again, and to two members at once.
     */
    public boolean shaken;

    /** When that was last so, in milliseconds of the wall clock: they may have missed a pause. */
    private long shakenMillis;

    /** Some of its members do nothing at the moment, and hear nothing. */
    private boolean standsStill;

    /** Offsets were reset: what was done may come again. */
    private boolean reset;

    /** Dead letters were put back, and begin anew. */
    public boolean replayed;

    /** What was known of shocks when it was last asked. */
    int shocks;

    /** Members consume over HTTP: between an answer and its reader there is time. */
    boolean overHttp;

    public Group(String name, Kind kind) {
      this.name = name;
      this.kind = kind;
    }

    /** The group of this name and kind that comes after it is deleted. */
    public Group next() {
      Group next = new Group(name, kind);
      next.leader = leader;
      next.owners.putAll(owners);
      return next;
    }

    public Set<Topic> topics() {
      return floors.keySet();
    }

    @Override
    public String toString() {
      return name + " (" + kind + ")";
    }
  }

  private final List<String> faults = new ArrayList<>();
  private final Map<Integer, Sent> byId = new HashMap<>();
  private long moment;
  private int nextId;

  public synchronized long moment() {
    return ++moment;
  }

  public synchronized void fault(Promise broken, String what) {
    faults.add(broken + ": " + what);
  }

  public synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  // ---- What is sent

  public synchronized Sent sending(
      Topic topic, String key, String tag, String way, long dueMillis) {
    Sent sent = new Sent(nextId++, topic, key, tag, way, dueMillis, moment());
    byId.put(sent.id, sent);
    topic.messages.add(sent);
    return sent;
  }

  /**
   * @param offset -1: it is stored, and nobody knows any more where
   * @param delayedId null: it has its place
   */
  public synchronized void stored(
      Sent sent, int shard, long offset, String delayedId, long nowMillis) {
    sent.fate = Fate.STORED;
    sent.storedAt = moment();
    sent.storedMillis = nowMillis;
    sent.delayedId = delayedId;
    if (delayedId == null && offset >= 0) {
      at(sent, shard, offset);
    }
  }

  private void at(Sent sent, int shard, long offset) {
    if (sent.offset >= 0 && (sent.shard != shard || sent.offset != offset)) {
      fault(Promise.STORED_ONCE, sent + " is also at " + shard + "/" + offset);
    }
    boolean first = sent.offset < 0;
    sent.shard = shard;
    sent.offset = offset;
    if (first) {
      checkPlace(sent);
    }
  }

  private void checkPlace(Sent sent) {
    Topic topic = sent.topic;
    if (sent.key != null) {
      Set<Integer> shards = topic.shards.computeIfAbsent(sent.key, any -> new HashSet<>());
      shards.add(sent.shard);
      if (shards.size() > topic.layouts) {
        fault(Promise.ONE_SHARD_A_KEY, sent + ": its key is in " + shards);
      }
    }
    for (Sent other : topic.messages) {
      if (other.shard == sent.shard && other.offset >= 0 && other != sent) {
        Sent before = other.offset < sent.offset ? other : sent;
        Sent after = before == sent ? other : sent;
        if (wereSentOneAfterTheOther(after, before)) {
          fault(Promise.SENT_IN_ORDER, before + " is before " + after);
        } else if (isDueFirst(after, before)) {
          fault(Promise.DELAYED_ORDER, before + " is before " + after);
        }
      }
    }
  }

  /**
   * Whether one producer sent both. Of two with the same due time, one may have come after that
   * time, and did not wait.
   */
  private static boolean wereSentOneAfterTheOther(Sent one, Sent other) {
    boolean bothWait = (one.delayedId == null) == (other.delayedId == null);
    boolean sameTime = one.dueMillis == other.dueMillis && bothWait;
    boolean sameWay = one.way.equals(other.way) && one.fate == other.fate;
    return one.id < other.id && sameTime && sameWay && one.key != null && one.key.equals(other.key);
  }

  /** Whether one was due before the other, and waited with it. */
  private static boolean isDueFirst(Sent one, Sent other) {
    return one.topic.layouts == 1
        && one.delayedId != null
        && other.delayedId != null
        && one.dueMillis + DUE_STEP_MILLIS <= other.dueMillis
        && one.storedMillis < other.dueMillis;
  }

  public synchronized void notStored(Sent sent, boolean perhaps) {
    sent.fate = perhaps ? Fate.UNKNOWN : Fate.REFUSED;
  }

  /**
   * @param done null: it is not known
   */
  public synchronized void cancelled(Sent sent, Boolean done) {
    sent.cancelled |= done != null && done;
    sent.cancelUnsure |= done == null;
  }

  public synchronized boolean isCancelled(Sent sent) {
    return sent.cancelled;
  }

  /** A message, or null. */
  public synchronized Sent sent(int id) {
    return byId.get(id);
  }

  // ---- Groups

  /** A group reads a topic from now on. */
  public synchronized void reads(Group group, Topic topic, long askedAt) {
    group.floors.putIfAbsent(topic, new Floor(group.kind.earliest(), askedAt, moment()));
  }

  /** Whether a topic of the group was deleted. */
  public synchronized boolean readsWhatIsGone(Group group) {
    return group.floors.keySet().stream().anyMatch(topic -> topic.deleted);
  }

  /** Those names and patterns of which the group reads a topic that is there, or may read one. */
  public synchronized List<String> there(Group group, List<String> names) {
    return names.stream()
        .filter(
            name ->
                group.floors.keySet().stream().noneMatch(topic -> topic.name.equals(name))
                    || group.floors.keySet().stream()
                        .anyMatch(topic -> topic.name.equals(name) && !topic.deleted))
        .toList();
  }

  public synchronized void reset(Group group, Topic topic, boolean earliest, long askedAt) {
    group.floors.put(topic, new Floor(earliest, askedAt, moment()));
    group.overtaken.clear();
    group.reset = true;
  }

  /** A reset may have been done or not: any message may come again, and none must. */
  public synchronized void unsure(Group group, Topic topic) {
    group.floors.put(topic, new Floor(false, 0, Long.MAX_VALUE));
    group.committed.clear();
    group.overtaken.clear();
    group.reset = true;
  }

  /** Members may have been given up while they ran, and may not have heard what was asked. */
  public synchronized void shake(Group group, long nowMillis) {
    group.shaken = true;
    group.shakenMillis = nowMillis;
  }

  /** Members do nothing from now on, or go on. */
  public synchronized void standStill(Group group, boolean still, long nowMillis) {
    group.standsStill = still;
    shake(group, nowMillis);
  }

  /** Nobody of the group reads the topic any more, and what the group knew of it is gone. */
  public synchronized void forgets(Group group, Topic topic) {
    group.floors.remove(topic);
    group.works.keySet().stream().filter(sent -> sent.topic == topic).forEach(group.forgotten::add);
    group.works.keySet().removeIf(sent -> sent.topic == topic);
    group.committed.keySet().removeIf(shard -> shard.topic == topic);
    group.paused.remove(topic);
    group.shaken = true;
  }

  /**
   * @param topic null: all
   */
  public synchronized void paused(Group group, Topic topic, long nowMillis) {
    group.paused.put(topic, nowMillis);
  }

  public synchronized void resumed(Group group, Topic topic) {
    if (topic == null) {
      group.paused.clear();
    } else {
      group.paused.remove(topic);
    }
  }

  public synchronized void lettersTouched(Group group) {
    group.replayed = true;
    for (Map.Entry<Sent, Work> each : group.works.entrySet()) {
      each.getValue().letterTouched |= each.getKey().poison || group.kind.care();
    }
  }

  // ---- What handlers get

  /**
   * A handler begins.
   *
   * @param intact key and payload are those that were sent
   * @return whether it is to end well; null: the message is not known
   */
  public synchronized Boolean begins(Group group, int id, boolean intact, Got got, long nowMillis) {
    Sent sent = byId.get(id);
    if (sent == null) {
      fault(Promise.CONTENT, group + " got a message that nobody sent: " + id);
      return null;
    }
    at(sent, got.shard, got.offset);
    Work work = group.works.computeIfAbsent(sent, any -> new Work());
    if (!intact) {
      fault(Promise.CONTENT, group + " got " + sent + " with another key or payload");
    }
    check(group, sent, work, nowMillis);
    checkGot(group, sent, work, got);
    checkRate(group, sent, got, nowMillis);
    group.levels.begins(got.member);
    work.begun++;
    work.lastBegunAt = moment();
    work.running++;
    return !(sent.poison || sent.flaky && work.failures == 0);
  }

  /**
   * Whether the message kills the member that has just begun it. With dedup, nobody gets it before
   * the handler of who died before has said something: there, nobody dies. Nor does anybody die of
   * what the group has finished, which comes again to build up a state: that is not counted.
   */
  public synchronized boolean kills(Group group, String member, int id) {
    Sent sent = byId.get(id);
    if (sent == null || !sent.deadly || !group.kind.care() || group.kind.dedup() != Dedup.OFF) {
      return false;
    }
    Work work = group.works.get(sent);
    Floor floor = group.floors.get(sent.topic);
    if (floor == null || work.doneAt > floor.askedAt) {
      return false;
    }
    int deaths = group.deaths.begins(sent, shardOf(sent), member, moment());
    if (deaths >= DEATHS_MAX) {
      fault(Promise.DEADLY, group + " got " + sent + " after " + deaths + " deaths");
      return false;
    }
    group.shaken = true;
    return true;
  }

  /**
   * A member is given up while it has a message that kills it, and nobody has asked for its shard.
   * The death counts once another member gets the message: one that comes back before that goes on
   * with its shards, as if it had been away.
   */
  public synchronized void dies(Group group, String member, int id) {
    Sent sent = byId.get(id);
    Work work = group.works.get(sent);
    if (work != null && work.running > 0) {
      group.deaths.dies(sent, member);
    }
  }

  /** Members may have lost what they had: deaths are held against a message anew. */
  public synchronized void restarted(Group group, long nowMillis) {
    shake(group, nowMillis);
    group.deaths.forget();
  }

  /** How many handlers of the group have begun the message. */
  public synchronized int begun(Group group, int id) {
    Work work = group.works.get(byId.get(id));
    return work == null ? 0 : work.begun;
  }

  private void check(Group group, Sent sent, Work work, long nowMillis) {
    Kind kind = group.kind;
    String who = group + " got " + sent;
    if (sent.fate == Fate.REFUSED) {
      fault(Promise.REFUSED, who);
    }
    if (sent.cancelled) {
      fault(Promise.CANCELLED, who);
    }
    if (nowMillis < sent.dueMillis) {
      fault(Promise.IN_TIME, who + " " + (sent.dueMillis - nowMillis) + " ms before its time");
    }
    if (!kind.takes(sent.tag)) {
      fault(Promise.FILTERED, who + " with the tag " + sent.tag);
    }
    for (Topic topic : new Topic[] {null, sent.topic}) {
      long paused = Math.max(group.shakenMillis, group.paused.getOrDefault(topic, nowMillis));
      long since = nowMillis - paused;
      // In mode level, a pause of one topic lets members handle what they have in hand. At most
      // once, they handle what is committed before its shard goes to another member.
      boolean handles = topic != null && kind.mode() == Mode.LEVEL || kind.atMostOnce();
      boolean inHand = handles && sent.storedMillis < paused + PAUSE_MILLIS_MAX;
      // The pauses of a topic go with it; who hears nothing may still have messages of it.
      boolean goes = topic != null && topic.deleted && group.shaken;
      if (since > PAUSE_MILLIS_MAX && !inHand && !goes && !group.standsStill) {
        fault(Promise.PAUSED, who + " while it is paused since " + since + " ms");
      }
    }
    if (work.running > 0 && !group.shaken && !group.reset) {
      fault(Promise.ONE_AT_A_TIME, who + " while another handler has it");
    }
    if (kind.atMostOnce() && work.begun > 0 && !group.reset) {
      fault(Promise.AT_MOST_ONCE, who + " again");
    }
    boolean plain = isPlain(group, work);
    if (work.well && plain && kind.repeatsNothing() && !isHeldUp(group, sent)) {
      fault(Promise.NOT_AGAIN, who + ", which it had finished");
    }
    int attempts = kind.attempts() + (kind.mode() == Mode.LEVEL ? 1 : 0);
    if (kind.triesAgain() && plain && work.failures >= attempts) {
      fault(Promise.ATTEMPTS, who + " after " + work.failures + " attempts have failed");
    }
    Floor floor = group.floors.get(sent.topic);
    if (floor != null && floor.doneAt < moment) {
      checkFloor(group, sent, work, floor, who, nowMillis);
    }
    if (kind.dedup() == Dedup.KEY && sent.key != null && !group.shaken && !group.reset) {
      checkAlone(group, sent, who);
    }
  }

  /**
   * Whether a message before it in its shard keeps failing. In mode level, what is finished behind
   * it is known only to the dispatcher and to members that are still there.
   */
  private static boolean isHeldUp(Group group, Sent sent) {
    return group.kind.mode() == Mode.LEVEL
        && sent.topic.messages.stream()
            .filter(other -> other.shard == sent.shard && other.offset < sent.offset)
            .map(group.works::get)
            .anyMatch(work -> work != null && work.failures > 0);
  }

  private void checkFloor(
      Group group, Sent sent, Work work, Floor floor, String who, long nowMillis) {
    // What failed before, and what waited behind it, is still tried.
    Kind kind = group.kind;
    boolean again = work.failures > 0 || work.letterTouched;
    boolean retried = again || group.reset && kind.order() == Order.KEY;
    // Who was given up and has not heard of a reset may begin what it has in hand.
    boolean unaware = nowMillis - group.shakenMillis < PAUSE_MILLIS_MAX;
    if (!floor.earliest
        && !retried
        && !unaware
        && sent.storedAt < floor.askedAt
        && sent.dueMillis == 0) {
      fault(Promise.FROM_LATEST, who + ", which was there before");
    }
    boolean byKey = kind.order() == Order.KEY;
    if (!kind.keepsOrder() || byKey && sent.key == null || mayLose(group)) {
      return;
    }
    for (Sent before : sent.topic.messages) {
      boolean goesBefore =
          byKey
              ? sent.key.equals(before.key) && before.isBefore(sent)
              : before.shard == sent.shard && before.offset < sent.offset && before.offset >= 0;
      Work former = group.works.get(before);
      if (goesBefore
          && before != sent
          && !before.poison
          && !(before.deadly && group.kind.care())
          && isWanted(group, before)
          && (former == null || former.doneAt < floor.askedAt)) {
        String overtaken = who + " before " + before;
        if (!kind.care() || !group.shaken) {
          fault(byKey ? Promise.ORDER_OF_KEYS : Promise.ORDER_OF_SHARDS, overtaken);
          return;
        }
        group.overtaken.putIfAbsent(before, overtaken);
      }
    }
  }

  /** At most once, what a member had in hand when it went is lost. */
  private static boolean mayLose(Group group) {
    return group.kind.atMostOnce() && (group.shaken || group.reset);
  }

  /** No other message of its key is at work. */
  private void checkAlone(Group group, Sent sent, String who) {
    group.works.forEach(
        (other, work) -> {
          if (work.running > 0 && other.topic == sent.topic && sent.key.equals(other.key)) {
            fault(Promise.DEDUP_ONE, who + " while a handler has " + other);
          }
        });
  }

  /** Its epoch and its attempt are as they must be. */
  private void checkGot(Group group, Sent sent, Work work, Got got) {
    String who = group + " got " + sent + " as " + got;
    if (group.kind.mode() == Mode.BROADCAST) {
      if (got.epoch != 1) {
        fault(Promise.EPOCH_OF_BROADCAST, who);
      }
      return;
    }
    Owner former =
        group.owners.put(new Shard(sent.topic, got.shard), new Owner(got.member, got.epoch));
    if (former != null && !isAfter(group, former, got)) {
      fault(Promise.EPOCHS_GROW, who + " after " + former);
    }
    int expected = group.kind.triesAgain() ? work.failures + 1 : 1;
    boolean lower = got.attempt < expected && group.kind.mode() != Mode.LEVEL;
    if (isPlain(group, work) && (got.attempt > expected || lower)) {
      fault(Promise.ATTEMPT_NUMBERS, who + " instead of " + expected);
    }
  }

  /** Whether its epoch is that of the same owner, or a higher one. */
  private static boolean isAfter(Group group, Owner former, Got got) {
    boolean sameOwner = former.member.equals(got.member) || group.kind.mode() == Mode.LEVEL;
    return got.epoch > former.epoch || got.epoch == former.epoch && sameOwner || group.shaken;
  }

  /** Nothing has happened by which messages may come again. */
  private static boolean isPlain(Group group, Work work) {
    return !group.shaken && !group.reset && !work.letterTouched;
  }

  private void checkRate(Group group, Sent sent, Got got, long nowMillis) {
    // Buckets are of a member, or of a key as long as a member has its shard.
    String whose =
        switch (group.kind.limit()) {
          case NONE -> null;
          case GROUP_RATE -> "";
          case RATE -> got.member;
          case KEY_RATE, DROP_NEWEST, DROP_OLDEST ->
              sent.key == null ? null : got.epoch + got.member + sent.topic + " " + sent.key;
        };
    if (whose != null
        && !group
            .buckets
            .computeIfAbsent(whose, any -> new Bucket())
            .begins(group.kind.rate(), nowMillis)) {
      fault(Promise.RATE, group + " begins more than it may: " + sent);
    }
  }

  public synchronized void ends(Group group, String member, int id, boolean well) {
    Work work = group.works.get(byId.get(id));
    if (work == null) {
      return;
    }
    work.running--;
    group.deaths.ends(byId.get(id), member);
    work.well |= well;
    if (!well) {
      work.failures++;
    }
    if (well && group.kind.mode() == Mode.LEVEL && !group.overHttp) {
      long ahead = group.levels.finishes(member);
      if (ahead > Kind.RANGE && !group.shaken) {
        fault(Promise.LEVEL, member + " of " + group + " is ahead by " + ahead);
      }
    }
    if (well || !group.kind.triesAgain()) {
      if (work.doneAt < 0) {
        group.deaths.progresses(shardOf(byId.get(id)), moment());
      }
      work.doneAt = moment();
    }
  }

  private static Shard shardOf(Sent sent) {
    return new Shard(sent.topic, sent.shard);
  }

  /** A member asks to join. */
  public synchronized void joins(Group group, String member) {
    group.levels.joins(member);
  }

  /** A member asks to leave. */
  public synchronized void leaves(Group group, String member) {
    group.levels.leaves(member);
  }

  /** A member begins to lead. */
  public synchronized void leads(Group group, String member, long term) {
    Owner next = new Owner(member, term);
    Owner former = group.leader;
    if (former != null && term <= former.epoch && !next.equals(former)) {
      fault(Promise.TERMS_GROW, group + " is led by " + next + " after " + former);
    }
    if (group.leads && !next.equals(former) && !group.shaken) {
      fault(Promise.ENDS_FIRST, group + " is led by " + next + " while it is by " + former);
    }
    group.leader = next;
    group.leads = true;
  }

  /** A member leads no longer. */
  public synchronized void hasLed(Group group, String member) {
    group.leads &= !group.leader.member.equals(member);
  }

  /** A member that is to lead gets a message. */
  public synchronized void executes(Group group, String member) {
    boolean leads = group.leads && group.leader.member.equals(member);
    if (!leads && !group.shaken) {
      fault(Promise.ENDS_FIRST, member + " works for " + group + ", which it does not lead");
    }
  }

  /** An answer said how far the group has come in a shard. */
  public synchronized void committed(Group group, Topic topic, int number, long offset) {
    Long before = group.committed.put(new Shard(topic, number), offset);
    if (before != null && before > offset) {
      fault(
          Promise.COMMITTED,
          group + " was at " + place(topic.name, number, before) + ", and now at " + offset);
    }
    if (!group.kind.commitsInOrder()) {
      return;
    }
    for (Sent sent : topic.messages) {
      if (sent.shard == number
          && sent.offset >= 0
          && sent.offset < offset
          && isWanted(group, sent)
          && !group.works.containsKey(sent)) {
        fault(Promise.COMMITTED, group + " is at " + offset + ", and never got " + sent);
        return;
      }
    }
  }

  /** An owner gets a shard with this state. */
  public synchronized void owns(Group group, String shard, Object owner, Set<Integer> ids) {
    group.kept.put(shard, new Kept(owner, Set.copyOf(ids)));
  }

  /** An owner has this as the state of a shard. One that was given up meanwhile does not count. */
  public synchronized void kept(Group group, String shard, Object owner, Set<Integer> ids) {
    Kept kept = group.kept.get(shard);
    if (kept != null && kept.owner == owner) {
      owns(group, shard, owner, ids);
    }
  }

  /** An owner does not have the shard any more. */
  public synchronized void releases(Group group, String shard, Object owner) {
    Kept kept = group.kept.get(shard);
    if (kept != null && kept.owner == owner) {
      group.kept.remove(shard);
    }
  }

  /** A message is finished without its handler: by dedup, or since its rate drops it. */
  public synchronized void declined(Group group, int id) {
    group.works.computeIfAbsent(byId.get(id), any -> new Work()).declinedAt = moment();
  }

  /** Somebody has seen what a handler published for a message. */
  public synchronized void published(Group group, int id, String topic, int shard, long offset) {
    Sent sent = byId.get(id);
    Work work = group.works.get(sent);
    boolean forgotten = group.forgotten.contains(sent);
    if (work == null && !forgotten) {
      fault(Promise.OUTPUTS, group + " published for " + sent + ", which it has not begun");
    }
    if (work == null) {
      return;
    }
    work.outputs.add(topic + "/" + shard + "/" + offset);
    if (sent.poison) {
      fault(Promise.NO_OUTPUTS, group + " published for " + sent + ", which fails");
    }
    if (forgotten || group.reset || work.letterTouched) {
      return;
    }
    if (work.outputs.size() > 1) {
      fault(Promise.OUTPUTS_ONCE, group + " published for " + sent + " at " + work.outputs);
    }
    TreeMap<Long, Long> places =
        group.published.computeIfAbsent(new Way(shardOf(sent), shard), any -> new TreeMap<>());
    places.put(sent.offset, offset);
    Map.Entry<Long, Long> before = places.lowerEntry(sent.offset);
    Map.Entry<Long, Long> after = places.higherEntry(sent.offset);
    if (before != null && before.getValue() > offset
        || after != null && after.getValue() < offset) {
      fault(
          Promise.OUTPUTS_IN_ORDER,
          group
              + " published for "
              + sent
              + " at "
              + offset
              + " between "
              + before
              + " and "
              + after);
    }
  }

  // ---- What is missing

  /** Whether the group must get a message. */
  private boolean isWanted(Group group, Sent sent) {
    Floor floor = group.floors.get(sent.topic);
    if (floor == null
        || sent.topic.deleted
        || sent.topic.limited
        || sent.fate != Fate.STORED
        || sent.cancelled
        || sent.cancelUnsure
        || !group.kind.takes(sent.tag)) {
      return false;
    }
    // What is dropped does not wait for members in mode broadcast.
    boolean kept = !sent.topic.drops || group.kind.mode() != Mode.BROADCAST;
    return kept && (sent.askedAt > floor.doneAt || floor.earliest && !sent.topic.drops);
  }

  /** Whether a later handler of its key has begun after it was declined. */
  private static boolean isSeen(Group group, Sent sent, Work work) {
    return group.works.entrySet().stream()
        .anyMatch(
            other ->
                other.getValue().lastBegunAt > work.declinedAt
                    && other.getKey().topic == sent.topic
                    && sent.key.equals(other.getKey().key));
  }

  /**
   * What the group has not finished and what is no dead letter of it, in words.
   *
   * @param letters topic, shard and offset of its dead letters
   */
  public synchronized List<String> missing(Group group, Set<String> letters) {
    List<String> missing = new ArrayList<>();
    for (Topic topic : group.floors.keySet()) {
      Floor floor = group.floors.get(topic);
      for (Sent sent : topic.messages) {
        if (isWanted(group, sent) && !isOver(group, sent, floor, letters)) {
          missing.add(sent.toString());
        }
      }
    }
    group.overtaken.forEach(
        (before, how) -> {
          if (isWanted(group, before) && !isDead(group, before, letters)) {
            missing.add(how);
          }
        });
    return missing;
  }

  /** Whether it is a dead letter, or was one. */
  private static boolean isDead(Group group, Sent sent, Set<String> letters) {
    Work work = group.works.get(sent);
    return work != null && work.letterTouched
        || letters.contains(place(sent.topic.name, sent.shard, sent.offset));
  }

  private static boolean isOver(Group group, Sent sent, Floor floor, Set<String> letters) {
    Work work = group.works.get(sent);
    if (mayLose(group)) {
      return true;
    }
    boolean dead = (sent.poison || group.kind.care()) && isDead(group, sent, letters);
    return dead || work != null && (work.doneAt > floor.askedAt || work.declinedAt >= 0);
  }

  /** What was declined or dropped, and no handler of its key has begun since, in words. */
  public synchronized List<String> unseen(Group group) {
    List<String> unseen = new ArrayList<>();
    group.works.forEach(
        (sent, work) -> {
          boolean wanted = work.declinedAt >= 0 && isWanted(group, sent);
          if (wanted && work.doneAt < 0 && !isSeen(group, sent, work)) {
            unseen.add(sent + " was declined");
          }
        });
    return unseen;
  }

  /**
   * What the group never got, and was not said to be dropped, in words.
   *
   * @param skips the {@code first} and {@code last} that were dropped, by topic and shard
   */
  public synchronized List<String> skipped(Group group, Map<String, Skips> skips) {
    List<String> unsaid = new ArrayList<>();
    for (Map.Entry<Topic, Floor> each : group.floors.entrySet()) {
      for (Sent sent : each.getKey().messages) {
        Skips said = skips.get(Handlers.name(sent.topic.name, sent.shard));
        boolean due = sent.fate == Fate.STORED && sent.offset >= 0 && said != null;
        if (due
            && sent.topic.limited
            && sent.askedAt > each.getValue().doneAt
            && group.kind.takes(sent.tag)
            && !group.works.containsKey(sent)
            && !(said.first() <= sent.offset && sent.offset <= said.last())) {
          unsaid.add(sent + " was dropped, and is not in " + said);
        }
      }
    }
    return unsaid;
  }

  /** What the group has finished and not published for, in words; as {@link #missing}. */
  public synchronized List<String> unpublished(Group group, Set<String> letters) {
    List<String> missing = new ArrayList<>();
    if (!group.kind.publishes()) {
      return missing;
    }
    group.works.forEach(
        (sent, work) -> {
          if (isDone(group, sent, work, letters) && work.outputs.isEmpty()) {
            missing.add(sent + " done, but nothing published");
          }
        });
    return missing;
  }

  /**
   * Whether it must have been finished, and was since the group began or was reset. What came again
   * after the death of its owner may have been dropped then, or have become a dead letter.
   */
  private boolean isDone(Group group, Sent sent, Work work, Set<String> letters) {
    return isWanted(group, sent)
        && work.doneAt > group.floors.get(sent.topic).askedAt
        && work.doneAt > work.declinedAt
        && !(group.kind.care() && isDead(group, sent, letters));
  }

  /** What the group has finished and that is in no state of its owners; as {@link #missing}. */
  public synchronized List<String> notKept(Group group, Set<String> letters) {
    List<String> missing = new ArrayList<>();
    if (!group.kind.keepsState()) {
      return missing;
    }
    Set<Integer> state = new HashSet<>();
    group.kept.values().forEach(kept -> state.addAll(kept.ids));
    group.works.forEach(
        (sent, work) -> {
          if (!group.reset && isDone(group, sent, work, letters) && !state.contains(sent.id)) {
            missing.add(sent + " done, but not in the state");
          }
        });
    return missing;
  }

  public static String place(String topic, int shard, long offset) {
    return topic + "/" + shard + "/" + offset;
  }

  /**
   * Dead letters that no message explains. A pattern takes in a topic, too, of which nobody knows
   * whether it was deleted.
   */
  public synchronized Set<String> unexplained(Group group, Set<String> letters) {
    Set<String> left = new HashSet<>(letters);
    for (Sent sent : byId.values()) {
      boolean read =
          group.floors.containsKey(sent.topic) || group.kind.pattern() && sent.topic.deleted;
      boolean fails = sent.poison && group.kind.triesAgain();
      if (read && (fails || sent.fate == Fate.UNKNOWN || group.kind.care() && group.shaken)) {
        left.remove(place(sent.topic.name, sent.shard, sent.offset));
      }
    }
    return left;
  }
}
