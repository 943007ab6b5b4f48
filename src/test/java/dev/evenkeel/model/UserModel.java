package dev.evenkeel.model;

import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a user may expect of the product: a topic is a list of messages, a group is what it has
 * begun and finished of them. It knows no node, no owner and no protocol. Whoever plays a user says
 * what was asked, what was answered and what handlers got; the model says what was wrong, and what
 * is still missing. Moments are numbers that grow with each event.
 */
public final class UserModel {
  /** How long after the answer to a pause handlers may still begin, in milliseconds. */
  private static final long PAUSE_MILLIS_MAX = 3_000;

  /** Over so many milliseconds rates are looked at. */
  private static final long RATE_MILLIS = 3_000;

  /** Tokens that members keep for a moment, and clocks, allow so much more. */
  private static final double RATE_SLACK = 1.25;

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

    /** Not delivered before; 0: at once. In milliseconds of the wall clock. */
    final long dueMillis;

    private final long askedAt;
    private long storedAt = Long.MAX_VALUE;
    public Fate fate = Fate.SENDING;

    /** Its place once it is in a shard, or -1. */
    private int shard = -1;

    private long offset = -1;

    /** The id under which it waits for its time, or null. */
    public String delayedId;

    /** Somebody asked to cancel it. */
    public boolean cancelAsked;

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

  /** From where a group reads a topic. */
  private record Floor(boolean earliest, long askedAt, long doneAt) {}

  /** What became of a message in a group. */
  private static final class Work {
    /** How many handlers began. */
    private int begun;

    private long lastBegunAt = -1;

    /** When it was finished last, or -1. */
    private long doneAt = -1;

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

    /** When pauses were answered, in milliseconds of the wall clock, by topic; null: of all. */
    private final Map<Topic, Long> paused = new HashMap<>();

    private final Deque<Long> begunMillis = new ArrayDeque<>();

    /** The states of shards that members own. */
    private final Map<String, Kept> kept = new HashMap<>();

    /**
     * Members were given up while they ran: messages may come again, and to two members at once.
     */
    public boolean shaken;

    /** Offsets were reset: what was done may come again. */
    private boolean reset;

    /** Members consume over HTTP: between an answer and its reader there is time. */
    boolean overHttp;

    public Group(String name, Kind kind) {
      this.name = name;
      this.kind = kind;
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
   * @param offset -1: it is not known
   * @param delayedId null: it has its place
   */
  public synchronized void stored(Sent sent, int shard, long offset, String delayedId) {
    sent.fate = Fate.STORED;
    sent.storedAt = moment();
    sent.delayedId = delayedId;
    if (delayedId == null && offset >= 0) {
      at(sent, shard, offset);
    }
  }

  private void at(Sent sent, int shard, long offset) {
    if (sent.offset >= 0 && (sent.shard != shard || sent.offset != offset)) {
      fault(Promise.STORED_ONCE, sent + " is also at " + shard + "/" + offset);
    }
    sent.shard = shard;
    sent.offset = offset;
  }

  public synchronized void notStored(Sent sent, boolean perhaps) {
    sent.fate = perhaps ? Fate.UNKNOWN : Fate.REFUSED;
  }

  public synchronized void cancelled(Sent sent, boolean done) {
    sent.cancelled |= done;
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

  public synchronized void reset(Group group, Topic topic, boolean earliest, long askedAt) {
    group.floors.put(topic, new Floor(earliest, askedAt, moment()));
    group.reset = true;
  }

  /** A reset may have been done or not: any message may come again, and none must. */
  public synchronized void unsure(Group group, Topic topic) {
    group.floors.put(topic, new Floor(false, 0, Long.MAX_VALUE));
    group.reset = true;
  }

  /** Nobody of the group reads the topic any more, and what the group knew of it is gone. */
  public synchronized void forgets(Group group, Topic topic) {
    group.floors.remove(topic);
    group.works.keySet().removeIf(sent -> sent.topic == topic);
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
  public synchronized Boolean begins(
      Group group, int id, boolean intact, int shard, long offset, long nowMillis) {
    Sent sent = byId.get(id);
    if (sent == null) {
      fault(Promise.CONTENT, group + " got a message that nobody sent: " + id);
      return null;
    }
    at(sent, shard, offset);
    Work work = group.works.computeIfAbsent(sent, any -> new Work());
    if (!intact) {
      fault(Promise.CONTENT, group + " got " + sent + " with another key or payload");
    }
    check(group, sent, work, nowMillis);
    work.begun++;
    work.lastBegunAt = moment();
    work.running++;
    checkRate(group, nowMillis);
    return !(sent.poison || sent.flaky && work.failures == 0);
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
      long since = nowMillis - group.paused.getOrDefault(topic, nowMillis);
      if (since > PAUSE_MILLIS_MAX) {
        fault(Promise.PAUSED, who + " while it is paused since " + since + " ms");
      }
    }
    if (work.running > 0 && !group.shaken && !group.reset) {
      fault(Promise.ONE_AT_A_TIME, who + " while another handler has it");
    }
    if (kind.atMostOnce() && work.begun > 0 && !group.reset) {
      fault(Promise.AT_MOST_ONCE, who + " again");
    }
    int attempts = kind.attempts() + (kind.mode() == Mode.LEVEL ? 1 : 0);
    boolean plain = !group.shaken && !group.reset && !work.letterTouched;
    if (kind.triesAgain() && plain && work.failures >= attempts) {
      fault(Promise.ATTEMPTS, who + " after " + work.failures + " attempts have failed");
    }
    Floor floor = group.floors.get(sent.topic);
    if (floor != null && floor.doneAt < moment) {
      checkFloor(group, sent, floor, who);
    }
    if (kind.dedup() == Dedup.KEY && sent.key != null && !group.shaken && !group.reset) {
      checkAlone(group, sent, who);
    }
  }

  private void checkFloor(Group group, Sent sent, Floor floor, String who) {
    if (!floor.earliest && sent.storedAt < floor.askedAt && sent.dueMillis == 0) {
      fault(Promise.FROM_LATEST, who + ", which was there before");
    }
    boolean byKey = group.kind.order() == Order.KEY;
    if (!group.kind.keepsOrder() || byKey && sent.key == null) {
      return;
    }
    for (Sent before : sent.topic.messages) {
      boolean goesBefore =
          byKey
              ? sent.key.equals(before.key) && before.isBefore(sent)
              : before.shard == sent.shard && before.offset < sent.offset && before.offset >= 0;
      Work work = group.works.get(before);
      if (goesBefore
          && before != sent
          && !before.poison
          && isWanted(group, before)
          && (work == null || work.doneAt < floor.askedAt)) {
        fault(byKey ? Promise.ORDER_OF_KEYS : Promise.ORDER_OF_SHARDS, who + " before " + before);
        return;
      }
    }
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

  private void checkRate(Group group, long nowMillis) {
    if (group.kind.limit() != Kind.Limit.GROUP_RATE) {
      return;
    }
    Deque<Long> begun = group.begunMillis;
    begun.addLast(nowMillis);
    while (begun.getFirst() < nowMillis - RATE_MILLIS) {
      begun.removeFirst();
    }
    double most = Kind.RATE.permits() * (RATE_MILLIS / 1_000.0 + 1) * RATE_SLACK;
    if (begun.size() > most) {
      fault(Promise.RATE, group + " began " + begun.size() + " messages in " + RATE_MILLIS + " ms");
      begun.clear();
    }
  }

  public synchronized void ends(Group group, int id, boolean well) {
    Work work = group.works.get(byId.get(id));
    if (work == null) {
      return;
    }
    work.running--;
    if (!well) {
      work.failures++;
    }
    if (well || !group.kind.triesAgain()) {
      work.doneAt = moment();
    }
  }

  /** An owner has this as the state of a shard. */
  public synchronized void kept(Group group, String shard, Object owner, Set<Integer> ids) {
    group.kept.put(shard, new Kept(owner, Set.copyOf(ids)));
  }

  /** An owner does not have the shard any more. */
  public synchronized void releases(Group group, String shard, Object owner) {
    Kept kept = group.kept.get(shard);
    if (kept != null && kept.owner == owner) {
      group.kept.remove(shard);
    }
  }

  /** Dedup has finished a message without its handler. */
  public synchronized void declined(Group group, int id) {
    group.works.computeIfAbsent(byId.get(id), any -> new Work()).declinedAt = moment();
  }

  /** Somebody has seen what a handler published for a message. */
  public synchronized void published(Group group, int id, String place) {
    Sent sent = byId.get(id);
    Work work = group.works.get(sent);
    if (work == null) {
      fault(Promise.OUTPUTS, group + " published for " + sent + ", which it has not begun");
      return;
    }
    work.outputs.add(place);
    boolean once = group.kind.handling() == Kind.Handling.EXACT_OUTPUTS;
    if (once && work.outputs.size() > 1 && !group.reset && !work.letterTouched) {
      fault(Promise.OUTPUTS_ONCE, group + " published for " + sent + " at " + work.outputs);
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
        || sent.cancelAsked
        || !group.kind.takes(sent.tag)) {
      return false;
    }
    // What is dropped does not wait for members in mode broadcast.
    boolean kept = !sent.topic.drops || group.kind.mode() != Mode.BROADCAST;
    return kept && (sent.askedAt > floor.doneAt || floor.earliest && !sent.topic.drops);
  }

  /** Whether a later handler of its key has begun after it was declined. */
  private static boolean isSeen(Group group, Sent sent, Work work) {
    return work.declinedAt >= 0
        && group.works.entrySet().stream()
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
    return missing;
  }

  private static boolean isOver(Group group, Sent sent, Floor floor, Set<String> letters) {
    Work work = group.works.get(sent);
    // At most once, what a member had in hand when it went is lost.
    if (group.kind.atMostOnce() && (group.shaken || group.reset)) {
      return true;
    }
    if (work == null) {
      return false;
    }
    boolean letter = letters.contains(place(sent.topic.name, sent.shard, sent.offset));
    boolean dead = (sent.poison || group.kind.care()) && (work.letterTouched || letter);
    return dead || work.doneAt > floor.askedAt || isSeen(group, sent, work);
  }

  /** What the group has finished and not published for, in words. */
  public synchronized List<String> unpublished(Group group) {
    List<String> missing = new ArrayList<>();
    group.works.forEach(
        (sent, work) -> {
          if (isDone(group, sent, work) && work.outputs.isEmpty()) {
            missing.add(sent + " done, but nothing published");
          }
        });
    return missing;
  }

  /** Whether it must have been finished, and was since the group began or was reset. */
  private boolean isDone(Group group, Sent sent, Work work) {
    return isWanted(group, sent) && work.doneAt > group.floors.get(sent.topic).askedAt;
  }

  /** What the group has finished and that is in no state of its owners, in words. */
  public synchronized List<String> notKept(Group group) {
    List<String> missing = new ArrayList<>();
    Set<Integer> state = new HashSet<>();
    group.kept.values().forEach(kept -> state.addAll(kept.ids));
    group.works.forEach(
        (sent, work) -> {
          if (!group.reset && isDone(group, sent, work) && !state.contains(sent.id)) {
            missing.add(sent + " done, but not in the state");
          }
        });
    return missing;
  }

  public static String place(String topic, int shard, long offset) {
    return topic + "/" + shard + "/" + offset;
  }

  /** Dead letters that no message explains. */
  public synchronized Set<String> unexplained(Group group, Set<String> letters) {
    Set<String> left = new HashSet<>(letters);
    for (Topic topic : group.floors.keySet()) {
      for (Sent sent : topic.messages) {
        if (sent.poison || sent.fate == Fate.UNKNOWN || group.kind.care() && group.shaken) {
          left.remove(place(topic.name, sent.shard, sent.offset));
        }
      }
    }
    return left;
  }
}
